"""Functions of each element: one line a function in a table, or one short function."""

from __future__ import annotations

import math
from collections.abc import Callable

from exporter.export.lower.onnx_program.call import Call, Lowering, wide
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops import doubles

#: What shows whether the smallest values of a softmax or a sigmoid are 0.
TELL_SMALL = (
    *("divide", "log", "log2", "log10", "log1p", "p_norm", "frobenius_norm", "rsqrt", "reciprocal"),
    *("bce_loss", "log_loss"),
)


def own_float(c: Call, at: int = 0) -> Tensor:
    """The operand in the dtype that the result is computed in: Paddle casts integers to the result's float.

    Of the logarithms of integers PIR declares integers, and the kernel gives float32 (3.3.1).
    """
    dtype = wide(c.result().dtype)
    return c.b.cast(c.raw(at), dtype if "float" in dtype else "float32")


def plain(kind: str) -> Lowering:
    """An ONNX operator of the float operand."""
    return lambda c: c.b.emit(kind, own_float(c))


Formula = Callable[[Builder, Tensor], Tensor]


def formula(make: Formula) -> Lowering:
    """A composition of the float operand."""
    return lambda c: make(c.b, own_float(c))


def in_float64(kind: str, make: Formula) -> Lowering:
    """An ONNX operator in float32, a composition in float64, which ONNX Runtime 1.31 lacks."""
    return lambda c: make(c.b, own_float(c)) if c.result().dtype == "float64" else c.b.emit(kind, own_float(c))


def log1p(b: Builder, x: Tensor) -> Tensor:
    """log(1 + x) keeping the digits near 0: with u = 1 + x it is log(u) * x / (u - 1) (Kahan)."""
    u = b.emit("Add", x, 1.0)
    log, moved = b.emit("Log", u), b.emit("Sub", u, 1.0)
    still = b.emit("Equal", moved, 0.0)
    ratio = b.emit("Div", x, b.emit("Where", still, 1.0, moved))
    near = b.emit("Where", still, x, b.emit("Mul", log, ratio))
    return b.emit("Where", b.emit("Less", b.emit("Abs", x), 1.0), near, log)


def expm1(b: Builder, x: Tensor) -> Tensor:
    """exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), which keeps the digits near 0."""
    half = b.emit("Tanh", b.emit("Mul", x, 0.5))
    near = b.emit("Mul", half, b.emit("Add", b.emit("Exp", x), 1.0))
    far = b.emit("Sub", b.emit("Exp", x), 1.0)
    return b.emit("Where", b.emit("Less", b.emit("Abs", x), 1.0), near, far)


def _tan(b: Builder, x: Tensor) -> Tensor:
    return b.emit("Div", b.emit("Sin", x), b.emit("Cos", x))


def _sinh(b: Builder, x: Tensor) -> Tensor:
    """Emit (e + e / (e + 1)) / 2 with e = expm1(|x|), with the sign of x."""
    grown = expm1(b, b.emit("Abs", x))
    ratio = b.emit("Sub", 1.0, b.emit("Div", 1.0, b.emit("Add", grown, 1.0)))
    size = b.emit("Mul", b.emit("Add", grown, ratio), 0.5)
    return b.emit("Mul", b.emit("Sign", x), size)


def _cosh(b: Builder, x: Tensor) -> Tensor:
    return b.emit("Mul", b.emit("Add", b.emit("Exp", x), b.emit("Exp", b.emit("Neg", x))), 0.5)


def asinh(b: Builder, x: Tensor) -> Tensor:
    """sign(x) * log1p(a + a² / (sqrt(a² + 1) + 1)) with a = |x|."""
    size = b.emit("Abs", x)
    square = b.emit("Mul", size, size)
    root = b.emit("Add", b.emit("Sqrt", b.emit("Add", square, 1.0)), 1.0)
    return b.emit("Mul", b.emit("Sign", x), log1p(b, b.emit("Add", size, b.emit("Div", square, root))))


def _acosh(b: Builder, x: Tensor) -> Tensor:
    """log1p(t + sqrt(2 t + t²)) with t = x - 1."""
    over = b.emit("Sub", x, 1.0)
    root = b.emit("Sqrt", b.emit("Add", b.emit("Mul", over, 2.0), b.emit("Mul", over, over)))
    return log1p(b, b.emit("Add", over, root))


def _atanh(b: Builder, x: Tensor) -> Tensor:
    """log1p(2 x / (1 - x)) / 2."""
    return b.emit("Mul", log1p(b, b.emit("Div", b.emit("Mul", x, 2.0), b.emit("Sub", 1.0, x))), 0.5)


def atan(b: Builder, x: Tensor) -> Tensor:
    """In float64, which ONNX Runtime 1.31 lacks, that of float32 and one step of Newton's: t is within 0 and 1.

    With y near atan(t) it is y + (t cos y - sin y) / (cos y + t sin y) but for the third power of what is added.
    """
    if x.dtype != "float64":
        return b.emit("Atan", x)
    size = b.emit("Abs", x)
    large = b.emit("Greater", size, 1.0)
    t = b.emit("Where", large, b.emit("Reciprocal", size), size)
    near = b.cast(b.emit("Atan", b.cast(t, "float32")), "float64")
    sine, cosine = b.emit("Sin", near), b.emit("Cos", near)
    left = b.emit("Sub", b.emit("Mul", t, cosine), sine)
    found = b.emit("Add", near, b.emit("Div", left, b.emit("Add", cosine, b.emit("Mul", t, sine))))
    found = b.emit("Where", large, b.emit("Sub", math.pi / 2, found), found)
    return b.emit("Where", b.emit("Less", x, 0.0), b.emit("Neg", found), found)


def _asin(b: Builder, x: Tensor) -> Tensor:
    """atan(x / sqrt((1 - x) (1 + x)))."""
    root = b.emit("Sqrt", b.emit("Mul", b.emit("Sub", 1.0, x), b.emit("Add", x, 1.0)))
    return atan(b, b.emit("Div", x, root))


def _acos(b: Builder, x: Tensor) -> Tensor:
    """2 atan(sqrt((1 - x) / (1 + x)))."""
    root = b.emit("Sqrt", b.emit("Div", b.emit("Sub", 1.0, x), b.emit("Add", x, 1.0)))
    return b.emit("Mul", atan(b, root), 2.0)


def _log_by(base: float) -> Formula:
    return lambda b, x: b.emit("Mul", b.emit("Log", x), 1.0 / math.log(base))


def _integers_stay(kind: str) -> Lowering:
    """Rounding changes no integer."""
    return lambda c: c.b.emit(kind, c.x()) if c.x().is_float else c.x()


def _round(c: Call) -> Tensor:
    """Paddle rounds a half to the even number where `decimals` is 0 (measured, 3.3.1), as ONNX does."""
    x, decimals = c.x(), int(c.attr("decimals", 0))
    if not x.is_float:
        if decimals < 0:
            raise c.refuse("decimals < 0 of integers is not written")
        return x
    if not decimals:
        return c.b.emit("Round", x)
    factor = 10.0 ** abs(decimals)
    there, back = ("Mul", "Div") if decimals > 0 else ("Div", "Mul")
    return c.b.emit(back, c.b.emit("Round", c.b.emit(there, x, factor)), factor)


def _trunc(b: Builder, x: Tensor) -> Tensor:
    return b.emit("Where", b.emit("Less", x, 0.0), b.emit("Ceil", x), b.emit("Floor", x))


def _any_number(kind: str) -> Lowering:
    """Of bool computed as an integer."""

    def lower(c: Call) -> Tensor:
        x = c.x()
        return c.b.emit(kind, c.b.cast(x, "int32") if x.dtype == "bool" else x)

    return lower


def _sign(c: Call) -> Tensor:
    """Of bool computed as an integer."""
    x = c.x()
    return c.b.emit("Sign", c.b.cast(x, "int32") if x.dtype == "bool" else x)


def _state(kind: str) -> Lowering:
    """isnan, isinf, isfinite: of an integer constant answers, in the shape of the operand."""

    def lower(c: Call) -> Tensor:
        x = c.x()
        if not x.is_float:
            x = c.b.cast(x, "float32")  # no integer becomes infinite or NaN
        if kind != "IsFinite":
            return c.b.emit(kind, x)
        return c.b.emit("Not", c.b.emit("Or", c.b.emit("IsNaN", x), c.b.emit("IsInf", x)))

    return lower


def _rsqrt(b: Builder, x: Tensor) -> Tensor:
    return b.emit("Div", 1.0, b.emit("Sqrt", x))


def _square(c: Call) -> Tensor:
    x = c.x()
    return c.b.emit("Mul", x, x)


def _scale(c: Call) -> Tensor:
    """X * scale + bias, or (x + bias) * scale, in the tensor's own dtype: of integers both numbers are cut (3.3.1)."""
    x, bias, after = c.x(), float(c.attr("bias", 0.0)), c.attr("bias_after_scale", True)
    if x.dtype == "bool":
        raise c.refuse("a bool tensor is not scaled")
    if c.known(1):
        factor = c.number(1)
        if not x.is_float:
            factor, bias = float(int(factor)), float(int(bias))
        if factor == 1.0 and bias == 0.0:
            return c.b.emit("Identity", x)
        scale = c.b.constant(factor, x.dtype)
    else:
        scale = c.b.cast(c.raw(1), x.dtype)
        scale = c.b.reshape(scale, [], []) if scale.rank else scale
        factor = math.nan
    if not after:
        x = c.b.emit("Add", x, bias) if bias else x
        return c.b.emit("Mul", x, scale) if factor != 1.0 else x
    if factor == -1.0 and bias == 0.0:
        return c.b.emit("Neg", x)
    x = c.b.emit("Mul", x, scale) if factor != 1.0 else x
    return c.b.emit("Add", x, bias) if bias else x


def _pow(c: Call) -> Tensor:
    x, exponent = c.x(), float(c.attr("y"))
    if not x.is_float and (exponent < 0 or exponent != int(exponent)):
        raise c.refuse(f"integers to the power {exponent} are not written")
    if exponent == 2.0:
        return c.b.emit("Mul", x, x)
    return c.b.emit("Pow", x, c.b.constant(exponent, x.dtype))


def _logit(c: Call) -> Tensor:
    b, x, eps = c.b, own_float(c), float(c.attr("eps"))
    if eps:
        x = b.emit("Min", b.emit("Max", x, eps), 1.0 - eps)
    return b.emit("Log", b.emit("Div", x, b.emit("Sub", 1.0, x)))


def _angle(c: Call) -> Tensor:
    """Emit the angle of a real number: pi if it is negative, NaN if it is NaN, else 0."""
    b, x = c.b, own_float(c)
    turned = b.emit("Where", b.emit("Less", x, 0.0), b.constant(math.pi, x.dtype), b.constant(0.0, x.dtype))
    return b.emit("Where", b.emit("IsNaN", x), x, turned)


def _sigmoid(c: Call) -> Tensor:
    """1 / (1 + exp(-x)) where something shows it: ONNX Runtime's 1.31 is 0 from -18 on, and at 17 not yet 1."""
    b, x = c.b, own_float(c)
    if not c.is_read_by(TELL_SMALL):
        return b.emit("Sigmoid", x)
    return b.emit("Div", b.constant(1.0, x.dtype), b.emit("Add", b.emit("Exp", b.emit("Neg", x)), 1.0))


def _clip(c: Call) -> Tensor:
    """max, then min, which unlike Clip takes limits of any kind; NaN stays NaN in both."""
    b, x = c.b, c.x()
    low, high = (b.reshape(b.cast(c.raw(at), x.dtype), [], []) for at in (1, 2))
    if low.array is not None and high.array is not None and x.dtype in ("float32", "float64", "int32", "int64"):
        return b.emit("Clip", x, b.constant(low.array, x.dtype), b.constant(high.array, x.dtype), shape=x.shape)
    return b.emit("Min", b.emit("Max", x, low), high)


def _increment(c: Call) -> Tensor:
    return c.b.emit("Add", c.x(), c.b.constant(c.attr("value"), c.x().dtype))


OPERATORS: dict[str, Lowering] = {
    **{name: plain(name.capitalize()) for name in "sin cos exp log sqrt tanh reciprocal".split()},
    "sigmoid": _sigmoid,
    "erf": formula(doubles.erf),
    "acos": in_float64("Acos", _acos),
    "asin": in_float64("Asin", _asin),
    "atan": formula(atan),
    "tan": in_float64("Tan", _tan),
    "sinh": in_float64("Sinh", _sinh),
    "cosh": in_float64("Cosh", _cosh),
    "asinh": in_float64("Asinh", asinh),
    "acosh": in_float64("Acosh", _acosh),
    "atanh": in_float64("Atanh", _atanh),
    "log1p": formula(log1p),
    "expm1": formula(expm1),
    "log2": formula(_log_by(2.0)),
    "log10": formula(_log_by(10.0)),
    "rsqrt": formula(_rsqrt),
    "floor": _integers_stay("Floor"),
    "ceil": _integers_stay("Ceil"),
    "round": _round,
    "trunc": lambda c: _trunc(c.b, c.x()) if c.x().is_float else c.x(),
    "abs": _any_number("Abs"),
    "sign": _sign,
    "isnan": _state("IsNaN"),
    "isinf": _state("IsInf"),
    "isfinite": _state("IsFinite"),
    "square": _square,
    "scale": _scale,
    "pow": _pow,
    "logit": _logit,
    "angle": _angle,
    "clip": _clip,
    "increment": _increment,
}
