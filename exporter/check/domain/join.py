"""What a name stands for where ways through the code join: when Python chose the way, and when a tensor did.

And which values say the same: what tells a loop whether another turn of it could find anything new.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import replace
from functools import reduce
from itertools import repeat

from exporter.check.domain.contents import inputs_of, summarize
from exporter.check.domain.values import (
    UNBOUND,
    UNKNOWN,
    Array,
    Broken,
    Class,
    Const,
    Container,
    Dim,
    Extent,
    External,
    Function,
    Instance,
    Layer,
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
_NESTED = 2  # sequences in sequences that a loop may let grow
_PLAIN = frozenset("bool int float number str".split())
_DEEPEST = 6  # values inside values; what lies deeper is taken for something else

#: Where a value lies and what it was made from is nothing that it says: two turns compute two tensors alike.
_UNSAID = frozenset("fixed made picked place scopes value_number viewed".split())
_CHOSEN = (Layer, Instance, Function, Partial, Class, External)


def join(one: Value, other: Value) -> Value:
    """What a name stands for after two ways through the code meet, when Python chose the way.

    `UNBOUND` is the least value; above all stand `UNKNOWN` and, since reading it is a fault, a broken name.
    """
    if one is other or one == other:
        return one
    if isinstance(one, Broken) or isinstance(other, Broken):
        return one if isinstance(one, Broken) else other
    if one is UNBOUND or other is UNBOUND:
        return other if one is UNBOUND else one
    if type(one) is Value or type(other) is Value:
        return UNKNOWN
    if (both := _join_kin(one, other)) is not None:
        return both
    merged = list(options(one))
    for value in options(other):
        place = len(merged)
        for at in reversed(range(place)):
            if (both := _join_kin(merged[at], value)) is not None:
                value, place = both, at
                del merged[at]
        merged.insert(place, value)
    if len(merged) > _MOST_OPTIONS:
        return UNKNOWN
    return merged[0] if len(merged) == 1 else Union(tuple(merged))


def leq(one: Value, other: Value) -> bool:
    """Whether the second says nothing that is not so of the first: the order whose upper bounds `join` gives."""
    return alike(join(one, other), other)


def widen(old: Value, new: Value, depth: int = 0) -> Value:
    """Like `join`, of what has grown before: nothing goes on growing but what soon ends.

    A tensor has few sizes and inputs. Numbers and texts are any; what else is one thing more, or lies deeper each time,
    is `UNKNOWN`.
    """
    both = join(old, new)
    if old is UNBOUND or isinstance(both, (Tensor, Dim, Scalar, Array, Broken)) or alike(both, old):
        return both
    kinds = {_plain_kind(option) for option in options(both)}
    if len(kinds) == 1 and "" not in kinds:
        return Scalar(kinds.pop())
    if type(old) is not type(both) or len(old.parts()) != len(both.parts()) or depth == _NESTED:
        return UNKNOWN
    parts = tuple(map(widen, old.parts(), both.parts(), repeat(depth + 1)))
    if isinstance(both, Sequence):
        known = len(both.items)
        return replace(both, items=parts[:known], rest=parts[known] if parts[known:] else None)
    return Union(parts) if isinstance(both, Union) and UNKNOWN not in parts else UNKNOWN


def alike(one: object, other: object, depth: int = 0) -> bool:
    """Whether two values, or contents, say the same; a tensor that the call did not compute is like itself alone."""
    if one is other or (isinstance(one, Broken) and isinstance(other, Broken)):
        return True
    if type(one) is not type(other) or depth > _DEEPEST:
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(alike(a, b, depth) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(alike(one[key], other[key], depth) for key in one)
    if isinstance(one, Union) and isinstance(other, Union):
        return _within(one.options, other.options, depth) and _within(other.options, one.options, depth)
    if not isinstance(one, Value) or not isinstance(other, Value) or type(one) in (Value, Const, External):
        return one == other
    computed = not isinstance(one, Tensor) or one.origin == "op"
    return computed and alike(_said(one), _said(other), depth + 1)


def _said(value: Value) -> dict[str, object]:
    return {name: part for name, part in vars(value).items() if name not in _UNSAID}


def _within(some: Many[Value], every: Many[Value], depth: int) -> bool:
    return all(any(alike(value, known, depth + 1) for known in every) for value in some)


def _plain_kind(value: Value) -> str:
    """Of a number or text, the name of its type."""
    if isinstance(value, Const) and isinstance(value.value, (int, float, str)):
        return "str" if isinstance(value.value, str) else "number"
    return ("str" if value.kind == "str" else "number") if isinstance(value, Scalar) and value.kind in _PLAIN else ""


def _join_kin(one: Value, other: Value) -> Value | None:
    """What two values of one kind are together; None where they are of two, or differ in more than they tell."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _join_tensors(one, other)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and one.kind == other.kind:
        return _join_sequences(one, other)
    if isinstance(one, Dim) and isinstance(other, Dim):
        return Dim(_join_sizes(one.size, other.size), one.inputs | other.inputs)
    if isinstance(one, Array) and isinstance(other, Array):
        return Array(one.scalar and other.scalar)
    if alike(one, other):
        return one
    any_of = Scalar in (type(one), type(other)) and _plain_kind(one) == _plain_kind(other)
    return Scalar(_plain_kind(one)) if any_of and _plain_kind(one) else None


def _join_tensors(one: Tensor, other: Tensor) -> Tensor:
    """A tensor that is one of two."""
    return Tensor(
        tuple(map(_join_sizes, one.sizes, other.sizes)),
        one.closed and other.closed and len(one.sizes) == len(other.sizes),
        one.inputs | other.inputs,
        boolean=one.boolean and other.boolean,
        guessed=one.guessed and other.guessed,
        shaped=one.shaped and other.shaped,
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
    if one == other:
        return one
    return Extent.DYNAMIC if Extent.DYNAMIC in (one, other) and Extent.UNKNOWN not in (one, other) else Extent.UNKNOWN


def _join_sequences(one: Sequence, other: Sequence) -> Sequence:
    further = [each for each in (one.rest, other.rest) if each is not None]
    if len(one.items) == len(other.items):
        items = tuple(map(join, one.items, other.items))
    else:
        items, further = (), [*one.items, *other.items, *further]
    rest = join_all(further) if further else None
    grown, made = one.grown_in_branch or other.grown_in_branch, min(one.made, other.made)
    return Sequence(one.kind, items, rest, grown, made, home=one.home or other.home, place=one.place or other.place)


def element(value: Container) -> Value:
    """What any one item of a container may be."""
    return join_all(value.parts())


def rest_with(container: Container, *values: Value) -> Value:
    """What the items that are not known one by one may be, when there are these too."""
    return join_all([container.rest, *values] if container.rest is not None else values)


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
    none, some = (one, other) if one == Const(None) else (other, one)
    if none == Const(None):
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


def pick(container: Container, index: Value) -> Value:
    """One of the items that are not known one by one: fresh for each index, where that is known."""
    found = element(container)
    if not isinstance(index, Const) or not isinstance(index.value, (int, str)):
        return found
    if index.value not in container.picked:
        container.picked[index.value] = fresh(found) if container.picked else found
    return container.picked[index.value]
