"""Special functions of each element, computed in float64: the inverse of erf, and modified Bessel functions."""

from __future__ import annotations

import math

from exporter.export.lower.onnx_program.call import Call, Lowering, wide
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops import gamma
from exporter.export.lower.onnx_program.ops.gamma import in_double, polynomial

#: Quantiles of the normal distribution as ratios of polynomials: Wichura's PPND16 (Applied Statistics 37 (1988), 477).
_CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_FAR = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip
#: The sizes up to which the power series of a Bessel function is summed; there the smallest term of the asymptotic
#: series is below half an epsilon: some exp(-2 x).
_BESSEL_SERIES_TO = {"float32": 12.0, "float64": 20.0}
#: The argument of that series is divided by it, which is exact. The numbers would be tiny without: ONNX Runtime 1.31
#: leaves out the addition of a float64 that is 0 in float32.
_SCALE = 16.0
_FLOAT32_MAX = 3.4028234663852886e38

Ratio = tuple[tuple[float, ...], tuple[float, ...]]


def _ratio(b: Builder, x: Tensor, ratio: Ratio) -> Tensor:
    return b.emit("Div", polynomial(b, x, ratio[0]), polynomial(b, x, ratio[1]))


def _erfinv(c: Call) -> Tensor:
    """The normal quantile of (1 + x) / 2, over sqrt(2); infinite from 1 on as in Paddle (3.3.1).

    (1 + x) / 2 is never made, so that small values and those close to 1 keep their digits.
    """
    b, x = c.b, in_double(c)
    size = b.emit("Abs", x)
    half = b.emit("Mul", x, 0.5)
    centre = b.emit("Mul", half, _ratio(b, b.emit("Sub", 0.180625, b.emit("Mul", half, half)), _CENTRE))
    depth = b.emit("Sqrt", b.emit("Neg", b.emit("Log", b.emit("Mul", b.emit("Sub", 1.0, size), 0.5))))
    tail = _ratio(b, b.emit("Sub", depth, 1.6), _TAIL)
    if c.result().dtype == "float64":  # no float32 below 1 is as close to it
        far = _ratio(b, b.emit("Sub", depth, 5.0), _FAR)
        tail = b.emit("Where", b.emit("Greater", depth, 5.0), far, tail)
    tail = b.emit("Where", b.emit("GreaterOrEqual", size, 1.0), math.inf, tail)
    tail = b.emit("Mul", tail, b.emit("Sign", x))
    found = b.emit("Where", b.emit("LessOrEqual", size, 0.85), centre, tail)
    return b.emit("Mul", found, math.sqrt(0.5))


def _bessel(order: int, scaled: bool) -> Lowering:
    """I0 or I1, or one of them times exp(-|x|).

    The power series (A&S 9.6.10) has positive terms alone; above, it is the asymptotic one (9.7.1). As in Paddle,
    I0 and I1 are infinite where exp(|x|) is, in the dtype of the result, and NaN at infinity (3.3.1).
    """

    def lower(c: Call) -> Tensor:
        b, x, is_single = c.b, in_double(c), wide(c.result().dtype) != "float64"
        size = b.emit("Abs", x)
        bound = _BESSEL_SERIES_TO["float32" if is_single else "float64"]
        tolerance = 1e-11 if is_single else 1e-18
        is_near = b.emit("LessOrEqual", size, bound)

        near = b.emit("Where", is_near, size, bound)
        numbers = _power_series(order, bound, tolerance)
        part = b.emit("Mul", near, 1.0 / _SCALE)
        series = polynomial(b, b.emit("Mul", part, part), numbers)
        if order:
            series = b.emit("Mul", series, b.emit("Mul", near, 0.5))
        far = b.emit("Where", is_near, bound, size)
        inverse = b.emit("Div", b.constant(1.0, "float64"), far)
        tail = polynomial(b, inverse, _asymptotic_series(order, bound, tolerance))
        tail = b.emit("Mul", tail, b.emit("Sqrt", b.emit("Mul", inverse, 0.5 / math.pi)))

        if scaled:
            found = b.emit("Where", is_near, b.emit("Mul", series, b.emit("Exp", b.emit("Neg", near))), tail)
        else:
            grown = b.emit("Exp", far)
            if is_single:
                grown = b.emit("Where", b.emit("Greater", grown, _FLOAT32_MAX), math.inf, grown)
            found = b.emit("Where", is_near, series, b.emit("Mul", tail, grown))
        return b.emit("Mul", found, b.emit("Sign", x)) if order else found

    return lower


def _power_series(order: int, bound: float, tolerance: float) -> list[float]:
    """The numbers of (x / 16)**(2 k), that is 64**k / (k! (k + order)!), while they count at the bound."""
    numbers, terms = [1.0], [1.0]
    while terms[-1] > tolerance * math.fsum(terms):
        at = len(numbers)
        numbers.append(numbers[-1] * (_SCALE * _SCALE / 4) / (at * (at + order)))
        terms.append(numbers[-1] * (bound / _SCALE) ** (2 * at))
    return numbers


def _asymptotic_series(order: int, bound: float, tolerance: float) -> list[float]:
    """The numbers of 1/x**k, until at the bound a term is small or the terms grow."""
    numbers, last = [1.0], 1.0
    while True:
        at = len(numbers)
        number = -numbers[-1] * (4 * order * order - (2 * at - 1) ** 2) / (8 * at)
        term = abs(number) * bound**-at
        if term > last:
            return numbers
        numbers.append(number)
        if term < tolerance:
            return numbers
        last = term


OPERATORS: dict[str, Lowering] = {
    **gamma.OPERATORS,
    "erfinv": _erfinv,
    "i0": _bessel(0, False),
    "i0e": _bessel(0, True),
    "i1": _bessel(1, False),
    "i1e": _bessel(1, True),
}
