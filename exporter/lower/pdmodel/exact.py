"""Operators that compute something else than eager: numbers that become float32, and an output that is not fresh.

Python numbers that a legacy operator would round, since its attributes are float32:
`x + 16777217` of int64 and `x * 0.1` of float64 are written as `scale`, `paddle.clip` of float64 as `clip`; such a
number becomes a constant of the tensor's own dtype. What fits stays as Paddle writes it, and so does the exponent of
`x ** 0.3`: eager rounds that one to float32 itself (measured on 3.3.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exporter.paddle.patches import Patches
from exporter.paddle.values import is_variable

_WIDE = ("INT32", "INT64", "FP64")
_FILL = ("fill_constant", "fill_constant_batch_size_like")


def install(patches: Patches) -> None:
    """Let Block.append_op write these operators without loss."""
    from exporter.paddle.private import Block

    stock = Block.append_op

    def append_op(self: Any, *args: Any, **kwargs: Any) -> Any:
        operator, attributes = kwargs.get("type"), kwargs.get("attrs") or {}
        if operator in _FILL:
            if (result := _filled(operator, kwargs, attributes)) is not None:
                return _assigned(stock, self, result, kwargs["outputs"])
            kwargs["attrs"] = _spelled(attributes)
        elif operator == "index_put":
            kwargs["inputs"] = _copied(stock, self, kwargs["inputs"], kwargs["outputs"])
        elif operator == "clip":
            kwargs["inputs"] = _clipped(kwargs["inputs"], attributes)
        elif operator == "scale" and (result := _scaled(kwargs["inputs"], attributes)) is not None:
            return _assigned(stock, self, result, kwargs["outputs"])
        return stock(self, *args, **kwargs)

    patches.attribute(Block, "append_op", append_op)


def _assigned(stock: Any, block: Any, result: Any, outputs: dict[str, Any]) -> Any:
    return stock(block, type="assign", inputs={"X": [result]}, outputs={"Out": [_only(outputs["Out"])]})


def _filled(operator: str, call: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """`1.1 ** x` of float64 fills by an operator that reads no text: with zeros, to which the number is added."""
    import paddle

    from exporter.paddle.programs import append

    out, value = _only(call["outputs"]["Out"]), attributes.get("value", 0.0)
    if operator == _FILL[0] or out.dtype.name != "FP64" or _fits(value):
        return None
    zeros = append(operator, call["inputs"], {**attributes, "value": 0.0, "dtype": out.dtype}, out.dtype)
    return paddle.add(zeros, _constant(value, out, [1]))


def _spelled(attributes: dict[str, Any]) -> dict[str, Any]:
    """With the value as text, too, which the operators prefer; not for the 0-D float of an exponent."""
    value = float(attributes.get("value", 0.0))
    if attributes.get("str_value") or not np.isfinite(value):
        return attributes
    if value.is_integer():
        return {**attributes, "str_value": str(int(value))}
    return {**attributes, "str_value": repr(value)} if attributes.get("shape") else attributes


def _copied(stock: Any, block: Any, inputs: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    """Let the operator write into a copy of x that is made anew in each run.

    Its CPU kernel copies x only into an output without memory (phi/kernels/cpu/index_put_kernel.cc, 3.3.1). From its
    second run on a predictor's outputs have some, and keep what the run before left at the places not written.
    """
    x, out = _only(inputs["x"]), _only(outputs["out"])
    if x.name == out.name:
        return inputs
    stock(block, type="assign", inputs={"X": [x]}, outputs={"Out": [out]})
    return {**inputs, "x": [out]}


def _clipped(inputs: dict[str, Any], attributes: dict[str, Any]) -> dict[str, Any]:
    x = _only(inputs["X"])
    if not is_variable(x) or x.dtype.name not in _WIDE:
        return inputs
    bounds = {"Min": attributes.get("min"), "Max": attributes.get("max")}
    tensors = {
        slot: _constant(value, x, [1]) for slot, value in bounds.items() if value is not None and not _fits(value)
    }
    return {**tensors, **inputs}


def _scaled(inputs: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """The sum x * scale + bias with constants of x's dtype; None where float32 attributes say the same."""
    import paddle

    x, scale, bias = _only(inputs["X"]), attributes.get("scale", 1.0), attributes.get("bias", 0.0)
    if not is_variable(x) or x.dtype.name not in _WIDE or inputs.get("ScaleTensor") is not None:
        return None
    if is_variable(scale) or (_fits(scale) and _fits(bias)) or not attributes.get("bias_after_scale", True):
        return None
    wide = paddle.multiply(x, _constant(scale, x, [])) if scale != 1 else x
    return paddle.add(wide, _constant(bias, x, [])) if bias != 0 else wide


def _constant(value: float, like: Any, shape: list[int]) -> Any:
    from exporter.paddle.programs import append

    text = repr(float(value)) if like.dtype.name == "FP64" else str(int(value))
    attributes = {"shape": shape, "dtype": like.dtype, "value": float(value), "str_value": text}
    return append("fill_constant", {}, attributes, like.dtype)


def _fits(value: float) -> bool:
    return not np.isfinite(value) or float(np.float32(value)) == float(value)


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) else value
