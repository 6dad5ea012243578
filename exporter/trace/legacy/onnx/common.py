"""What the rewrites share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, dtype_name
from exporter.trace.legacy.refusal import cannot_lower

INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")
Compute = Callable[[Entry, Arguments], Any]


def number(value: float, like: Any) -> Any:
    """A 0-D constant of the dtype of `like`."""
    import paddle

    return paddle.full([], value, like.dtype)


def constant(values: Any) -> Any:
    """A numpy array as a constant of the program."""
    import paddle

    return paddle.to_tensor(values)


def as_float(x: Any) -> Any:
    """Integers as float32, as eager casts them; floats as they are."""
    return x.astype("float32") if dtype_name(x) in INTEGERS else x


def known(value: Any, api: str, what: str) -> Any:
    """A Python value; of a constant of the program, the value it has.

    Raises:
        CannotLower: it is computed from the inputs.
    """
    import paddle

    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [known(one, api, what) for one in value]
    if not isinstance(value, paddle.pir.Value):
        return value
    operator = value.get_defining_op()
    while operator is not None and operator.name() in ("pd_op.assign_value_", "pd_op.full_int_array", "pd_op.full"):
        attributes = operator.attrs()
        found = attributes["values"] if "values" in attributes else attributes["value"]
        shape = [int(size) for size in value.shape]
        array = np.asarray(found).reshape(shape) if isinstance(found, (list, tuple)) else np.full(shape, found)
        return array.astype("int64").tolist() if dtype_name(value) in INTEGERS else array.tolist()
    raise cannot_lower(f"paddle.{api}", f"ONNX needs to know {what} beforehand", f"give {what} as a Python number")


def sizes(x: Any, api: str, *axes: int) -> list[int]:
    """The sizes of those axes.

    Raises:
        CannotLower: one of them is dynamic.
    """
    found = [int(x.shape[axis]) for axis in axes]
    if any(size < 0 for size in found):
        raise cannot_lower(
            f"paddle.{api}",
            "its rewrite for ONNX needs fixed sizes, and a dim is dynamic",
            "give that dim a fixed size",
        )
    return found


def reshaped_like(x: Any, like: Any) -> Any:
    """`x` in the shape of `like`, also where sizes are dynamic."""
    import paddle

    unknown = sum(size < 0 for size in like.shape)
    return paddle.reshape(x, list(like.shape) if unknown <= 1 else paddle.shape(like))


def of_x(compute: Callable[[Any], Any]) -> Compute:
    """A rewrite of a function of one tensor: numbers beside a 0-D tensor make the shape [1], so it is set again."""

    def rewrite(entry: Entry, call: Arguments) -> Any:
        return scalar_again(compute(as_float(call["x"])), call["x"])

    return rewrite


def scalar_again(result: Any, *inputs: Any) -> Any:
    """The result of 0-D inputs is 0-D; paddle2onnx writes numbers as tensors of shape [1]."""
    return result if any(x.shape for x in inputs) else result.reshape([])
