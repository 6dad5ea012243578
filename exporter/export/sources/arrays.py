"""Arrays of a program, which grow while it runs: those of `create_array`, `array_write` and the like.

Who computes at once has a Python list. A trace has the variable of the program that it writes, and a loop of that
program changes it. In either, every value of the file that means the array is one object, so that a loop or branch
that writes into it needs to carry nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from exporter.base.readers.program import Operator
from exporter.export.sources.values import (
    Runner,
    Value,
    Values,
    as_sizes,
    dtype_of,
    in_dygraph,
    in_legacy_program,
    number_of,
    tensor,
)
from exporter.paddle.functions import function
from exporter.paddle.refusal import CannotLower, cannot_lower

_HINT = "leave `pdmodel` out of the formats: a `.json` holds this operator"


@dataclass(eq=False)
class TensorArray:
    """An array: its tensors where they are computed at once, else what the traced program calls it."""

    parts: list[Value] = field(default_factory=list)
    variable: Value = None
    #: How many dims its tensors have, as far as a trace knows.
    rank: int = 0


def without_arrays(results: Sequence[Value]) -> tuple[list[Value], dict[int, TensorArray]]:
    """Return the values that are no arrays, and the arrays by their places."""
    arrays = {place: value for place, value in enumerate(results) if isinstance(value, TensorArray)}
    return [value for value in results if not isinstance(value, TensorArray)], arrays


def with_arrays(results: Sequence[Value], arrays: Mapping[int, TensorArray]) -> list[Value]:
    """Return what :func:`without_arrays` took apart, in its order."""
    left = iter(results)
    return [arrays[place] if place in arrays else next(left) for place in range(len(results) + len(arrays))]


def carried(grown: Iterable[TensorArray]) -> list[Value]:
    """Return what a branch yields of arrays, and a loop hands on: their variables, in a traced PIR program."""
    return [] if in_dygraph() or in_legacy_program() else [array.variable for array in grown]


def taken_over(grown: Collection[TensorArray], results: Sequence[Value]) -> list[Value]:
    """Give arrays the variables that :func:`carried` put behind other results; return those results."""
    count = len(results) - len(carried(grown))
    for array, variable in zip(grown, results[count:], strict=False):
        array.variable = variable
    return list(results[:count])


@dataclass(frozen=True)
class Variables:
    """The variables that arrays have before a branch; the second branch begins with the same."""

    before: Sequence[tuple[TensorArray, Value]]

    def put_back(self) -> None:
        """Let each array have its variable again."""
        for array, variable in self.before:
            array.variable = variable


def variables_of(values: Iterable[Value]) -> Variables:
    """Return the variables of the arrays among values."""
    return Variables([(value, value.variable) for value in values if isinstance(value, TensorArray)])


def _create(operator: Operator, _values: Values) -> Sequence[Value]:
    """Create an array; of one that takes any dtype a legacy program says what is written first."""
    from exporter.paddle.private import tensor_arrays

    if in_dygraph():
        return [TensorArray()]
    dtype = dtype_of(str(operator.attributes["dtype"]))
    if dtype is None and not in_legacy_program():
        from exporter.paddle.private import core

        dtype = core.DataType.UNDEFINED
    return [TensorArray(variable=tensor_arrays.create_array(dtype or "float32"))]


def _create_like(operator: Operator, values: Values) -> Sequence[Value]:
    import paddle

    array, number = _array(operator, values), operator.attributes["val"]
    if in_dygraph():
        return [TensorArray([paddle.full_like(part, number) for part in array.parts])]
    return [TensorArray(variable=_by_function(operator, array.variable, number))]


def _write(operator: Operator, values: Values) -> Sequence[Value]:
    """Write a tensor at a place, which may be the one behind the last."""
    from exporter.paddle.private import tensor_arrays

    array = _array(operator, values)
    x, place = (tensor(values[number]) for number in operator.operands[1:])
    if in_dygraph():
        at = number_of(place)
        array.parts.extend([None] * (at + 1 - len(array.parts)))
        array.parts[at] = x
        return [array]
    array.rank = len(x.shape)
    if in_legacy_program() and array.variable.dtype != x.dtype:
        array.variable.desc.set_dtype(x.dtype)
    tensor_arrays.array_write(x, place.astype("int64"), array.variable)
    return [array]


def _read(operator: Operator, values: Values) -> Sequence[Value]:
    from exporter.paddle.private import tensor_arrays

    array, place = _array(operator, values), tensor(values[operator.operands[1]])
    if in_dygraph():
        return [array.parts[number_of(place)]]
    return [tensor_arrays.array_read(array.variable, place.astype("int64"))]


def _length(operator: Operator, values: Values) -> Sequence[Value]:
    import paddle

    from exporter.paddle.private import tensor_arrays

    array = _array(operator, values)
    if in_dygraph():
        return [paddle.to_tensor([len(array.parts)], "int64", place=paddle.CPUPlace())]
    return [tensor_arrays.array_length(array.variable)]


def _joined(operator: Operator, values: Values) -> Sequence[Value]:
    """Join the tensors along an axis, or stack them; the second result says how long each was along it."""
    import paddle

    from exporter.paddle.private import tensor_array_to_tensor

    array, attributes = _array(operator, values), operator.attributes
    axis, stacked = int(attributes["axis"]), bool(attributes["use_stack"])
    if not in_dygraph():
        if axis < 0:  # with which the legacy operator never ends (3.3.1)
            axis += array.rank + stacked
        return list(tensor_array_to_tensor(array.variable, axis, stacked))
    join = paddle.stack if stacked else paddle.concat
    sizes = [1 if stacked else part.shape[axis] for part in array.parts]
    return [join(array.parts, axis), paddle.to_tensor(sizes, "int32")]


def _pop(operator: Operator, values: Values) -> Sequence[Value]:
    array, place = _array(operator, values), int(operator.attributes["index"])
    if in_dygraph():
        return [array, array.parts.pop(place)]
    return [array, _by_function(operator, array.variable, place)]


def _element(operator: Operator, values: Values) -> Sequence[Value]:
    """Read one tensor; a place below zero counts from the end."""
    import paddle

    from exporter.paddle.private import tensor_arrays

    array, place = _array(operator, values), values[operator.operands[1]]
    if in_dygraph():
        return [array.parts[_number(place)]]
    if not in_legacy_program():
        return [_by_function(operator, array.variable, as_sizes(place))]
    at = tensor(place).astype("int64").reshape([1])
    length = tensor_arrays.array_length(array.variable)
    return [tensor_arrays.array_read(array.variable, paddle.where(at < 0, at + length, at))]


def _part(operator: Operator, values: Values) -> Sequence[Value]:
    array, *ends = _array(operator, values), *(values[number] for number in operator.operands[1:])
    if in_dygraph():
        return [TensorArray(array.parts[slice(*map(_number, ends))])]
    return [TensorArray(variable=_by_function(operator, array.variable, *map(as_sizes, ends)))]


def _sum(operator: Operator, values: Values) -> Sequence[Value]:
    """Add arrays, tensor by tensor."""
    import paddle

    arrays = [array for array in values[operator.operands[0]] if isinstance(array, TensorArray)]
    if in_dygraph():
        return [TensorArray([paddle.add_n(list(parts)) for parts in zip(*(a.parts for a in arrays), strict=True)])]
    return [TensorArray(variable=_by_function(operator, [array.variable for array in arrays]))]


def _copy(operator: Operator, values: Values) -> Sequence[Value]:
    array = _array(operator, values)
    if in_dygraph():
        return [TensorArray(list(array.parts))]
    raise _refused(operator, "no traced program copies an array")


def _array(operator: Operator, values: Values) -> TensorArray:
    array = values[operator.operands[0]]
    if not isinstance(array, TensorArray):
        raise _refused(operator, "it reads an array from where there is none")
    return array


def _number(place: Value) -> int:
    """Return a place that a list, or one tensor, tells."""
    sizes = as_sizes(place)
    return number_of(sizes[0] if isinstance(sizes, list) else sizes)


def _by_function(operator: Operator, *arguments: Value) -> Value:
    """Call the function of an operator's name, which writes PIR; a legacy program has no such operator."""
    call = function(operator.name)
    if call is None or in_legacy_program():
        raise _refused(operator, "no legacy operator says the same")
    return call(*arguments)


def _refused(operator: Operator, why: str) -> CannotLower:
    return cannot_lower(f"paddle._C_ops.{operator.name}", why, _HINT)


RUNNERS: Mapping[str, Runner] = {
    "create_array": _create,
    "create_array_like": _create_like,
    "array_write_": _write,
    "array_read": _read,
    "array_length": _length,
    "array_to_tensor": _joined,
    "array_pop": _pop,
    "slice_array_dense": _element,
    "slice_array": _part,
    "add_n_array": _sum,
    "assign_array": _copy,
}
