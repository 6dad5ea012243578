"""Logarithm of the gamma function, its derivatives and its incomplete form, computed in float64.

Formula numbers are those of Abramowitz and Stegun, Handbook of Mathematical Functions (A&S).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Graph, Tensor

#: B_2, B_4, ... (A&S 23.1)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
_EULER = 0.57721566490153286061
_HALF_LOG_2PI = 0.91893853320467274178
#: Above 20 Paddle's own n! is further from n! than 16 epsilon: it is exp(lgamma(n + 1)) in the tensor's dtype (3.3.1).
#: In float64 the power n + 1 of a cotangent costs as much above 8.
_MAX_ORDER = {"float32": 20, "float64": 8}
#: Turns after which an incomplete gamma function that has not converged is NaN. Some 7 * sqrt(a) are needed at x = a.
_MAX_TURNS = 20_000


def in_double(c: Call, at: int = 0) -> Tensor:
    """The operand in float64, which every function here is computed in; the walk rounds the result."""
    return c.b.cast(c.raw(at), "float64")


def polynomial(b: Builder, x: Tensor, numbers: Sequence[float]) -> Tensor:
    """numbers[0] + numbers[1] * x + ... by Horner's rule."""
    *rest, last = numbers
    value = b.constant(last, x.dtype)
    for number in reversed(rest):
        value = b.emit("Add", b.emit("Mul", x, value), number)
    return value


@cache
def _zeta_less_one(s: int) -> float:
    """zeta(s) - 1, by Euler and Maclaurin (A&S 23.2.23) after 19 terms."""
    start = 20.0
    total, term = start ** (1 - s) / (s - 1) + start**-s / 2, s * start ** (-s - 1)
    for at, number in enumerate(_BERNOULLI[:6], 1):
        total += number / math.factorial(2 * at) * term
        term *= (s + 2 * at - 1) * (s + 2 * at) / start**2
    return math.fsum([total, *(float(k) ** -s for k in range(2, 20))])


def _nearest(b: Builder, x: Tensor) -> Tensor:
    """X less the nearest integer, which is exact."""
    return b.emit("Sub", x, b.emit("Round", x))


def _is_pole(b: Builder, x: Tensor) -> Tensor:
    """Where x is zero, a negative integer or minus infinity."""
    return b.emit("And", b.emit("LessOrEqual", x, 0.0), b.emit("Equal", x, b.emit("Floor", x)))


def _lgamma_of_positive(b: Builder, x: Tensor) -> Tensor:
    """Log of gamma(x), without cancellation at its zeros 1 and 2.

    Up to 8.5 x is moved by an integer to 2 + z with |z| <= 1/2. The logarithm there is a series in z without a constant
    term (A&S 6.1.33); that of the product which the move costs (6.1.15) is added. Above 8.5 it is Stirling's (6.1.41).
    """
    whole = b.emit("Round", x)
    z = b.emit("Sub", x, whole)
    numbers = [1.0 - _EULER, *((-1) ** k * _zeta_less_one(k) / k for k in range(2, 28))]
    base = b.emit("Mul", z, polynomial(b, z, numbers))
    below = b.emit("Where", b.emit("Less", whole, 0.5), b.emit("Mul", x, b.emit("Add", x, 1.0)), x)
    above = b.emit("Where", b.emit("Greater", whole, 2.5), b.emit("Sub", x, 1.0), b.constant(1.0, "float64"))
    for step in range(2, 7):
        factor = b.emit("Where", b.emit("Greater", whole, step + 1.5), b.emit("Sub", x, float(step)), 1.0)
        above = b.emit("Mul", above, factor)
    is_below = b.emit("Less", whole, 1.5)
    log = b.emit("Log", b.emit("Where", is_below, below, above))
    near = b.emit("Where", is_below, b.emit("Sub", base, log), b.emit("Add", base, log))

    inverse = b.emit("Div", b.constant(1.0, "float64"), x)
    stirling = [number / (2 * k * (2 * k - 1)) for k, number in enumerate(_BERNOULLI[:8], 1)]
    rest = b.emit("Mul", inverse, polynomial(b, b.emit("Mul", inverse, inverse), stirling))
    grown = b.emit("Mul", b.emit("Sub", x, 0.5), b.emit("Sub", b.emit("Log", x), 1.0))
    far = b.emit("Add", b.emit("Add", grown, _HALF_LOG_2PI - 0.5), rest)
    return b.emit("Where", b.emit("Less", whole, 8.5), near, far)


def lgamma(b: Builder, x: Tensor) -> Tensor:
    """Log of |gamma(x)|; of negative x by reflection (A&S 6.1.17), infinite at the poles as in Paddle."""
    size = b.emit("Abs", x)
    found = _lgamma_of_positive(b, size)
    sine = b.emit("Abs", b.emit("Sin", b.emit("Mul", _nearest(b, x), math.pi)))
    logs = b.emit("Add", b.emit("Log", sine), b.emit("Log", size))
    turned = b.emit("Sub", b.emit("Sub", math.log(math.pi), logs), found)
    found = b.emit("Where", b.emit("Less", x, 0.0), turned, found)
    return b.emit("Where", _is_pole(b, x), math.inf, found)


def _cotangent(b: Builder, x: Tensor) -> Tensor:
    """Of pi * x."""
    angle = b.emit("Mul", _nearest(b, x), math.pi)
    return b.emit("Div", b.emit("Cos", angle), b.emit("Sin", angle))


def _digamma_of_positive(b: Builder, x: Tensor) -> Tensor:
    """The derivative of each part of `_lgamma_of_positive` (A&S 6.3.14, 6.3.6 and 6.3.18)."""
    one = b.constant(1.0, "float64")
    whole = b.emit("Round", x)
    z = b.emit("Sub", x, whole)
    near = polynomial(b, z, [1.0 - _EULER, *((-1) ** k * _zeta_less_one(k) for k in range(2, 28))])
    inverse = b.emit("Div", one, x)
    next_inverse = b.emit("Div", one, b.emit("Add", x, 1.0))
    near = b.emit("Sub", near, b.emit("Where", b.emit("Less", whole, 0.5), next_inverse, 0.0))
    near = b.emit("Sub", near, b.emit("Where", b.emit("Less", whole, 1.5), inverse, 0.0))
    for step in range(1, 7):
        above = b.emit("Div", one, b.emit("Sub", x, float(step)))
        near = b.emit("Add", near, b.emit("Where", b.emit("Greater", whole, step + 1.5), above, 0.0))

    square = b.emit("Mul", inverse, inverse)
    series = b.emit("Mul", square, polynomial(b, square, [n / (2 * k) for k, n in enumerate(_BERNOULLI[:8], 1)]))
    far = b.emit("Sub", b.emit("Log", x), b.emit("Add", b.emit("Mul", inverse, 0.5), series))
    return b.emit("Where", b.emit("Less", whole, 8.5), near, far)


def _digamma(b: Builder, x: Tensor) -> Tensor:
    """Of negative x by reflection (A&S 6.3.7).

    Paddle gives NaN at negative integers and minus infinity, -inf at 0 and inf at -0 (digamma_kernel_impl.h, 3.3.1).
    """
    is_negative = b.emit("Less", x, 0.0)
    found = _digamma_of_positive(b, b.emit("Where", is_negative, b.emit("Sub", 1.0, x), x))
    turned = b.emit("Sub", found, b.emit("Mul", _cotangent(b, x), math.pi))
    found = b.emit("Where", is_negative, turned, found)
    at_zero = b.emit("Neg", b.emit("Div", b.constant(1.0, "float64"), x))
    pole = b.emit("Where", is_negative, math.nan, at_zero)
    return b.emit("Where", _is_pole(b, x), pole, found)


def _derivative_of_cotangent(order: int) -> list[float]:
    """The numbers of the polynomial in cot(u) that is the derivative of cot(u): d cot / du = -(1 + cot²)."""
    numbers = [0, 1]
    for _ in range(order):
        slope = [k * number for k, number in enumerate(numbers)][1:]
        numbers = [-(low + high) for low, high in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return [float(number) for number in numbers]


def _hurwitz(b: Builder, s: int, x: Tensor) -> Tensor:
    """zeta(s, x) of positive x: terms up to x + steps, then Euler and Maclaurin, each term positive or small."""
    steps = 10 + s // 2
    power = b.constant(float(-s), "float64")
    total = b.emit("Pow", x, power)
    for step in range(1, steps):
        total = b.emit("Add", total, b.emit("Pow", b.emit("Add", x, float(step)), power))
    up = b.emit("Add", x, float(steps))
    inverse = b.emit("Div", b.constant(1.0, "float64"), up)
    numbers, rising = [], float(s)
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        numbers.append(bernoulli / math.factorial(2 * k) * rising)
        rising *= (s + 2 * k - 1) * (s + 2 * k)
    series = b.emit("Mul", inverse, polynomial(b, b.emit("Mul", inverse, inverse), numbers))
    tail = b.emit("Add", b.emit("Add", b.emit("Mul", up, 1.0 / (s - 1)), 0.5), series)
    return b.emit("Add", total, b.emit("Mul", b.emit("Pow", up, power), tail))


def _polygamma(c: Call) -> Tensor:
    """(-1)**(n + 1) n! zeta(n + 1, x) (A&S 6.4.10), and of negative x by reflection (6.4.7).

    Paddle gives an infinity of one sign at all poles and minus infinity, and NaN at infinity (3.3.1).
    """
    b, order, x = c.b, int(c.attr("n")), in_double(c)
    if not order:
        return _digamma(b, x)
    dtype = "float64" if c.result().dtype == "float64" else "float32"
    if not 0 <= order <= _MAX_ORDER[dtype]:
        raise c.refuse(f"its order n is {order}, and of {dtype} 0 to {_MAX_ORDER[dtype]} are written")
    sign = -1.0 if order % 2 == 0 else 1.0
    is_negative = b.emit("Less", x, 0.0)
    place = b.emit("Where", is_negative, b.emit("Sub", 1.0, x), x)
    found = b.emit("Mul", _hurwitz(b, order + 1, place), sign * math.factorial(order))
    slope = polynomial(b, _cotangent(b, x), _derivative_of_cotangent(order))
    turned = b.emit("Sub", b.emit("Mul", found, -sign), b.emit("Mul", slope, math.pi ** (order + 1)))
    found = b.emit("Where", is_negative, turned, found)
    found = b.emit("Where", b.emit("Equal", x, math.inf), math.nan, found)
    return b.emit("Where", _is_pole(b, x), sign * math.inf, found)


def _gammaincc(c: Call) -> Tensor:
    """Q(a, x) of operands a and x: 1 for x <= 0 or a <= 0, as in Paddle (gammaincc_kernel_impl.h, 3.3.1).

    Below a + 1 it is 1 less the power series (A&S 6.5.29), above a continued fraction (6.5.31), both in one loop until
    all elements have converged. An element that has not in `_MAX_TURNS` turns is NaN. The fraction is that of two
    recurrences (A&S 3.10.1) as in Paddle: a product of its steps would gather the rounding of each, some 20 epsilon.
    """
    b, a, x = c.b, in_double(c, 0), in_double(c, 1)
    tolerance = 2.0**-53 if c.result().dtype == "float64" else 1e-11
    one = b.constant(1.0, "float64")
    is_one = b.emit("Or", b.emit("LessOrEqual", x, 0.0), b.emit("LessOrEqual", a, 0.0))
    log = b.emit("Sub", b.emit("Sub", b.emit("Mul", a, b.emit("Log", x)), x), lgamma(b, a))
    factor = b.emit("Exp", log)  # x**a exp(-x) / gamma(a)
    is_series = b.emit("Less", x, b.emit("Add", a, 1.0))
    active = b.emit("And", b.emit("Not", is_one), b.emit("Greater", factor, 0.0))
    # Where the factor is 0 or NaN, the rest is anything finite.
    a, x = b.emit("Where", active, a, one), b.emit("Where", active, x, one)
    start = b.emit("Add", b.emit("Sub", x, a), 2.0)
    top, bottom = b.emit("Add", x, 1.0), b.emit("Mul", x, start)
    total = b.emit("Where", is_series, one, b.emit("Div", top, bottom))
    sizes = total.shape
    body, turn = Graph(), Tensor(b.name("turn"), "int64", ())
    running = Tensor(b.name("running"), "bool", ())
    before = [Tensor(b.name("state"), "float64", sizes) for _ in range(6)]
    waits_before = Tensor(b.name("waits"), "bool", sizes)
    body.inputs = [turn, running, *before, waits_before]
    outer, b.graph = b.graph, body
    at = b.emit("Add", b.cast(turn, "float64"), 1.0)
    summed, state = _one_turn(b, (a, x, b.emit("Add", start, b.emit("Mul", at, 2.0)), at), before, is_series)
    change = b.emit("Sub", b.emit("Div", before[0], summed), 1.0)
    waits = b.emit("And", waits_before, b.emit("Greater", b.emit("Abs", change), tolerance))
    count = b.reduce("ReduceSum", b.cast(waits, "int64"), None, False)
    after = [b.emit("Where", waits_before, summed, before[0]), *state, waits]
    body.outputs = [b.emit("Greater", count, 0), *(b.emit("Identity", value) for value in after)]
    b.graph = outer
    carried = [total, *(b.emit("Where", active, value, one) for value in (one, one, x, top, bottom)), active]
    most, always = b.constant(_MAX_TURNS), b.constant(True, "bool")
    total, *_, waits = b.many("Loop", most, always, *carried, shapes=[sizes] * 7, body=body)
    total, waits = replace(total, dtype="float64"), replace(waits, dtype="bool")

    lower_part = b.emit("Div", b.emit("Mul", factor, total), a)
    found = b.emit("Where", is_series, b.emit("Sub", one, lower_part), b.emit("Mul", factor, total))
    found = b.emit("Where", waits, math.nan, found)
    return b.emit("Where", is_one, one, found)


def _one_turn(
    b: Builder, now: tuple[Tensor, Tensor, Tensor, Tensor], before: Sequence[Tensor], is_series: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """The next sum, and what goes with it: the series' last term, and two of each of the fraction's recurrences.

    `now` is a, x, the fraction's next partial denominator x + 2 - a + 2 k, and k.
    """
    a, x, denominator, at = now
    total, term, top_before, bottom_before, top, bottom = before
    term = b.emit("Div", b.emit("Mul", term, x), b.emit("Add", a, at))
    numerator = b.emit("Mul", b.emit("Add", b.emit("Sub", 1.0, a), at), at)
    next_top = b.emit("Sub", b.emit("Mul", top, denominator), b.emit("Mul", top_before, numerator))
    next_bottom = b.emit("Sub", b.emit("Mul", bottom, denominator), b.emit("Mul", bottom_before, numerator))
    summed = b.emit("Where", is_series, b.emit("Add", total, term), b.emit("Div", next_top, next_bottom))
    is_large = b.emit("Greater", b.emit("Abs", next_top), 2.0**52)
    scale = b.emit("Where", is_large, b.constant(2.0**-52, "float64"), 1.0)
    return summed, [term, *(b.emit("Mul", value, scale) for value in (top, bottom, next_top, next_bottom))]


OPERATORS: dict[str, Lowering] = {
    "lgamma": lambda c: lgamma(c.b, in_double(c)),
    "gammaln": lambda c: lgamma(c.b, in_double(c)),
    "digamma": lambda c: _digamma(c.b, in_double(c)),
    "polygamma": _polygamma,
    "gammaincc": _gammaincc,
}
