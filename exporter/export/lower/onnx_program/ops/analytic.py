"""Functions of complex values, by their parts, so that small parts and those near a zero keep their digits.

Paddle calls the C++ library of complex numbers (phi/common/complex.h, 3.3.1). What it computes with more digits than
float32 has, as the logarithm of a number near the unit circle, is computed in float64 here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from exporter.export.lower.onnx_program.graph import Builder, Pair, Tensor
from exporter.export.lower.onnx_program.ops.pointwise import asinh, atan, expm1, log1p

Function: TypeAlias = Callable[[Builder, Pair], "Pair | Tensor"]


def times(b: Builder, x: Pair, y: Pair, way: Callable[[Tensor, Tensor], Tensor]) -> Pair:
    """Multiply pair by pair, by a product of any kind."""
    real = b.emit("Sub", way(x.real, y.real), way(x.imag, y.imag))
    return Pair(real, b.emit("Add", way(x.real, y.imag), way(x.imag, y.real)))


def quotient(b: Builder, x: Pair, y: Pair) -> Pair:
    """Divide by the ratio of the parts of y, the smaller over the larger, which does not overflow."""
    ahead = b.emit("GreaterOrEqual", b.emit("Abs", y.real), b.emit("Abs", y.imag))
    large, small = b.emit("Where", ahead, y.real, y.imag), b.emit("Where", ahead, y.imag, y.real)
    ratio = b.emit("Div", small, large)
    bottom = b.emit("Add", large, b.emit("Mul", small, ratio))
    first, second = b.emit("Where", ahead, x.real, x.imag), b.emit("Where", ahead, x.imag, x.real)
    real = b.emit("Add", first, b.emit("Mul", second, ratio))
    rest = b.emit("Sub", second, b.emit("Mul", first, ratio))
    imag = b.emit("Where", ahead, rest, b.emit("Neg", rest))
    return Pair(b.emit("Div", real, bottom), b.emit("Div", imag, bottom))


def _reciprocal(b: Builder, x: Pair) -> Pair:
    whole = Pair(*(b.constant(number, x.real.dtype) for number in (1.0, 0.0)))
    return quotient(b, whole, x)


def modulus(b: Builder, x: Pair) -> Tensor:
    """The larger part times the root of 1 + (smaller / larger)², which does not overflow."""
    large, small = _by_size(b, x)
    ratio = b.emit("Div", small, b.emit("Where", b.emit("Equal", large, 0.0), 1.0, large))
    return b.emit("Mul", large, b.emit("Sqrt", b.emit("Add", b.emit("Mul", ratio, ratio), 1.0)))


def _by_size(b: Builder, x: Pair) -> tuple[Tensor, Tensor]:
    sizes = b.emit("Abs", x.real), b.emit("Abs", x.imag)
    return b.emit("Max", *sizes), b.emit("Min", *sizes)


def _is_negative(b: Builder, x: Tensor) -> Tensor:
    """Also of -0, on which the side of a branch cut depends."""
    inverse = b.emit("Div", b.constant(1.0, x.dtype), x)
    return b.emit("Or", b.emit("Less", x, 0.0), b.emit("Less", inverse, 0.0))


def _signed(b: Builder, size: Tensor, like: Tensor) -> Tensor:
    return b.emit("Where", _is_negative(b, like), b.emit("Neg", size), size)


def argument(b: Builder, x: Pair) -> Tensor:
    """The angle: the arc tangent of the parts' ratio, turned by pi where the real part is negative."""
    nowhere = b.emit("And", b.emit("Equal", x.real, 0.0), b.emit("Equal", x.imag, 0.0))
    safe = b.emit("Where", nowhere, b.constant(1.0, x.real.dtype), x.real)
    angle = atan(b, b.emit("Div", x.imag, safe))
    behind = _is_negative(b, x.real)
    # of zero the ratio, too, is that of a positive real part
    angle = b.emit("Where", b.emit("And", nowhere, behind), b.emit("Neg", angle), angle)
    turn = _signed(b, b.constant(math.pi, x.real.dtype), x.imag)
    return b.emit("Where", behind, b.emit("Add", angle, turn), angle)


def _wave(b: Builder, size: Tensor, part: Tensor) -> Tensor:
    """A size times a sine or a cosine; zero where that is, whatever the size."""
    return b.emit("Where", b.emit("Equal", part, 0.0), part, b.emit("Mul", size, part))


def exp(b: Builder, x: Pair) -> Pair:
    """The size is e to a, the angle b."""
    size = b.emit("Exp", x.real)
    return Pair(b.emit("Mul", size, b.emit("Cos", x.imag)), b.emit("Mul", size, b.emit("Sin", x.imag)))


def _half_exp(b: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    """(cosh, sinh), of which ONNX Runtime has neither in float64.

    With e = exp(|x|) - 1 sinh is (e + 1 / (1 + 1 / e)) / 2. By 1 - 1 / (e + 1), which is 0 at tiny x, it would be half
    of what it is.
    """
    grown = expm1(b, b.emit("Abs", x))
    unit = b.constant(1.0, x.dtype)
    other = b.emit("Div", unit, b.emit("Add", b.emit("Div", unit, grown), 1.0))
    sinh = b.emit("Mul", b.emit("Sign", x), b.emit("Mul", b.emit("Add", grown, other), 0.5))
    cosh = b.emit("Mul", b.emit("Add", b.emit("Exp", x), b.emit("Exp", b.emit("Neg", x))), 0.5)
    return cosh, sinh


def _sin(b: Builder, x: Pair) -> Pair:
    cosh, sinh = _half_exp(b, x.imag)
    return Pair(_wave(b, cosh, b.emit("Sin", x.real)), b.emit("Mul", b.emit("Cos", x.real), sinh))


def _cos(b: Builder, x: Pair) -> Pair:
    cosh, sinh = _half_exp(b, x.imag)
    imag = b.emit("Neg", _wave(b, sinh, b.emit("Sin", x.real)))
    return Pair(b.emit("Mul", b.emit("Cos", x.real), cosh), imag)


def _sinh(b: Builder, x: Pair) -> Pair:
    cosh, sinh = _half_exp(b, x.real)
    return Pair(b.emit("Mul", sinh, b.emit("Cos", x.imag)), _wave(b, cosh, b.emit("Sin", x.imag)))


def _cosh(b: Builder, x: Pair) -> Pair:
    cosh, sinh = _half_exp(b, x.real)
    return Pair(b.emit("Mul", cosh, b.emit("Cos", x.imag)), _wave(b, sinh, b.emit("Sin", x.imag)))


def _tanh(b: Builder, x: Pair) -> Pair:
    """(tanh(a) + i sin(b) cos(b) / cosh²(a)) / (tanh²(a) + cos²(b) / cosh²(a)), whose sum does not cancel at a pole."""
    grown, cosine = b.emit("Tanh", x.real), b.emit("Cos", x.imag)
    cosh, _ = _half_exp(b, x.real)
    share = b.emit("Div", cosine, cosh)
    bottom = b.emit("Add", b.emit("Mul", grown, grown), b.emit("Mul", share, share))
    top = b.emit("Mul", share, b.emit("Div", b.emit("Sin", x.imag), cosh))
    return Pair(b.emit("Div", grown, bottom), b.emit("Div", top, bottom))


def _sigmoid(b: Builder, x: Pair) -> Pair:
    """1 / (1 + exp(-z)), with t = exp(-|a|) and 1 + cos(b) = 2 cos²(b / 2), so that nothing cancels at a pole.

    NaN where exp(-a) overflows, as in Paddle (3.3.1), which divides by it.
    """
    lacking = b.emit("Neg", b.emit("Abs", x.real))
    t, rest = b.emit("Exp", lacking), b.emit("Neg", expm1(b, lacking))
    half = b.emit("Cos", b.emit("Mul", x.imag, 0.5))
    raised = b.emit("Mul", b.emit("Mul", half, half), 2.0)
    bottom = b.emit("Add", b.emit("Mul", rest, rest), b.emit("Mul", b.emit("Mul", t, raised), 2.0))
    ahead = b.emit("Add", rest, b.emit("Mul", t, raised))
    behind = b.emit("Mul", t, b.emit("Sub", raised, rest))
    real = b.emit("Div", b.emit("Where", b.emit("Less", x.real, 0.0), behind, ahead), bottom)
    imag = b.emit("Div", b.emit("Mul", t, b.emit("Sin", x.imag)), bottom)
    overflows = b.emit("IsInf", b.emit("Exp", b.emit("Neg", x.real)))
    nothing = b.constant(math.nan, x.real.dtype)
    return Pair(b.emit("Where", overflows, nothing, real), b.emit("Where", overflows, nothing, imag))


def _silu(b: Builder, x: Pair) -> Pair:
    return times(b, x, _sigmoid(b, x), lambda part, other: b.emit("Mul", part, other))


def _sign(b: Builder, x: Pair) -> Pair:
    """Z / |z|, and zero of zero."""
    size = modulus(b, x)
    safe = b.emit("Where", b.emit("Equal", size, 0.0), b.constant(1.0, size.dtype), size)
    return Pair(b.emit("Div", x.real, safe), b.emit("Div", x.imag, safe))


def _sqrt(b: Builder, x: Pair) -> Pair:
    """sqrt((|z| + |a|) / 2) is one part, b / (2 · that) the other; which is which, the sign of a says."""
    size = b.emit("Sqrt", b.emit("Mul", b.emit("Add", modulus(b, x), b.emit("Abs", x.real)), 0.5))
    safe = b.emit("Where", b.emit("Equal", size, 0.0), 1.0, size)
    other = b.emit("Div", b.emit("Abs", x.imag), b.emit("Mul", safe, 2.0))
    ahead = b.emit("GreaterOrEqual", x.real, 0.0)
    imag = _signed(b, b.emit("Where", ahead, other, size), x.imag)
    return Pair(b.emit("Where", ahead, size, other), imag)


def _rsqrt(b: Builder, x: Pair) -> Pair:
    return _reciprocal(b, _sqrt(b, x))


def _in_float64(make: Callable[[Builder, Pair], Pair]) -> Callable[[Builder, Pair], Pair]:
    """The function with the digits of float64, and its parts as they were given."""

    def made(b: Builder, x: Pair) -> Pair:
        wide = make(b, Pair(b.cast(x.real, "float64"), b.cast(x.imag, "float64")))
        return Pair(b.cast(wide.real, x.real.dtype), b.cast(wide.imag, x.real.dtype))

    return made


def _log(b: Builder, x: Pair) -> Pair:
    """The logarithm of the size, near 1 half of log1p(|z|² - 1); and the angle."""
    large, small = _by_size(b, x)
    ring = b.emit("Mul", b.emit("Sub", large, 1.0), b.emit("Add", large, 1.0))
    over = b.emit("Add", ring, b.emit("Mul", small, small))
    is_far = b.emit("Greater", b.emit("Abs", over), 0.75)
    near = b.emit("Mul", log1p(b, over), 0.5)
    return Pair(b.emit("Where", is_far, b.emit("Log", modulus(b, x)), near), argument(b, x))


log = _in_float64(_log)


@_in_float64
def _expm1(b: Builder, x: Pair) -> Pair:
    """exp(z) - 1 as Paddle has it in float64 (activation_functor.h, 3.3.1), and so 0 where z is far below epsilon."""
    size = b.emit("Exp", x.real)
    real = b.emit("Sub", b.emit("Mul", size, b.emit("Cos", x.imag)), 1.0)
    return Pair(real, _wave(b, size, b.emit("Sin", x.imag)))


@_in_float64
def _log1p(b: Builder, x: Pair) -> Pair:
    """The logarithm of 1 + z as Paddle has it in float64, and so 0 where z is far below epsilon."""
    imag = b.emit("Where", b.emit("Equal", x.imag, 0.0), b.constant(0.0, "float64"), x.imag)  # -0 + 0 is 0
    return _log(b, Pair(b.emit("Add", x.real, 1.0), imag))


def _log_by(base: float) -> Callable[[Builder, Pair], Pair]:
    def scaled(b: Builder, x: Pair) -> Pair:
        """Divide by the logarithm of the base: of 2 zero's angle is NaN, as Paddle divides infinity (3.3.1)."""
        natural, factor = log(b, x), 1.0 / math.log(base)
        angle = b.emit("Mul", natural.imag, factor)
        if base == 2.0:
            angle = b.emit("Where", b.emit("IsInf", natural.real), b.constant(math.nan, angle.dtype), angle)
        return Pair(b.emit("Mul", natural.real, factor), angle)

    return scaled


def _roots(b: Builder, x: Pair) -> tuple[Pair, Pair]:
    """sqrt(1 - z) and sqrt(1 + z), by which Kahan writes the inverse functions (Branch Cuts, 1987)."""
    below = Pair(b.emit("Sub", 1.0, x.real), b.emit("Neg", x.imag))
    return _sqrt(b, below), _sqrt(b, Pair(b.emit("Add", x.real, 1.0), x.imag))


def _twisted(b: Builder, x: Pair, y: Pair) -> Tensor:
    """The imaginary part of x's conjugate times y."""
    return b.emit("Sub", b.emit("Mul", x.real, y.imag), b.emit("Mul", x.imag, y.real))


@_in_float64
def _acos(b: Builder, x: Pair) -> Pair:
    below, above = _roots(b, x)
    return Pair(b.emit("Mul", argument(b, Pair(above.real, below.real)), 2.0), asinh(b, _twisted(b, above, below)))


@_in_float64
def _asin(b: Builder, x: Pair) -> Pair:
    below, above = _roots(b, x)
    product = b.emit("Sub", b.emit("Mul", below.real, above.real), b.emit("Mul", below.imag, above.imag))
    return Pair(atan(b, b.emit("Div", x.real, product)), asinh(b, _twisted(b, below, above)))


@_in_float64
def _acosh(b: Builder, x: Pair) -> Pair:
    below = _sqrt(b, Pair(b.emit("Sub", x.real, 1.0), x.imag))
    above = _sqrt(b, Pair(b.emit("Add", x.real, 1.0), x.imag))
    real = b.emit("Add", b.emit("Mul", below.real, above.real), b.emit("Mul", below.imag, above.imag))
    return Pair(asinh(b, real), b.emit("Mul", argument(b, Pair(above.real, below.imag)), 2.0))


@_in_float64
def _atanh(b: Builder, x: Pair) -> Pair:
    """log1p(4 a / ((1 - a)² + b²)) / 4, with |a| and its sign; half of the angle of (1 - a) (1 + a) - b² + 2 b i."""
    size, square = b.emit("Abs", x.real), b.emit("Mul", x.imag, x.imag)
    away = b.emit("Sub", 1.0, size)
    bottom = b.emit("Add", b.emit("Mul", away, away), square)
    real = b.emit("Mul", log1p(b, b.emit("Div", b.emit("Mul", size, 4.0), bottom)), 0.25)
    inside = b.emit("Sub", b.emit("Mul", away, b.emit("Add", size, 1.0)), square)
    angle = argument(b, Pair(inside, b.emit("Mul", x.imag, 2.0)))
    return Pair(_signed(b, real, x.real), b.emit("Mul", angle, 0.5))


def _turned(make: Callable[[Builder, Pair], Pair]) -> Callable[[Builder, Pair], Pair]:
    """-i f(i z), as tan is of tanh."""

    def made(b: Builder, x: Pair) -> Pair:
        turned = make(b, Pair(b.emit("Neg", x.imag), x.real))
        return Pair(turned.imag, b.emit("Neg", turned.real))

    return made


#: By the operator's name.
FUNCTIONS: dict[str, Function] = {
    "exp": exp,
    "expm1": _expm1,
    "sin": _sin,
    "cos": _cos,
    "tan": _turned(_tanh),
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "asin": _asin,
    "acos": _acos,
    "atan": _turned(_atanh),
    "asinh": _turned(_asin),
    "acosh": _acosh,
    "atanh": _atanh,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "sign": _sign,
    "sqrt": _sqrt,
    "rsqrt": _rsqrt,
    "reciprocal": _reciprocal,
    "log": log,
    "log2": _log_by(2.0),
    "log10": _log_by(10.0),
    "log1p": _log1p,
}
