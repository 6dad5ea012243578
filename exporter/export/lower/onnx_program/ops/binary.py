"""Functions of two tensors that broadcast: arithmetic, comparison, logic, bits."""

from __future__ import annotations

import math
from collections.abc import Callable

from exporter.export.lower.onnx_program.call import Call, Lowering, wide
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.pointwise import atan

#: The order in which Paddle promotes (`paddle/phi/common/type_promotion.h`, 3.3.1): an integer never widens a float.
_ORDER = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")


def pair(c: Call) -> tuple[Tensor, Tensor]:
    """Both operands in the dtype of the result, widened."""
    dtype = wide(c.result().dtype)
    return c.b.cast(c.raw(0), dtype), c.b.cast(c.raw(1), dtype)


def promoted(c: Call) -> tuple[Tensor, Tensor]:
    """Both operands in the dtype that Paddle promotes them to, widened."""
    x, y = c.raw(0), c.raw(1)
    dtype = wide(max(x.dtype, y.dtype, key=_ORDER.index))
    return c.b.cast(x, dtype), c.b.cast(y, dtype)


def _arithmetic(kind: str, of_bool: str = "") -> Lowering:
    def lower(c: Call) -> Tensor:
        if c.result().dtype == "bool":
            if not of_bool:
                raise c.refuse("bool tensors are not computed with here")
            return c.b.emit(of_bool, *pair(c))
        return c.b.emit(kind, *pair(c))

    return lower


def _compare(kind: str) -> Lowering:
    """Of bool ONNX has Equal alone."""

    def lower(c: Call) -> Tensor:
        x, y = promoted(c)
        if x.dtype == "bool" and kind not in ("Equal", "NotEqual"):
            x, y = c.b.cast(x, "int32"), c.b.cast(y, "int32")
        return c.b.emit("Not", c.b.emit("Equal", x, y)) if kind == "NotEqual" else c.b.emit(kind, x, y)

    return lower


def _logical(kind: str) -> Lowering:
    return lambda c: c.b.emit(kind, c.b.cast(c.x(0), "bool"), c.b.cast(c.x(1), "bool"))


def floor_mod(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """The remainder with the divisor's sign."""
    if not x.is_float:
        return b.emit("Mod", x, y)
    left = b.emit("Mod", x, y, fmod=1)
    other = b.emit("Xor", b.emit("Less", y, 0.0), b.emit("Less", left, 0.0))
    off = b.emit("And", b.emit("Not", b.emit("Equal", left, 0.0)), other)
    return b.emit("Where", off, b.emit("Add", left, y), left)


def floor_div(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """(x - x mod y) / y, rounded to the nearest: exact of integers, and of floats as Paddle's kernel computes it."""
    even = b.emit("Div", b.emit("Sub", x, floor_mod(b, x, y)), y)
    return b.emit("Round", even) if x.is_float else even


def _fmax(best: str) -> Lowering:
    """NaN loses against a number."""

    def lower(c: Call) -> Tensor:
        b = c.b
        x, y = pair(c)
        found = b.emit(best, x, y)
        if not x.is_float:
            return found
        return b.emit("Where", b.emit("IsNaN", x), y, b.emit("Where", b.emit("IsNaN", y), x, found))

    return lower


def _heaviside(c: Call) -> Tensor:
    b = c.b
    x, y = pair(c)
    return b.emit("Where", b.emit("Equal", x, 0.0), y, b.cast(b.emit("Greater", x, 0.0), x.dtype))


def _copysign(c: Call) -> Tensor:
    """The sign of -0.0 is that of 1 / -0.0."""
    b = c.b
    x, y = pair(c)
    under = b.emit("Less", b.emit("Div", 1.0, y), 0.0)
    negative = b.emit("Or", b.emit("Less", y, 0.0), b.emit("And", b.emit("Equal", y, 0.0), under))
    size = b.emit("Abs", x)
    return b.emit("Where", negative, b.emit("Neg", size), size)


def _nextafter(c: Call) -> Tensor:
    """X moved by somewhat more than half a step, which rounding makes a whole one (Rump's successor).

    A step is at most 2 u |x|, with u = 2**-24 or 2**-53, and next to a power of two the lower one is half of it: u |x|
    and a little more is more than half of a step and less than one and a half. Float32 is moved in float64. Float64 is
    moved after a scaling by 2**200 where it is small, so that u |x| is exact; below 2**-1021 all steps are 2**-1074.
    """
    b = c.b
    x, y = pair(c)
    if x.dtype == "float32":
        wide_x, wide_y = b.cast(x, "float64"), b.cast(y, "float64")
        far = b.emit("Max", b.emit("Mul", b.emit("Abs", wide_x), 2.0**-24 * (1 + 2.0**-23)), 0.75 * 2.0**-149)
        moved = b.cast(
            b.emit("Add", wide_x, b.emit("Mul", far, b.emit("Sign", b.emit("Sub", wide_y, wide_x)))), x.dtype
        )
    else:
        sign = b.emit("Where", b.emit("Less", x, y), 1.0, b.constant(-1.0, x.dtype))
        size, unit = b.emit("Abs", x), 2.0**-53 * (1 + 2.0**-52)
        scaled = b.emit("Mul", x, 2.0**200)
        step = b.emit("Mul", b.emit("Mul", b.emit("Abs", scaled), unit), sign)
        small = b.emit("Mul", b.emit("Add", scaled, step), 2.0**-200)
        tiny = b.emit("Add", x, b.emit("Mul", sign, 2.0**-1074))
        moved = b.emit("Add", x, b.emit("Mul", b.emit("Mul", size, unit), sign))
        moved = b.emit("Where", b.emit("Less", size, 2.0**-900), small, moved)
        moved = b.emit("Where", b.emit("Less", size, 2.0**-1021), tiny, moved)
    largest = {"float32": (2 - 2.0**-23) * 2.0**127, "float64": (2 - 2.0**-52) * 2.0**1023}[x.dtype]
    from_infinity = b.emit("Mul", b.emit("Sign", x), largest)
    moved = b.emit("Where", b.emit("IsInf", x), from_infinity, moved)
    either = b.emit("Or", b.emit("IsNaN", x), b.emit("IsNaN", y))
    moved = b.emit("Where", either, math.nan, moved)
    return b.emit("Where", b.emit("Equal", x, y), y, moved)


def _atan2(c: Call) -> Tensor:
    """atan(y / x), turned by pi where x is negative; the sign of a zero y is not seen."""
    b = c.b
    y, x = pair(c)
    turn = b.emit("Where", b.emit("Less", y, 0.0), b.constant(-math.pi, x.dtype), b.constant(math.pi, x.dtype))
    base = atan(b, b.emit("Div", y, x))
    found = b.emit("Where", b.emit("Less", x, 0.0), b.emit("Add", base, turn), base)
    both = b.emit("And", b.emit("Equal", x, 0.0), b.emit("Equal", y, 0.0))
    return b.emit("Where", both, 0.0, found)


def _bits(kind: str, of_bool: str) -> Lowering:
    def lower(c: Call) -> Tensor:
        x, y = pair(c)
        if x.dtype == "bool":
            return c.b.emit(of_bool, x, y)
        c.since(18, f"{kind} of integers")
        return c.b.emit(kind, x, y)

    return lower


def _bitwise_not(c: Call) -> Tensor:
    """-1 - x of integers, in two's complement."""
    x = c.x()
    return c.b.emit("Not", x) if x.dtype == "bool" else c.b.emit("Sub", c.b.constant(-1, x.dtype), x)


def _shift(left: bool) -> Lowering:
    """X * 2**y, or x / 2**y rounded down, in int64; 2**y is made of two halves, since 2**63 is no int64.

    By as many bits as the dtype has, or by fewer than 0, nothing is left but the sign (measured, 3.3.1). A logical
    shift to the right puts zeros in: x is taken for the unsigned number of its bits.
    """

    def lower(c: Call) -> Tensor:
        b, dtype = c.b, c.result().dtype
        bits = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64}[dtype]
        x, y = (b.cast(c.raw(at), "int64") for at in (0, 1))
        if not c.attr("is_arithmetic", True) and not left:
            if bits == 64:
                raise c.refuse("is_arithmetic = False of int64 is not written")
            x = b.emit("Where", b.emit("Less", x, 0), b.emit("Add", x, 2**bits), x)
        is_inside = b.emit("And", b.emit("GreaterOrEqual", y, 0), b.emit("Less", y, bits))
        y = b.emit("Where", is_inside, y, 0)
        half = b.emit("Div", y, 2)
        gone = b.constant(0, "int64") if left else b.emit("Neg", b.cast(b.emit("Less", x, 0), "int64"))
        for part in (half, b.emit("Sub", y, half)):
            power = b.emit("Pow", b.constant(2, "int64"), part)
            x = b.emit("Mul", x, power) if left else floor_div(b, x, power)
        return b.emit("Where", is_inside, x, gone)

    return lower


def close(c: Call) -> Tensor:
    """|x - y| <= atol + rtol |y|, in float64 as Paddle's kernel (isclose_kernel_impl.h, 3.3.1)."""
    b = c.b
    x, y = (b.cast(one, "float64") for one in promoted(c))
    rtol, atol = c.number(2), c.number(3)
    bound = b.emit("Add", b.emit("Mul", b.emit("Abs", y), rtol), atol)
    near = b.emit("LessOrEqual", b.emit("Abs", b.emit("Sub", x, y)), bound)
    found = b.emit("Or", b.emit("Equal", x, y), near)
    if c.attr("equal_nan"):
        found = b.emit("Or", found, b.emit("And", b.emit("IsNaN", x), b.emit("IsNaN", y)))
    return found


def _lerp(c: Call) -> Tensor:
    b = c.b
    x, y = pair(c)
    return b.emit("Add", x, b.emit("Mul", b.cast(c.raw(2), x.dtype), b.emit("Sub", y, x)))


def _add_n(c: Call) -> Tensor:
    total, *others = c.xs()
    for part in others:
        total = c.b.emit("Add", total, part)
    return total


def _plain(make: Callable[[Builder, Tensor, Tensor], Tensor]) -> Lowering:
    return lambda c: make(c.b, *pair(c))


OPERATORS: dict[str, Lowering] = {
    "add": _arithmetic("Add", "Or"),
    "subtract": _arithmetic("Sub"),
    "multiply": _arithmetic("Mul", "And"),
    "divide": _arithmetic("Div"),
    "maximum": _arithmetic("Max", "Or"),
    "minimum": _arithmetic("Min", "And"),
    "elementwise_pow": _arithmetic("Pow"),
    "remainder": _plain(floor_mod),
    "floor_divide": _plain(floor_div),
    "fmax": _fmax("Max"),
    "fmin": _fmax("Min"),
    "heaviside": _heaviside,
    "copysign": _copysign,
    "nextafter": _nextafter,
    "atan2": _atan2,
    "equal": _compare("Equal"),
    "not_equal": _compare("NotEqual"),
    "greater_than": _compare("Greater"),
    "greater_equal": _compare("GreaterOrEqual"),
    "less_than": _compare("Less"),
    "less_equal": _compare("LessOrEqual"),
    "logical_and": _logical("And"),
    "logical_or": _logical("Or"),
    "logical_xor": _logical("Xor"),
    "logical_not": lambda c: c.b.emit("Not", c.b.cast(c.x(), "bool")),
    "bitwise_and": _bits("BitwiseAnd", "And"),
    "bitwise_or": _bits("BitwiseOr", "Or"),
    "bitwise_xor": _bits("BitwiseXor", "Xor"),
    "bitwise_not": _bitwise_not,
    "bitwise_left_shift": _shift(left=True),
    "bitwise_right_shift": _shift(left=False),
    "isclose": close,
    "lerp": _lerp,
    "add_n": _add_n,
}
