"""Values of Tensors that are known while tracing: an axis given as a Tensor is usually a constant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from exporter.paddle.refusal import cannot_lower

#: Operators that only pass the values of their input `X` on.
_PASS_ON = ("assign", "cast", "reshape2", "squeeze2", "unsqueeze2", "flatten_contiguous_range")


def is_variable(value: Any) -> bool:
    """Whether `value` is a Variable of a legacy program.

    isinstance() is wrong here: Variable's metaclass makes it true of eager tensors in dygraph mode
    (paddle/base/framework.py, VariableMetaClass, Paddle 3.3.1).
    """
    from exporter.paddle.private import Variable

    return Variable in type(value).__mro__


def in_program(value: Any) -> bool:
    """Whether `value` is a tensor of a program, legacy or PIR, and not an eager one."""
    from exporter.paddle.private import Value

    return is_variable(value) or isinstance(value, Value)


def meets_program(values: Iterable[Any]) -> bool:
    """Whether a tensor of a program is among the values, or in a list of them."""
    return any(meets_program(value) if isinstance(value, (list, tuple)) else in_program(value) for value in values)


def known(value: Any, api: str, name: str) -> Any:
    """`value` with every Tensor in it replaced by the Python numbers it always holds.

    Raises:
        CannotLower: a Tensor depends on the model's inputs.
    """
    if isinstance(value, (list, tuple)):
        return [known(item, api, name) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if is_variable(value):
        array = constant_of(value)
        if array is None:
            raise cannot_lower(
                api,
                f"`{name}` is a Tensor computed from the inputs; a legacy operator needs its value while tracing",
                f"pass `{name}` as a Python number, or make it a constant such as paddle.to_tensor(1)",
            )
        return array.tolist()
    if _is_eager(value):
        return value.numpy().tolist()
    return value


def constant_of(variable: Any) -> np.ndarray[Any, Any] | None:
    """The array that `variable` always holds: a literal, or a buffer of the layer. None if it is computed.

    What a loop carries has `carried` set: it starts as a literal at most.
    """
    if getattr(variable, "carried", False):
        return None
    for op in reversed(variable.block.program.global_block().ops + variable.block.ops):
        if variable.name not in op.output_arg_names:
            continue
        if op.type == "assign_value":
            return _assigned(op, variable)
        if op.type == "fill_constant" and not op.input_arg_names:
            text = op.attr("str_value") or op.attr("value")
            return np.full(op.attr("shape"), float(text), _numpy_dtype(variable))
        if op.type in _PASS_ON:
            inner = constant_of(variable.block._var_recursive(op.input("X")[0]))
            return None if inner is None else inner.astype(_numpy_dtype(variable)).reshape(variable.shape)
        return None
    return _recorded(variable)


def _assigned(op: Any, variable: Any) -> np.ndarray[Any, Any]:
    """The literal of an assign_value operator; which attribute holds it depends on dtype and Paddle version."""
    names = ("values", "int32_values", "int64_values", "fp32_values", "fp64_values", "bool_values")
    data = next(op.attr(name) for name in names if name in op.attr_names and op.attr(name))
    data = [one.value() if hasattr(one, "value") else one for one in data]  # libpaddle's Scalar
    return np.array(data, _numpy_dtype(variable)).reshape(op.attr("shape"))


def _recorded(variable: Any) -> np.ndarray[Any, Any] | None:
    """A buffer's value: dy2static records the eager tensor under the name of its Variable."""
    from exporter.paddle.private import ProgramTranslator

    for tensors in ProgramTranslator.get_instance()._params_recorder.params_dict.values():
        for tensor in tensors:
            if tensor.name == variable.name:
                return np.asarray(tensor.numpy())
    return None


def _is_eager(value: Any) -> bool:
    from exporter.paddle.private import core

    return core.eager.Tensor in type(value).__mro__


def _numpy_dtype(variable: Any) -> str:
    from exporter.paddle.private import convert_dtype

    return str(convert_dtype(variable.dtype))


def joined(sizes: Sequence[Any], dtype: str) -> Any:
    """One tensor of numbers and of tensors that hold one each, by no more operators than it takes.

    A `.pdmodel` has one for each size of each reshape: of CSWin Transformer 2,100 that only joined a single part.
    """
    import paddle

    parts = [_whole(size, dtype) for size in sizes]
    return parts[0] if len(parts) == 1 else paddle.concat(parts)


def _whole(size: Any, dtype: str) -> Any:
    import paddle

    from exporter.paddle.private import convert_dtype

    if isinstance(size, (int, np.integer)):
        return paddle.full([1], size, dtype)
    part = size if list(size.shape) == [1] else paddle.reshape(size, [1])
    return part if convert_dtype(part.dtype) == dtype else part.astype(dtype)
