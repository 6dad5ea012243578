"""What a name stands for where ways through the code join: when Python chose the way, and when a tensor did."""

from __future__ import annotations

from collections.abc import Sequence as Many
from functools import reduce

from exporter.check.domain.contents import inputs_of, summarize
from exporter.check.domain.values import (
    UNBOUND,
    UNKNOWN,
    Array,
    Broken,
    Class,
    Const,
    Dim,
    Extent,
    External,
    Function,
    Instance,
    Layer,
    Mapping,
    Partial,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Union,
    Value,
    options,
)

_MOST_OPTIONS = 8

_CHOSEN = (Layer, Instance, Function, Partial, Class, External)


def join(one: Value, other: Value) -> Value:
    """What a name stands for after two ways through the code meet, when Python chose the way."""
    if one is other or one == other:
        return one
    if isinstance(one, Broken) or isinstance(other, Broken):
        return one if isinstance(one, Broken) else other
    if one is UNBOUND or other is UNBOUND:
        return other if one is UNBOUND else one
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _join_tensors(one, other)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and one.kind == other.kind:
        return _join_sequences(one, other)
    if type(one) is Value or type(other) is Value:
        return UNKNOWN
    if isinstance(one, Dim) and isinstance(other, Dim):
        return Dim(_join_sizes(one.size, other.size) if one.size != other.size else one.size, one.inputs | other.inputs)
    if isinstance(one, (Scalar, Array)) and type(one) is type(other):
        return one
    merged: list[Value] = list(options(one))
    merged += [each for each in options(other) if each not in merged]
    return Union(tuple(merged)) if len(merged) <= _MOST_OPTIONS else UNKNOWN


def _join_tensors(one: Tensor, other: Tensor) -> Tensor:
    """A tensor that is one of two."""
    length = min(len(one.sizes), len(other.sizes))
    sizes = tuple(
        one.sizes[i] if one.sizes[i] == other.sizes[i] else _join_sizes(one.sizes[i], other.sizes[i])
        for i in range(length)
    )
    return Tensor(
        sizes,
        one.closed and other.closed and len(one.sizes) == len(other.sizes),
        one.inputs | other.inputs,
        boolean=one.boolean and other.boolean,
        guessed=one.guessed and other.guessed,
        dtype=one.dtype if one.dtype == other.dtype else "",
    )


def carried(first: Tensor, later: Tensor) -> Value:
    """A tensor that a loop of the program carries: sizes that are others in a later turn are known for that."""
    made = join(first, later)
    if isinstance(made, Tensor) and made is not first:
        pairs = zip(first.sizes, later.sizes, made.sizes, strict=False)
        grown = tuple(
            Extent.CARRIED if isinstance(a, int) and isinstance(b, int) and a != b else c for a, b, c in pairs
        )
        made.sizes = (*grown, *made.sizes[len(grown) :])
    return made


def _join_sizes(one: Size, other: Size) -> Size:
    return Extent.DYNAMIC if Extent.DYNAMIC in (one, other) and Extent.UNKNOWN not in (one, other) else Extent.UNKNOWN


def _join_sequences(one: Sequence, other: Sequence) -> Sequence:
    grown = one.grown_in_branch or other.grown_in_branch
    if len(one.items) == len(other.items) and one.rest is None and other.rest is None:
        items = tuple(join(a, b) for a, b in zip(one.items, other.items, strict=True))
        return Sequence(one.kind, items, None, one.home or other.home, one.place or other.place, grown)
    every = [*one.items, *other.items, *(each for each in (one.rest, other.rest) if each is not None)]
    rest = join_all(every)
    return Sequence(one.kind, (), rest, one.home or other.home, one.place or other.place, grown)


def element(value: Sequence | Mapping) -> Value:
    """What any one item of a container may be."""
    every = list(value.items.values() if isinstance(value, Mapping) else value.items)
    if value.rest is not None:
        every.append(value.rest)
    return join_all(every)


def join_all(values: Many[Value]) -> Value:
    """One of several; unknown if there are none."""
    return reduce(join, values) if values else UNKNOWN


def select(one: Value, other: Value) -> tuple[Value, str]:
    """What a name stands for when a tensor chose the way, and why the program cannot hold it (empty if it can).

    Sources: measured on Paddle 3.3.1 (dy2static builds one output of one type for both sides of a branch).
    """
    if one is other or one == other:
        return one, ""
    if one is UNBOUND or other is UNBOUND:
        return (other if one is UNBOUND else one), "undefined"
    none, some = (one, other) if _is(one, type(None)) else (other, one)
    if _is(none, type(None)):
        return some, "none" if isinstance(some, (Tensor, Dim, Sequence, Const)) else ""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return join(one, other), _unlike(one, other)
    if any(isinstance(each, _CHOSEN) for each in (one, other)):
        return join(one, other), "python"
    if _lengths(one, other):
        return join(one, other), "length"
    kinds = {type(each.value) for each in (one, other) if isinstance(each, Const)}
    if kinds == {int, float}:
        return Tensor((), True), "number"
    if kinds - {int, float, bool} and all(isinstance(each, Const) for each in (one, other)):
        return UNKNOWN, "python"
    if kinds and kinds <= {int, float, bool}:
        return Tensor((), True, inputs_of((one, other))), ""
    return join(one, other), ""


def _unlike(one: Tensor, other: Tensor) -> str:
    """What two tensors differ in that a branch must give alike: the rank, the dtype."""
    if one.dtype and other.dtype and one.dtype != other.dtype:
        return "dtype"
    return "rank" if one.closed and other.closed and len(one.sizes) != len(other.sizes) else ""


def _lengths(one: Value, other: Value) -> bool:
    """Whether these are lists of different lengths, neither grown in the branch: such a one is an array."""
    if not isinstance(one, Sequence) or not isinstance(other, Sequence):
        return False
    known = one.rest is None and other.rest is None and not (one.grown_in_branch or other.grown_in_branch)
    return known and len(one.items) != len(other.items)


def _is(value: Value, kind: type) -> bool:
    return isinstance(value, Const) and isinstance(value.value, kind)


def fresh(value: Value, inputs: frozenset[str] = frozenset()) -> Value:
    """A second object like the first: turns of a comprehension make a new tensor each, or a new list of some."""
    if isinstance(value, (Layer, Instance)):
        summarize(value)
    if isinstance(value, Sequence) and not value.home and not value.kind.startswith("paddle."):
        rest = fresh(value.rest, inputs) if value.rest is not None else None
        items = tuple(fresh(each, inputs) for each in value.items)
        return Sequence(value.kind, items, rest, grown_in_branch=value.grown_in_branch)
    if type(value) is not Tensor:
        return value
    found = Tensor(value.sizes, value.closed, value.inputs | inputs, guessed=value.guessed)
    found.boolean, found.dtype = value.boolean, value.dtype
    return found


def pick(container: Sequence | Mapping, index: Value) -> Value:
    """One of the items that are not known one by one: fresh for each index, where that is known."""
    found = element(container)
    if not isinstance(index, Const) or not isinstance(index.value, (int, str)):
        return found
    if index.value not in container.picked:
        container.picked[index.value] = fresh(found) if container.picked else found
    return container.picked[index.value]
