"""Functions of each element.

Compositions of transcendental functions differ from Paddle's kernels in the last bits; the gate judges them against
float64, as it judges every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exporter.trace.legacy import composed
from exporter.trace.legacy.onnx.common import INTEGERS, as_float, known, number, of_x, scalar_again
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite, dtype_name
from exporter.trace.legacy.refusal import cannot_lower


def _of_float(entry: Entry, call: Arguments) -> Any:
    """Only the cast of integers is written out; the operator itself converts."""
    x = call["x"]
    if entry.__name__ in _NO_FLOAT64:
        _not_float64(entry, call)
    cast = as_float(x)
    return None if cast is x else entry(cast)


#: Measured: ONNX Runtime 1.31 has no CPU kernel for them in float64, or one that reckons in float32 (the last).
_NO_FLOAT64 = ("acos", "asin", "cosh", "sinh", "atan", "erf", "grid_sample")


def _not_float64(entry: Entry, call: Arguments) -> Any:
    if dtype_name(call["x"]) == "float64":
        raise cannot_lower(
            f"paddle.{entry.__name__}", "ONNX Runtime does not compute it in float64", "cast the tensor to float32"
        )


def _integers_stay(entry: Entry, call: Arguments) -> Any:
    import paddle

    return paddle.assign(call["x"]) if dtype_name(call["x"]) in INTEGERS else None


def _round(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx ignores `decimals` without a word."""
    import paddle

    x, decimals = call["x"], int(call["decimals"])
    if dtype_name(x) in INTEGERS and decimals >= 0:
        return paddle.assign(x)
    if decimals == 0:
        return None
    factor = number(10.0 ** abs(decimals), x)
    there, back = (paddle.multiply, paddle.divide) if decimals > 0 else (paddle.divide, paddle.multiply)
    return scalar_again(back(entry(there(x, factor)), factor), x)


def _atanh(x: Any) -> Any:
    import paddle

    return paddle.log((1.0 + x) / (1.0 - x)) * 0.5


def _acosh(x: Any) -> Any:
    import paddle

    return paddle.log(x + paddle.sqrt(x - 1.0) * paddle.sqrt(x + 1.0))


def _asinh(x: Any) -> Any:
    """sign(x) * log1p(a + a² / (sqrt(a² + 1) + 1)) with a = |x|, which keeps its digits near 0."""
    import paddle

    size = paddle.abs(x)
    square = size * size
    return paddle.sign(x) * paddle.log1p(size + square / (paddle.sqrt(square + 1.0) + 1.0))


def _expm1(x: Any) -> Any:
    """exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), which keeps its digits near 0."""
    import paddle

    return paddle.tanh(x * 0.5) * (paddle.exp(paddle.minimum(x, number(80.0, x))) + 1.0)


def _tan(x: Any) -> Any:
    import paddle

    return paddle.sin(x) / paddle.cos(x)


def _trunc(entry: Entry, call: Arguments) -> Any:
    import paddle

    x = call["x"]
    if dtype_name(x) in INTEGERS:
        return paddle.assign(x)
    return paddle.where(x < number(0, x), paddle.ceil(x), paddle.floor(x))


def _softplus(entry: Entry, call: Arguments) -> Any:
    import paddle

    x = call["x"]
    beta, threshold = (float(known(call[name], "softplus", name)) for name in ("beta", "threshold"))
    scaled = x * beta
    curve = paddle.log(1.0 + paddle.exp(paddle.minimum(scaled, number(threshold, x))))
    return scalar_again(paddle.where(scaled > number(threshold, x), x, curve / beta), x)


def _gelu(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx ignores `approximate` without a word."""
    import paddle

    x = call["x"]
    if call["approximate"] in (True, "tanh"):
        inner = (x + x * x * x * 0.044715) * 0.7978845608028654
        return scalar_again(x * (paddle.tanh(inner) + 1.0) * 0.5, x)
    if dtype_name(x) == "float64":
        raise cannot_lower("paddle.nn.functional.gelu", "ONNX Runtime has no erf in float64", "cast to float32")
    return None


def _clip(entry: Entry, call: Arguments) -> Any:
    """The limits that C++ writes for float64 are read as float32."""
    import paddle

    x, low, high = call["x"], call["min"], call["max"]
    if dtype_name(x) != "float64" or not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
        return None
    return paddle.minimum(paddle.maximum(x, number(low, x)), number(high, x))


def _celu(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, alpha = call["x"], float(call["alpha"])
    below = paddle.minimum(x, number(0, x))
    return scalar_again(paddle.maximum(x, number(0, x)) + (paddle.exp(below / alpha) - 1.0) * alpha, x)


def _logit(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, eps = call["x"], float(call["eps"])
    inside = paddle.clip(x, eps, 1.0 - eps) if eps else x
    return scalar_again(paddle.log(inside / (1.0 - inside)), x)


def _stanh(entry: Entry, call: Arguments) -> Any:
    import paddle

    return scalar_again(paddle.tanh(call["x"] * float(call["scale_a"])) * float(call["scale_b"]), call["x"])


def _lerp(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, y, weight = call["x"], call["y"], call["weight"]
    return paddle.add(x, paddle.multiply(weight, paddle.subtract(y, x)))


def _ignoring_nan(api: str) -> Callable[[Entry, Arguments], Any]:
    def rewrite(entry: Entry, call: Arguments) -> Any:
        import paddle

        x, y = call["x"], call["y"]
        best = getattr(paddle, api)(x, y)
        if dtype_name(best) in INTEGERS:
            return best
        zero = paddle.zeros_like(best)
        x, y = paddle.add(x, zero), paddle.add(y, zero)
        return paddle.where(paddle.isnan(x), y, paddle.where(paddle.isnan(y), x, best))

    return rewrite


def _heaviside(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, y = call["x"], call["y"]
    zero = paddle.zeros_like(paddle.add(x, y))
    x, y = paddle.add(x, zero), paddle.add(y, zero)
    return paddle.where(x == zero, y, (x > zero).astype(x.dtype))


def _copysign(entry: Entry, call: Arguments) -> Any:
    """The sign of -0.0 is that of 1 / -0.0."""
    import paddle

    x, y = as_float(call["x"]), as_float(call["y"])
    zero = number(0, y)
    negative = paddle.logical_or(y < zero, paddle.logical_and(y == zero, 1.0 / y < zero))
    size = paddle.abs(x)
    return paddle.where(negative, -size, size)


def _masked_fill(entry: Entry, call: Arguments) -> Any:
    import paddle

    value = call["value"]
    other = value.astype(call["x"].dtype) if isinstance(value, paddle.pir.Value) else number(value, call["x"])
    return paddle.where(call["mask"], other, call["x"])


def _isclose(entry: Entry, call: Arguments) -> Any:
    """In float64, as Paddle's kernel computes it (isclose_kernel_impl.h, 3.3.1)."""
    import paddle

    x, y = call["x"], call["y"]
    rtol, atol = (float(known(call[name], "isclose", name)) for name in ("rtol", "atol"))
    if dtype_name(x) == "float64":
        near = paddle.abs(x - y) <= number(atol, y) + number(rtol, y) * paddle.abs(y)
    else:
        near = paddle.abs(x - y) <= paddle.abs(y) * rtol + atol
    result = paddle.logical_or(x == y, paddle.logical_and(near, paddle.logical_not(paddle.isinf(y))))
    if call["equal_nan"]:
        result = paddle.logical_or(result, paddle.logical_and(paddle.isnan(x), paddle.isnan(y)))
    return scalar_again(result, x, y)


def _logical(entry: Entry, call: Arguments) -> Any:
    """ONNX's are for bool only, and paddle2onnx hands numbers on."""
    import paddle

    names = [name for name in ("x", "y") if name in call]
    if all(call[name].dtype == paddle.bool for name in names):
        return None
    return entry(*(_truth(call[name]) for name in names))


def _truth(x: Any) -> Any:
    import paddle

    return x if x.dtype == paddle.bool else x != number(0, x)


def _swiglu(entry: Entry, call: Arguments) -> Any:
    return composed.swiglu(call["x"], call["y"])


_FLOATS = ("acos", "asin", "cosh", "sinh", "exp", "log", "log2", "log10", "log1p", "cos", "sin", "tanh", "sigmoid")
_MORE_FLOATS = ("sqrt", "rsqrt")
POINTWISE: Mapping[str, Rewrite] = {
    **dict.fromkeys((*_FLOATS, *_MORE_FLOATS), Rewrite(_of_float)),
    **dict.fromkeys(("atan", "erf"), Rewrite(_of_float, "x")),
    **dict.fromkeys(("ceil", "floor"), Rewrite(_integers_stay)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor", "logical_not"), Rewrite(_logical)),
    "grid_sample": Rewrite(_not_float64),
    "round": Rewrite(_round),
    "atanh": Rewrite(of_x(_atanh)),
    "acosh": Rewrite(of_x(_acosh)),
    "asinh": Rewrite(of_x(_asinh), "x"),
    "expm1": Rewrite(of_x(_expm1)),
    "tan": Rewrite(of_x(_tan), "x"),
    "trunc": Rewrite(_trunc, "x"),
    "softplus": Rewrite(_softplus),
    "gelu": Rewrite(_gelu),
    "clip": Rewrite(_clip, "x, min, max"),
    "celu": Rewrite(_celu, "x, alpha=1.0"),
    "logit": Rewrite(_logit, "x, eps=1e-6"),
    "stanh": Rewrite(_stanh, "x, scale_a=0.67, scale_b=1.7159"),
    "lerp": Rewrite(_lerp, "x, y, weight"),
    "fmax": Rewrite(_ignoring_nan("maximum"), "x, y"),
    "fmin": Rewrite(_ignoring_nan("minimum"), "x, y"),
    "heaviside": Rewrite(_heaviside, "x, y"),
    "copysign": Rewrite(_copysign, "x, y"),
    "masked_fill": Rewrite(_masked_fill, "x, mask, value"),
    "isclose": Rewrite(_isclose),
    "swiglu": Rewrite(_swiglu, "x, y=None"),
}
