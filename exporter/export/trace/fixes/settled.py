"""What the declared sizes decide of a program's numbers: `x.shape[2] % 4 != 0` where that dim is a multiple of 4.

A number that sizes make is computed at every combination of the sizes that its dims may have. What comes out alike at
each is settled, and is Python's to decide as well as the program's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from exporter.base.tensors import Array, TensorSpec, split_size
from exporter.export.trace.fixes.base import Value
from exporter.export.trace.fixes.sizes import constant_list
from exporter.spec.inputs import Dim

#: An operator of a PIR program, of which Paddle has no types.
Operation: TypeAlias = Any
#: A number for each combination of sizes, in the first axis, and the value's own axes behind it.
Numbers: TypeAlias = Array
#: The combinations that are computed at most.
_MOST = 100_000
#: Operators of one tensor that keep its sizes.
_KEEPS = frozenset(
    "abs assign batch_norm_ cast dropout elu exp gelu hardsigmoid hardswish leaky_relu log log_softmax relu relu6 "
    "rsqrt scale share_data sigmoid silu softmax sqrt square swish tanh".split()
)
_BROADCASTS = frozenset("add divide maximum minimum multiply subtract".split())


@dataclass(frozen=True)
class Declared:
    """The inputs of a trace by their names, and the sizes that the spec promises of their dims.

    `settling` says that branches go by what is settled, too.
    """

    inputs: Mapping[str, TensorSpec]
    dims: Mapping[str, Dim]
    settling: bool = False


class Undecided(Exception):
    """A number depends on more than sizes of inputs, or on too many of them."""


_DECLARED: ContextVar[Declared | None] = ContextVar("declared", default=None)
_SETTLED: ContextVar[list[bool] | None] = ContextVar("settled", default=None)


@contextmanager
def declared_sizes(inputs: Sequence[TensorSpec], dims: Mapping[str, Dim], *, settling: bool) -> Iterator[list[bool]]:
    """Within it a trace may ask :func:`truth_of`; yields the branches that were decided, or could have been."""
    branches: list[bool] = []
    told = _DECLARED.set(Declared({spec.name: spec for spec in inputs}, dims, settling))
    noted = _SETTLED.set(branches)
    try:
        yield branches
    finally:
        _SETTLED.reset(noted)
        _DECLARED.reset(told)


def branch_of(pred: Value, *, grows: bool = False) -> bool | None:
    """Return which branch is taken at every declared size, where branches go by it; None where both are traced.

    A branch in which a list `grows` goes by it at once: the list would be an array of the program behind it.
    """
    declared, branches = _DECLARED.get(), _SETTLED.get()
    truth = truth_of(pred)
    if truth is None or declared is None or branches is None:
        return None
    branches.append(truth)
    return truth if declared.settling or grows else None


def truth_of(value: Value) -> bool | None:
    """Return what a number of a PIR program is at every declared size, as a truth; None where that is not settled."""
    declared = _DECLARED.get()
    if declared is None or list(value.shape) not in ([], [1]):
        return None
    try:
        truths = _Sizes(declared).of(value).astype(bool)
    except Undecided:
        return None
    return bool(truths.flat[0]) if truths.all() or not truths.any() else None


class _Sizes:
    """The numbers of a program, at the least sizes, then at each combination of those that were read."""

    def __init__(self, declared: Declared) -> None:
        self._declared = declared
        self._known: dict[int, Numbers] = {}
        #: The sizes of each dim that was read.
        self._read: dict[str, Array] = {}

    def of(self, value: Value) -> Numbers:
        """Return the value's numbers at each combination.

        Raises:
            Undecided: it is not made of sizes that are known.
        """
        self.numbers(value)
        choices = [np.arange(dim.min, dim.max + 1, dim.multiple_of) for dim in map(self._dim, self._read)]
        if math.prod(map(len, choices)) > _MOST:
            raise Undecided
        mesh = np.meshgrid(*choices, indexing="ij")
        self._read = {name: sizes.reshape(-1) for name, sizes in zip(self._read, mesh, strict=True)}
        self._known = {}
        return self.numbers(value)

    def _dim(self, name: str) -> Dim:
        return self._declared.dims[name]

    def numbers(self, value: Value) -> Numbers:
        """Return the value's numbers at the combinations so far; raises as :meth:`of`."""
        if value.id not in self._known:
            kind, operator = _maker(value)
            if kind not in _NUMBERS:
                raise Undecided
            self._known[value.id] = _NUMBERS[kind](self, operator)
        return self._known[value.id]

    def operands(self, operator: Operation) -> list[Numbers]:
        """Return the numbers of each operand, with as many axes each."""
        operands = [self.numbers(source) for source in operator.operands_source()]
        axes = max(operand.ndim for operand in operands)
        return [operand.reshape(len(operand), *[1] * (axes - operand.ndim), *operand.shape[1:]) for operand in operands]

    def part(self, vector: Value, start: int, end: int) -> list[Numbers]:
        """Return some numbers of a vector, one after the other."""
        kind, operator = _maker(vector)
        if kind in ("shape", "shape64"):
            source = operator.operands_source()[0]
            return [self.size(source, axis) for axis in range(len(source.shape))[start:end]]
        return list(self.numbers(vector).T[start:end])

    def size(self, tensor: Value, axis: int) -> Numbers:
        """Return the sizes of a tensor at an axis."""
        size = int(tensor.shape[axis])
        if size >= 0:
            return np.array([size])
        kind, operator = _maker(tensor)
        if kind == "data":
            spec = self._declared.inputs.get(operator.attrs()["name"])
            dim, more = split_size(spec.shape[axis]) if spec else ("", 0)
            if dim not in self._declared.dims:
                raise Undecided
            return self._read.setdefault(dim, np.array([self._dim(dim).min])) + more
        if kind in _CHANGES:
            return _CHANGES[kind](self, operator, axis)
        sizes = [self.size(source, at) for source, at in _sources(tensor, axis)]
        largest: Numbers = np.maximum.reduce(np.broadcast_arrays(*sizes))
        if any(((part != largest) & (part != 1)).any() for part in sizes):
            raise Undecided
        return largest


def _maker(value: Value) -> tuple[str, Operation]:
    """Find what makes a value of the program; an argument of a loop's body has none."""
    operator = value.get_defining_op()
    if operator is None:
        raise Undecided
    return operator.name().removeprefix("pd_op."), operator


def _sources(tensor: Value, axis: int) -> list[tuple[Value, int]]:
    """The operands whose sizes, and at which axis, decide the size of a tensor at an axis."""
    kind, operator = _maker(tensor)
    operands = operator.operands_source()
    if kind in _KEEPS:
        return [(operands[0], axis)]
    if kind == "transpose":
        return [(operands[0], operator.attrs()["perm"][axis])]
    if kind in ("layer_norm", "embedding", "matmul"):
        first, plain = operands[0], not operator.attrs().get("transpose_x")
        if kind == "matmul" and not (plain and len(operands[1].shape) == 2 and axis < len(first.shape) - 1):
            raise Undecided
        if axis < len(first.shape):
            return [(first, axis)]
    if kind in _BROADCASTS:
        from_right = len(tensor.shape) - axis
        return [(operand, len(operand.shape) - from_right) for operand in operands if len(operand.shape) >= from_right]
    raise Undecided


def _padded(sizes: _Sizes, operator: Operation, axis: int) -> Numbers:
    paddings = operator.attrs()["paddings"]
    size: Numbers = sizes.size(operator.operands_source()[0], axis) + paddings[2 * axis] + paddings[2 * axis + 1]
    return size


def _convolved(sizes: _Sizes, operator: Operation, axis: int) -> Numbers:
    source, kernel = operator.operands_source()[:2]
    told = operator.attrs()
    if axis == 0:
        return sizes.size(source, 0)
    at, paddings = axis - 2, told["paddings"]
    if told["data_format"] != "NCHW" or told["padding_algorithm"] != "EXPLICIT" or at < 0 or len(paddings) != 2:
        raise Undecided
    reach = told["dilations"][at] * (int(kernel.shape[axis]) - 1) + 1
    size: Numbers = (sizes.size(source, axis) + 2 * paddings[at] - reach) // told["strides"][at] + 1
    return size


def _listed(value: Value) -> list[int]:
    """Return the numbers of a constant list; a computed one decides nothing."""
    numbers = constant_list(value)
    if numbers is None:
        raise Undecided
    return numbers


def _with_axes(sizes: _Sizes, operator: Operation, axis: int) -> Numbers:
    """The size behind an `unsqueeze` or a `squeeze` of some axes."""
    source, axes = operator.operands_source()
    more, fewer = len(operator.results()[0].shape), len(source.shape)
    added = {place % max(more, fewer) for place in _listed(axes)}
    kept = [place for place in range(max(more, fewer)) if place not in added]
    return sizes.size(source, kept.index(axis) if more > fewer else kept[axis])


def _cut(sizes: _Sizes, operator: Operation, axis: int) -> Numbers:
    source, starts, ends = operator.operands_source()
    whole, axes = sizes.size(source, axis), list(operator.attrs()["axes"])
    if operator.attrs()["decrease_axis"]:
        raise Undecided
    if axis not in axes:
        return whole
    start, end = (_listed(place)[axes.index(axis)] for place in (starts, ends))
    first, last = (np.clip(bound if bound >= 0 else whole + bound, 0, whole) for bound in (start, end))
    length: Numbers = np.maximum(last - first, 0)
    return length


def _elementwise(function: Callable[..., Numbers], sizes: _Sizes, operator: Operation) -> Numbers:
    return function(*sizes.operands(operator))


def _divided(function: Callable[..., Numbers], sizes: _Sizes, operator: Operation) -> Numbers:
    over, under = sizes.operands(operator)
    if (over < 0).any() or (under <= 0).any():
        raise Undecided  # languages differ in what they give then
    return function(over, under)


def _constant(sizes: _Sizes, operator: Operation) -> Numbers:
    attributes = operator.attrs()
    value = np.asarray(attributes["value"])
    if operator.operands_source() or (value.dtype.kind == "f" and (value != np.floor(value)).any()):
        raise Undecided
    shape = list(operator.results()[0].shape)
    whole: Numbers = np.broadcast_to(value.astype(bool if value.dtype == bool else "int64"), [1, *shape])
    return whole


def _slice(sizes: _Sizes, operator: Operation) -> Numbers:
    vector, starts, ends = operator.operands_source()
    if list(operator.attrs()["axes"]) != [0] or len(vector.shape) != 1:
        raise Undecided
    (start,), (end,) = (_listed(place) for place in (starts, ends))
    numbers = sizes.part(vector, start, end)
    return numbers[0] if operator.attrs()["decrease_axis"] else np.stack(np.broadcast_arrays(*numbers), 1)


def _cast(sizes: _Sizes, operator: Operation) -> Numbers:
    (numbers,) = sizes.operands(operator)
    dtype = str(operator.results()[0].dtype).lower()
    if "int" in dtype or "bool" in dtype:
        return numbers.astype(bool if "bool" in dtype else "int64")
    raise Undecided


def _scale(sizes: _Sizes, operator: Operation) -> Numbers:
    source, factor = operator.operands_source()
    numbers, by, bias = sizes.numbers(source), int(sizes.numbers(factor).item()), operator.attrs()["bias"]
    if numbers.dtype.kind != "i" or bias != int(bias):
        raise Undecided
    return numbers * by + int(bias) if operator.attrs()["bias_after_scale"] else (numbers + int(bias)) * by


def _reshaped(sizes: _Sizes, operator: Operation) -> Numbers:
    numbers = sizes.numbers(operator.operands_source()[0])
    return numbers.reshape([len(numbers), *operator.results()[0].shape])


#: By operator: the size of its result at an axis, where that is not an operand's.
_CHANGES: Mapping[str, Callable[[_Sizes, Operation, int], Numbers]] = MappingProxyType(
    {
        "pad": _padded,
        "conv2d": _convolved,
        "depthwise_conv2d": _convolved,
        "unsqueeze": _with_axes,
        "squeeze": _with_axes,
        "slice": _cut,
    }
)
_ELEMENTWISE: Mapping[str, Callable[..., Numbers]] = MappingProxyType(
    {
        "add": np.add,
        "subtract": np.subtract,
        "multiply": np.multiply,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "equal": np.equal,
        "not_equal": np.not_equal,
        "less_than": np.less,
        "less_equal": np.less_equal,
        "greater_than": np.greater,
        "greater_equal": np.greater_equal,
        "logical_and": np.logical_and,
        "logical_or": np.logical_or,
        "logical_not": np.logical_not,
        "bitwise_and": np.bitwise_and,
        "bitwise_or": np.bitwise_or,
        "bitwise_not": np.invert,
        "assign": np.asarray,
    }
)
#: By operator: its numbers, of those of its operands.
_NUMBERS: Mapping[str, Callable[[_Sizes, Operation], Numbers]] = MappingProxyType(
    {
        **{name: partial(_elementwise, function) for name, function in _ELEMENTWISE.items()},
        "floor_divide": partial(_divided, np.floor_divide),
        "remainder": partial(_divided, np.remainder),
        "full": _constant,
        "full_int_array": _constant,
        "slice": _slice,
        "cast": _cast,
        "scale": _scale,
        "squeeze": _reshaped,
        "reshape": _reshaped,
        "unsqueeze": _reshaped,
    }
)
