"""Operators that compute something else than eager: numbers rounded to float32, memory used again, a dim that stays.

Python numbers that a legacy operator would round, since its attributes are float32:
`x + 16777217` of int64 and `x * 0.1` of float64 are written as `scale`, `paddle.clip` of float64 as `clip`; such a
number becomes a constant of the tensor's own dtype. What fits stays as Paddle writes it, and so does the exponent of
`x ** 0.3`: eager rounds that one to float32 itself (measured on 3.3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from exporter.export.lower.pdmodel.appended import Appended, Attributes, Step, only
from exporter.paddle.programs import append
from exporter.paddle.values import is_variable

#: How dy2static calls it (`create_undefined_variable` in jit/dy2static/utils.py, 3.3.1).
_NOT_SET = "undefined_var"
_WIDE = ("INT32", "INT64", "FP64")
#: A variable of Paddle's old program, or None where nothing was written.
_Variable: TypeAlias = Any


def step(appended: Appended) -> _Variable:
    """Write these operators without loss."""
    write = EXACT.get(appended.operator)
    return write(appended) if write is not None else None


def _filled(appended: Appended) -> _Variable:
    """Fill with the value as text, too, which the operators prefer; not for the 0-D float of an exponent."""
    attributes, value = appended.attributes, float(appended.attributes.get("value", 0.0))
    if attributes.get("str_value") or not np.isfinite(value):
        return None
    if value.is_integer() or attributes.get("shape"):
        attributes["str_value"] = str(int(value)) if value.is_integer() else repr(value)
    return None


def _filled_like(appended: Appended) -> _Variable:
    """`1.1 ** x` of float64 fills by an operator that reads no text: with zeros, to which the number is added."""
    import paddle

    out, value = appended.output, appended.attributes.get("value", 0.0)
    if out.dtype.name != "FP64" or _fits(value):
        return _filled(appended)
    attributes = {**appended.attributes, "value": 0.0, "dtype": out.dtype}
    zeros = append(appended.operator, appended.inputs, attributes, out.dtype)
    return paddle.add(zeros, _constant(value, out, [1]))


def _put(appended: Appended) -> None:
    """Let the operator write into a copy of x that is made anew in each run.

    Its CPU kernel copies x only into an output without memory (phi/kernels/cpu/index_put_kernel.cc, 3.3.1). From its
    second run on a predictor's outputs have some, and keep what the run before left at the places not written.
    """
    x, out = only(appended.inputs["x"]), appended.output
    if x.name != out.name:
        appended.block.append_op(type="assign", inputs={"X": [x]}, outputs={"Out": [out]})
        appended.inputs["x"] = [out]


def _clipped(appended: Appended) -> None:
    """Bounds that float32 would round become tensors."""
    x = only(appended.inputs["X"])
    if not is_variable(x) or x.dtype.name not in _WIDE:
        return
    for slot, name in (("Min", "min"), ("Max", "max")):
        value = appended.attributes.get(name)
        if slot not in appended.inputs and value is not None and not _fits(value):
            appended.inputs[slot] = _constant(value, x, [1])


def _scaled(appended: Appended) -> _Variable:
    """The sum x * scale + bias with constants of x's dtype; None where float32 attributes say the same."""
    import paddle

    inputs, attributes = appended.inputs, appended.attributes
    x, scale, bias = only(inputs["X"]), attributes.get("scale", 1.0), attributes.get("bias", 0.0)
    if not is_variable(x) or x.dtype.name not in _WIDE or inputs.get("ScaleTensor") is not None:
        return None
    if is_variable(scale) or (_fits(scale) and _fits(bias)) or not attributes.get("bias_after_scale", True):
        return None
    wide = paddle.multiply(x, _constant(scale, x, [])) if scale != 1 else x
    return paddle.add(wide, _constant(bias, x, [])) if bias != 0 else wide


def _sliced(appended: Appended) -> _Variable:
    """Take the dims of indices out by a squeeze: of `x[:, 0, ::2]` Paddle 3 reads a legacy program's slice alone.

    What translates it for `jit.load` drops `decrease_axis`, and the dim of size 1 stays (3.0.0, 3.3.1).
    """
    import paddle

    gone = appended.attributes.get("decrease_axis")
    if not gone:
        return None
    attributes = {**appended.attributes, "decrease_axis": []}
    kept = append(appended.operator, appended.inputs, attributes, only(appended.inputs["Input"]).dtype)
    return paddle.squeeze(kept, list(gone))


def _held(appended: Appended) -> _Variable:
    """Constants of float64 that the file, in the form that Paddle 2.6 reads, would hold in float32.

    What stands for a name that a branch has not set stays, rounded: nothing reads it, and `jit.load` asks that an
    `assign_value` writes it (ir_adaptor/translator/op_translator.cc, SelectInputOpTranscriber, 3.3.1).
    """
    attributes = appended.attributes
    if appended.output.name.startswith(_NOT_SET):
        return None
    if getattr(attributes["dtype"], "name", "") != "FP64" or all(map(_fits, attributes["values"])):
        return None
    return summed(attributes)


def summed(attributes: Attributes) -> _Variable:
    """The float64 values of an `assign_value` as the sum of up to three of float32."""
    import paddle

    rest = np.array(attributes["values"], "float64").reshape(attributes["shape"])
    total = None
    for _ in range(3):
        part = rest.astype("float32")
        term = paddle.to_tensor(part).astype("float64")
        total = term if total is None else total + term
        rest = rest - part
        if not rest.any():
            break
    return total


EXACT: Mapping[str, Step] = {
    "assign_value": _held,
    "fill_constant": _filled,
    "fill_constant_batch_size_like": _filled_like,
    "index_put": _put,
    "clip": _clipped,
    "scale": _scaled,
    "strided_slice": _sliced,
}


def _constant(value: float, like: _Variable, shape: list[int]) -> _Variable:
    """A number as the sum of some that float32 has: `paddle.jit.load` does not read the text (3.3.1)."""
    import paddle

    made = None
    for part in _parts(float(value)):
        text = repr(part) if like.dtype.name == "FP64" else str(int(part))
        attributes = {"shape": shape, "dtype": like.dtype, "value": part, "str_value": text}
        constant = append("fill_constant", {}, attributes, like.dtype)
        made = constant if made is None else paddle.add(made, constant)
    return made


def _parts(value: float) -> list[float]:
    """Numbers that float32 has, the largest first, which add up to one in float64; at most three."""
    parts = [float(np.float32(value))]
    if not np.isfinite(parts[0]):
        return [value]
    while (rest := value - sum(parts)) and (part := float(np.float32(rest))):
        parts.append(part)
    return parts


def _fits(value: float) -> bool:
    return not np.isfinite(value) or float(np.float32(value)) == float(value)
