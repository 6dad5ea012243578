"""Compute what a PIR program says, operator by operator, with the functions that eager code calls.

Each operator is a call of the C++ function of its name (:mod:`exporter.paddle.functions`). So a program runs wherever
eager code does: in dygraph, in float64, and in a trace that writes another format. Branches and loops are
`paddle.static.nn.cond` and `while_loop`, which decide in dygraph and are traced elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from exporter.base.errors import ModelError
from exporter.base.readers.program import Block, Operator, TensorType
from exporter.export.sources import arrays, by_python
from exporter.export.sources.recorded import note_place, run_watched
from exporter.export.sources.values import (
    Filled,
    Runner,
    Sizes,
    Stacked,
    Value,
    Values,
    as_sizes,
    dtype_of,
    in_dygraph,
    in_legacy_program,
    tensor,
)
from exporter.paddle.functions import Parameter, current_place, function, parameters_of
from exporter.paddle.refusal import cannot_lower
from exporter.paddle.values import is_variable

#: Operators that only say what is computed already, or where it goes.
_NAMES_ONLY = frozenset(("parameter", "data", "feed", "builtin.parameter"))
#: Operators whose C++ function has another name.
_CALLED = {"batch_norm_": "batch_norm"}
_HINT = "`exporter inspect` lists the file's operators; only Paddle itself can run this one"


def run_block(block: Block, values: Values) -> list[Value]:
    """Run the operators of a block in order; return what it yields or fetches, in the order of the outputs.

    Raises:
        ModelError: an operator cannot be called here; it names the operator and its number.
    """
    fetched: dict[int, Value] = {}
    for operator in block.operators:
        if operator.name in _NAMES_ONLY:
            continue
        if operator.name == "cf.yield":
            return [tensor(values[number]) for number in operator.operands]
        if operator.name == "fetch":
            fetched[int(operator.attributes["col"])] = tensor(values[operator.operands[0]])
            continue
        results = _run(operator, values)
        values.update(zip((result.id for result in operator.results), results, strict=False))
    return [fetched[column] for column in sorted(fetched)]


def _run(operator: Operator, values: Values) -> Sequence[Value]:
    special = _SPECIAL.get(operator.name, _called)
    try:
        return run_watched(operator, values, lambda: special(operator, values))
    except Exception as error:
        note_place(error, _place(operator))
        raise


def _called(operator: Operator, values: Values) -> Sequence[Value]:
    """Call the function of an operator's name."""
    name = _CALLED.get(operator.name, operator.name)
    parameters, call = parameters_of(name), function(name)
    if parameters is None or call is None:
        raise _unknown(operator)
    result = call(*arguments_of(operator, parameters, values))
    return [result] if len(operator.results) == 1 or not isinstance(result, (list, tuple)) else list(result)


def _unknown(operator: Operator) -> ModelError:
    return _wrong(operator, f"operator '{operator.name}' has no function here")


def _wrong(operator: Operator, what: str) -> ModelError:
    return ModelError(what, where=_place(operator), hint=_HINT)


def _place(operator: Operator) -> str:
    return f"operator {operator.index}, {operator.name}" + (f", of {operator.line}" if operator.line else "")


def arguments_of(operator: Operator, parameters: Sequence[Parameter], values: Mapping[int, Value]) -> list[Value]:
    """Return the arguments of an operator's function in the order of its parameters.

    Operands are its tensors, then those attributes that the program computes: they stand among no attributes.
    """
    operands = iter(operator.operands)
    return [_argument(parameter, operator, operands, values) for parameter in parameters]


def _argument(parameter: Parameter, operator: Operator, operands: Iterator[int], values: Mapping[int, Value]) -> Value:
    if parameter.is_tensor or parameter.name not in operator.attributes:
        number = next(operands, 0)
        if parameter.type == "Place":
            return current_place()
        value = values[number] if number else None
        if parameter.type == "Scalar" and isinstance(value, Filled):
            return value.number
        return as_sizes(value) if parameter.type == "IntArray" else tensor(value)
    return _attribute(parameter, operator.attributes[parameter.name])


def _attribute(parameter: Parameter, value: Value) -> Value:
    if parameter.type == "Place":
        return current_place()
    if parameter.type == "DataType":
        return dtype_of(value)
    return value


def _shape(operator: Operator, values: Values) -> Sequence[Value]:
    """Tell the sizes of a tensor; no legacy operator gives them as int64."""
    import paddle

    x = tensor(values[operator.operands[0]])
    if is_variable(x):
        return [paddle.shape(x).astype("int64" if operator.name == "shape64" else "int32")]
    call = function(operator.name)
    return [call(x) if call is not None else paddle.shape(x)]


def _full(operator: Operator, _values: Values) -> Sequence[Value]:
    attributes = operator.attributes
    return [Filled(tuple(attributes["shape"]), attributes["value"], attributes["dtype"])]


def _cast(operator: Operator, values: Values) -> Sequence[Value]:
    """Cast; a legacy operator also wants to know from which dtype, which Paddle's own methods tell it."""
    import paddle

    x, dtype = tensor(values[operator.operands[0]]), operator.attributes["dtype"]
    # Of a legacy program `paddle.cast` refuses int8 and complex numbers, and the method does not (3.3.1).
    return [x.astype(dtype) if is_variable(x) else paddle.cast(x, dtype)]


def _full_with_tensor(operator: Operator, values: Values) -> Sequence[Value]:
    import paddle

    value, *shape = (values[number] for number in operator.operands)
    sizes = as_sizes(shape[0]) if shape else list(operator.attributes["shape"])
    return [paddle.full(sizes, tensor(value), operator.attributes["dtype"])]


def _strided_slice(operator: Operator, values: Values) -> Sequence[Value]:
    import paddle

    x, *ends = (values[number] for number in operator.operands)
    return [paddle.strided_slice(tensor(x), list(operator.attributes["axes"]), *map(as_sizes, ends))]


def _set_value(operator: Operator, values: Values) -> Sequence[Value]:
    """Write numbers into a part of a tensor: as a tensor, which a legacy program can hold as well."""
    import numpy as np
    import paddle

    attributes = operator.attributes
    (result,) = operator.results
    dtype = result.type.dtype if isinstance(result.type, TensorType) else "float32"
    array = np.array(attributes["values"], dtype=dtype).reshape(attributes["shape"])
    x, *places = (values[number] for number in operator.operands)
    names = ("axes", "decrease_axes", "none_axes")
    ends = [as_sizes(place) for place in places]
    call = function("set_value_with_tensor_" if operator.name.endswith("_") else "set_value_with_tensor")
    if call is None:
        raise _unknown(operator)
    return [call(tensor(x), paddle.assign(array), *ends, *(list(attributes[name]) for name in names))]


def _interpolated(operator: Operator, values: Values) -> Sequence[Value]:
    """Resize; of a legacy program Paddle's Python works out the sizes, as the kernels of both round them otherwise."""
    import numpy as np
    import paddle

    attributes = operator.attributes
    x = tensor(values[operator.operands[0]])
    if not is_variable(x) or any(operator.operands[1:]) or not attributes["scale"]:
        return _called(operator, values)
    scale, mode = list(attributes["scale"]), str(attributes["interp_method"])
    if mode != "nearest" and scale != np.asarray(scale, "float32").tolist():
        why = f"its factor {scale[0]} is no float32, and the legacy operator holds no other"
        raise cannot_lower(
            f"paddle._C_ops.{operator.name}", why, "leave `pdmodel` out of the formats, or resize by `size`"
        )
    return [
        paddle.nn.functional.interpolate(
            x,
            scale_factor=scale,
            mode=mode,
            align_corners=attributes["align_corners"],
            align_mode=attributes["align_mode"],
            data_format=attributes["data_format"],
        )
    ]


def _normalized(operator: Operator, values: Values) -> Sequence[Value]:
    """Normalize; by the batch's own statistics a legacy operator does so only while it trains, so Python's does it."""
    import paddle

    attributes = operator.attributes
    x, mean, variance, *affine = (tensor(values[number]) if number else None for number in operator.operands)
    if not in_legacy_program() or not attributes["trainable_statistics"]:
        return _called(operator, values)
    # `use_global_stats`: Paddle's Python tells the operator of it as `trainable_statistics`.
    further = (False, attributes["momentum"], attributes["epsilon"], attributes["data_format"], False)
    return [paddle.nn.functional.batch_norm(x, mean, variance, *affine, *further)]


def _sized(operator: Operator, values: Values) -> Sequence[Value]:
    """Call a function whose output's sizes a trace had better know; the file often tells what it computes."""
    *_, size = operator.operands
    declared = operator.results[0].type
    if in_dygraph() or isinstance(values.get(size), Sizes) or not isinstance(declared, TensorType):
        return _called(operator, values)
    sizes = declared.shape[2:] if operator.attributes["data_format"].startswith("NC") else declared.shape[1:-1]
    return _called(operator, values if min(sizes) < 0 else {**values, size: Sizes(sizes)})


def _leaky(operator: Operator, values: Values) -> Sequence[Value]:
    """Compute `rrelu` as it is served: by the mean of its slopes; the legacy operator insists on noise to write."""
    import paddle

    attributes = operator.attributes
    if not in_legacy_program() or not attributes["is_test"]:
        return _called(operator, values)
    slope = (attributes["lower"] + attributes["upper"]) / 2
    return [paddle.nn.functional.leaky_relu(tensor(values[operator.operands[0]]), slope)]


def _stack(operator: Operator, values: Values) -> Sequence[Value]:
    import paddle

    parts, (result,) = values[operator.operands[0]], operator.results
    sizes = isinstance(result.type, TensorType) and len(result.type.shape) == 1 and result.type.dtype.startswith("int")
    return [Stacked(parts) if sizes else paddle.stack(tensor(parts), int(operator.attributes["axis"]))]


def _selected(operator: Operator, values: Values) -> Sequence[Value]:
    """Choose what one of two branches gave, by a number; the other one gave something of any shape."""
    import paddle

    mask, *branches = (tensor(values[number]) for number in operator.operands)
    if in_dygraph():
        return [branches[int(mask)]]
    otherwise, then = branches
    return [paddle.where(mask.astype("bool"), then, otherwise)]


def _if(operator: Operator, values: Values) -> Sequence[Value]:
    """Choose a block; a traced PIR program yields the arrays too, or nobody would need what only writes into them."""
    import paddle

    (condition,) = (tensor(values[number]) for number in operator.operands)
    results_of_turns: list[Mapping[int, arrays.TensorArray]] = []
    outside = arrays.variables_of(values.values())

    def branch(block: Block) -> Value:
        outside.put_back()
        results, grown = arrays.without_arrays(run_block(block, dict(values)))
        results_of_turns.append(grown)
        results = [*results, *arrays.carried(grown.values())]
        return results[0] if len(results) == 1 else tuple(results) or None

    then, otherwise = operator.blocks
    result: Value = paddle.static.nn.cond(condition, lambda: branch(then), lambda: branch(otherwise))
    if any(grown != results_of_turns[0] for grown in results_of_turns):
        raise _wrong(operator, "two branches give two arrays")
    results = list(result) if isinstance(result, (list, tuple)) else [] if result is None else [result]
    grown = results_of_turns[0]
    return arrays.with_arrays(arrays.taken_over(grown.values(), results), grown)


def _while(operator: Operator, values: Values) -> Sequence[Value]:
    """Loop: the first operand says whether to begin, and the first that the block yields whether to go on.

    An array is carried by a traced PIR program alone; else the loop writes into the one that stands outside.
    """
    import paddle

    (block,) = operator.blocks
    start, grown = arrays.without_arrays([tensor(values[number]) for number in operator.operands])
    numbers = [argument.id for argument in block.arguments]
    outside = {numbers[place - 1]: array for place, array in grown.items()}
    numbers = [number for number in numbers if number not in outside]

    def body(_going_on: Value, *turn: Value) -> list[Value]:
        inside = {**values, **outside, **dict(zip(numbers, arrays.taken_over(grown.values(), turn), strict=True))}
        results, written = arrays.without_arrays(run_block(block, inside))
        if written != grown:
            raise _wrong(operator, "a turn gives another array than it took")
        return [*results, *arrays.carried(grown.values())]

    results: Value = start
    if in_dygraph():  # Paddle's own loop would write each turn's values into the tensors that it began with (3.3.1)
        while bool(results[0]):
            results = body(*results)
    else:
        results = paddle.static.nn.while_loop(
            lambda going_on, *_: going_on, body, [*start, *arrays.carried(grown.values())]
        )
    return arrays.with_arrays(arrays.taken_over(grown.values(), results), grown)[1:]


def _split(operator: Operator, values: Values) -> Sequence[Value]:
    return list(tensor(values[operator.operands[0]]))


def _assigned(operator: Operator, values: Values) -> Sequence[Value]:
    import paddle

    return [paddle.assign(tensor(values[operator.operands[0]]))]


def _numbers(operator: Operator, _values: Values) -> Sequence[Value]:
    """Make the tensor that `assign_value` writes down, of the declared dtype; one number is known as such.

    What a loop sets and nothing set before it begins as a number of float64 that nobody reads (dy2static's
    `RETURN_NO_VALUE_MAGIC_NUM`); a loop of ONNX has to begin with the dtype that its turns give, so it is 0 if that
    holds no such number.
    """
    import numpy as np
    import paddle

    attributes, declared = operator.attributes, operator.results[0].type
    dtype = declared.dtype if isinstance(declared, TensorType) else attributes["dtype"]
    values = np.array(attributes["values"], dtype=attributes["dtype"]).reshape(attributes["shape"])
    if dtype.startswith(("int", "uint")) and values.dtype.kind == "f":
        values[np.abs(values) > np.iinfo(dtype).max] = 0
    values = values.astype(dtype)
    return [Filled(values.shape, values.item(), dtype) if values.size == 1 else paddle.assign(values)]


def _sizes(operator: Operator, _values: Values) -> Sequence[Value]:
    sizes = Sizes(operator.attributes["value"])
    sizes.dtype = operator.attributes["dtype"]
    return [sizes]


_SPECIAL: Mapping[str, Runner] = {
    "if": _if,
    "while": _while,
    "builtin.combine": lambda operator, values: [[values[number] for number in operator.operands]],
    "builtin.split": _split,
    "builtin.slice": lambda operator, values: [tensor(values[operator.operands[0]])[int(operator.attributes["index"])]],
    "assign_out_": _assigned,
    "assign_value_": _numbers,
    "assign_value": _numbers,
    "full_int_array": _sizes,
    "full": _full,
    "cast": _cast,
    "full_with_tensor": _full_with_tensor,
    "select_input": _selected,
    "strided_slice": _strided_slice,
    "set_value": _set_value,
    "set_value_": _set_value,
    **dict.fromkeys(("linear_interp", "bilinear_interp", "trilinear_interp", "bicubic_interp"), _interpolated),
    "nearest_interp": _interpolated,
    "stack": _stack,
    "batch_norm_": _normalized,
    "batch_norm": _normalized,
    "rrelu": _leaky,
    **dict.fromkeys(("unpool", "unpool3d", "conv2d_transpose", "depthwise_conv2d_transpose"), _sized),
    "shape": _shape,
    "shape64": _shape,
    **arrays.RUNNERS,
    **by_python.RUNNERS,
    "share_data_": lambda operator, values: [tensor(values[operator.operands[0]])],
    **dict.fromkeys(("memcpy", "memcpy_h2d", "memcpy_d2h"), lambda op, values: [tensor(values[op.operands[0]])]),
    "shadow_output": lambda operator, values: [],
    "builtin.set_parameter": lambda operator, values: [],
}
#: Of these the ones whose trace writes the same operator again.
_WRITTEN_AGAIN = frozenset(
    (
        *("builtin.combine", "builtin.split", "split", "split_with_num", "full", "full_int_array", "cast"),
        *("batch_norm_", "batch_norm", "nearest_interp", "linear_interp", "bilinear_interp", "trilinear_interp"),
        *("bicubic_interp", "conv2d_transpose", "depthwise_conv2d_transpose"),
    )
)


def written_again(name: str) -> str:
    """Return what a trace of the replayed operator writes, if that is one operator with the same attributes; or ""."""
    return _CALLED.get(name, name) if name not in _SPECIAL or name in _WRITTEN_AGAIN else ""
