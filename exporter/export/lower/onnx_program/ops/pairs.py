"""Complex values as pairs of real tensors, and Fourier transforms as products with matrices of cosines and sines.

ONNX Runtime computes no complex numbers. A transform over n places costs n² products instead of n·log n.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from exporter.export.lower.onnx_program.call import Call, Lowered, Lowering
from exporter.export.lower.onnx_program.graph import FLOATS_OF, Builder, Pair, Tensor
from exporter.export.lower.onnx_program.ops.linear import einsum, kron, product
from exporter.export.lower.onnx_program.ops.pointwise import atan, expm1, log1p
from exporter.export.lower.onnx_program.ops.shape import converted

#: Done to both parts alike; where the result is real (`shape64`, `full_like` in float32), to the real one alone.
TO_BOTH = frozenset(
    """
assign share_data_ memcpy memcpy_h2d memcpy_d2h reshape transpose slice strided_slice concat stack unsqueeze squeeze
expand expand_as gather gather_nd index_select flip roll split split_with_num unbind unstack flatten tile add subtract
add_n sum mean cumsum diagonal tril triu trace broadcast_tensors diag diag_embed where masked_fill pad pad3d set_value
set_value_with_tensor index_put full full_like full_with_tensor full_batch_size_like empty eye assign_value shape
shape64 numel
""".split()
)
#: Of those that compute with several values: which operands these are. A real one has an imaginary part of zeros.
VALUES = {
    **dict.fromkeys(("add", "subtract", "set_value_with_tensor", "pad"), (0, 1)),
    **{"where": (1, 2), "masked_fill": (0, 2), "index_put": (0, 2), "full_like": (1,), "full_with_tensor": (0,)},
}
#: Attributes that are numbers of the result: a real one has an imaginary part of zero, a complex one is a list of two.
NUMBERS = frozenset(("value", "values", "pad_value", "padding_value"))


def _times(b: Builder, x: Pair, y: Pair, way: Callable[[Tensor, Tensor], Tensor]) -> Pair:
    """Pair by pair: a product of any kind."""
    real = b.emit("Sub", way(x.real, y.real), way(x.imag, y.imag))
    return Pair(real, b.emit("Add", way(x.real, y.imag), way(x.imag, y.real)))


def _by_parts(way: Callable[[Call, Tensor, Tensor], Tensor]) -> Lowering:
    """What is linear in both operands."""
    return lambda c: _times(c.b, c.pair(0), c.pair(1), lambda x, y: way(c, x, y))


def _einsum(c: Call) -> list[Lowered]:
    """The sum over each choice of parts, times i for each imaginary one."""
    b, parts = c.b, c.pairs(0)
    sums: dict[int, Tensor] = {}
    for chosen in itertools.product((0, 1), repeat=len(parts)):
        given = [part.imag if turned else part.real for turned, part in zip(chosen, parts, strict=True)]
        term = einsum(c, given)
        into, back = sum(chosen) % 2, sum(chosen) % 4 > 1
        first = b.emit("Neg", term) if back else term
        sums[into] = b.emit("Sub" if back else "Add", sums[into], term) if into in sums else first
    return [Pair(sums[0], sums[1])]


def _matmul(c: Call) -> Pair:
    b = c.b

    def turned(x: Tensor, name: str) -> Tensor:
        swap = c.attr(name) and x.rank > 1
        return b.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2]) if swap else x

    def way(x: Tensor, y: Tensor) -> Tensor:
        return product(b, turned(x, "transpose_x"), turned(y, "transpose_y"))

    return _times(b, c.pair(0), c.pair(1), way)


def _power(c: Call) -> Pair:
    """By a whole number that is known, times itself; else e to the exponent times the logarithm, and zero of zero."""
    b, base, exponent = c.b, c.pair(0), c.pair(1)
    if (known := _whole(exponent)) is not None:
        made = base
        for _ in range(known - 1):
            made = _times(b, made, base, lambda x, y: b.emit("Mul", x, y))
        return made
    logarithm = _log_by(math.e)(b, base)
    made = _exp(b, _times(b, exponent, logarithm, lambda x, y: b.emit("Mul", x, y)))
    nothing = b.emit("Equal", modulus(b, base), 0.0)
    zero = b.constant(0.0, base.real.dtype)
    return Pair(b.emit("Where", nothing, zero, made.real), b.emit("Where", nothing, zero, made.imag))


def _whole(exponent: Pair) -> int | None:
    """The real number from 1 to 8 that an exponent is known to be."""
    real, imag = exponent.real, exponent.imag
    if real.rank or imag.rank or real.array is None or imag.array is None or imag.array.any():
        return None
    number = float(real.array.ravel()[0])
    return int(number) if number in range(1, 9) else None


def _cast(c: Call) -> Tensor | Pair:
    """To a real dtype the real part; to bool whether either part is not zero."""
    c.ignore("dtype")
    b, x, dtype = c.b, c.pair(0), c.result().dtype
    if dtype in FLOATS_OF:
        return Pair(b.cast(x.real, FLOATS_OF[dtype]), b.cast(x.imag, FLOATS_OF[dtype]))
    return (
        b.emit("Or", b.cast(x.real, "bool"), b.cast(x.imag, "bool")) if dtype == "bool" else converted(b, x.real, dtype)
    )


def _square(b: Builder, x: Pair) -> Tensor:
    return b.emit("Add", b.emit("Mul", x.real, x.real), b.emit("Mul", x.imag, x.imag))


def modulus(b: Builder, x: Pair) -> Tensor:
    """The larger part times the root of 1 + (smaller / larger)², which does not overflow."""
    one, two = b.emit("Abs", x.real), b.emit("Abs", x.imag)
    large, small = b.emit("Max", one, two), b.emit("Min", one, two)
    ratio = b.emit("Div", small, b.emit("Where", b.emit("Equal", large, 0.0), 1.0, large))
    return b.emit("Mul", large, b.emit("Sqrt", b.emit("Add", b.emit("Mul", ratio, ratio), 1.0)))


def _divide(c: Call) -> Pair:
    b, x, y = c.b, c.pair(0), c.pair(1)
    bottom = _square(b, y)
    top = _times(b, x, Pair(y.real, b.emit("Neg", y.imag)), lambda one, two: b.emit("Mul", one, two))
    return Pair(b.emit("Div", top.real, bottom), b.emit("Div", top.imag, bottom))


def _scale(c: Call) -> Pair:
    b, x, factor, bias = c.b, c.pair(0), c.number(1), float(c.attr("bias"))
    if c.attr("bias_after_scale"):
        return Pair(b.emit("Add", b.emit("Mul", x.real, factor), bias), b.emit("Mul", x.imag, factor))
    return Pair(b.emit("Mul", b.emit("Add", x.real, bias), factor), b.emit("Mul", x.imag, factor))


def _exp(b: Builder, x: Pair) -> Pair:
    size = b.emit("Exp", x.real)
    return Pair(b.emit("Mul", size, b.emit("Cos", x.imag)), b.emit("Mul", size, b.emit("Sin", x.imag)))


def _expm1(b: Builder, x: Pair) -> Pair:
    """The real part is expm1(a) cos(b) - 2 sin²(b / 2)."""
    half = b.emit("Sin", b.emit("Mul", x.imag, 0.5))
    lost = b.emit("Mul", b.emit("Mul", half, half), 2.0)
    real = b.emit("Sub", b.emit("Mul", expm1(b, x.real), b.emit("Cos", x.imag)), lost)
    return Pair(real, b.emit("Mul", b.emit("Exp", x.real), b.emit("Sin", x.imag)))


def _half_exp(b: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    """(cosh, sinh), of which ONNX Runtime has neither in float64."""
    grown = expm1(b, b.emit("Abs", x))
    other = b.emit("Sub", 1.0, b.emit("Div", 1.0, b.emit("Add", grown, 1.0)))
    sinh = b.emit("Mul", b.emit("Sign", x), b.emit("Mul", b.emit("Add", grown, other), 0.5))
    cosh = b.emit("Mul", b.emit("Add", b.emit("Exp", x), b.emit("Exp", b.emit("Neg", x))), 0.5)
    return cosh, sinh


def _sin(b: Builder, x: Pair) -> Pair:
    cosh, sinh = _half_exp(b, x.imag)
    return Pair(b.emit("Mul", b.emit("Sin", x.real), cosh), b.emit("Mul", b.emit("Cos", x.real), sinh))


def _cos(b: Builder, x: Pair) -> Pair:
    cosh, sinh = _half_exp(b, x.imag)
    imag = b.emit("Neg", b.emit("Mul", b.emit("Sin", x.real), sinh))
    return Pair(b.emit("Mul", b.emit("Cos", x.real), cosh), imag)


def _sinh(b: Builder, x: Pair) -> Pair:
    cosh, sinh = _half_exp(b, x.real)
    return Pair(b.emit("Mul", sinh, b.emit("Cos", x.imag)), b.emit("Mul", cosh, b.emit("Sin", x.imag)))


def _cosh(b: Builder, x: Pair) -> Pair:
    cosh, sinh = _half_exp(b, x.real)
    return Pair(b.emit("Mul", cosh, b.emit("Cos", x.imag)), b.emit("Mul", sinh, b.emit("Sin", x.imag)))


def _tanh(b: Builder, x: Pair) -> Pair:
    """sinh(2a) / (cosh(2a) + cos(2b)) + i sin(2b) / (cosh(2a) + cos(2b)), divided by cosh(2a) throughout."""
    double = Pair(b.emit("Mul", x.real, 2.0), b.emit("Mul", x.imag, 2.0))
    cosh, _ = _half_exp(b, double.real)
    bottom = b.emit("Add", 1.0, b.emit("Div", b.emit("Cos", double.imag), cosh))
    real = b.emit("Div", b.emit("Tanh", double.real), bottom)
    return Pair(real, b.emit("Div", b.emit("Div", b.emit("Sin", double.imag), cosh), bottom))


def _sigmoid(b: Builder, x: Pair) -> Pair:
    """(1 + tanh(x / 2)) / 2."""
    half = _tanh(b, Pair(b.emit("Mul", x.real, 0.5), b.emit("Mul", x.imag, 0.5)))
    return Pair(b.emit("Mul", b.emit("Add", half.real, 1.0), 0.5), b.emit("Mul", half.imag, 0.5))


def _sqrt(b: Builder, x: Pair) -> Pair:
    """sqrt((|z| + |a|) / 2) is one part, b / (2 · that) the other; which is which, the sign of a says."""
    size = b.emit("Sqrt", b.emit("Mul", b.emit("Add", modulus(b, x), b.emit("Abs", x.real)), 0.5))
    safe = b.emit("Where", b.emit("Equal", size, 0.0), 1.0, size)
    other = b.emit("Div", b.emit("Abs", x.imag), b.emit("Mul", safe, 2.0))
    ahead = b.emit("GreaterOrEqual", x.real, 0.0)
    upper = b.emit("Where", ahead, other, size)
    imag = b.emit("Where", b.emit("Less", x.imag, 0.0), b.emit("Neg", upper), upper)
    return Pair(b.emit("Where", ahead, size, other), imag)


def _rsqrt(b: Builder, x: Pair) -> Pair:
    root = _sqrt(b, x)
    bottom = _square(b, root)
    return Pair(b.emit("Div", root.real, bottom), b.emit("Neg", b.emit("Div", root.imag, bottom)))


def _argument(b: Builder, x: Pair) -> Tensor:
    """The angle, as twice atan(b / (|z| + a)), or of the other half plane."""
    turn = b.emit("Where", b.emit("Less", x.imag, 0.0), b.constant(-math.pi, x.real.dtype), math.pi)
    ratio = atan(b, b.emit("Div", x.imag, x.real))
    upright = b.emit("Mul", b.emit("Sign", x.imag), math.pi / 2)
    near = b.emit("Where", b.emit("Less", x.real, 0.0), b.emit("Add", ratio, turn), ratio)
    return b.emit("Where", b.emit("Equal", x.real, 0.0), upright, near)


def _log_by(base: float) -> Callable[[Builder, Pair], Pair]:
    def made(b: Builder, x: Pair) -> Pair:
        factor = 1.0 / math.log(base)
        size = b.emit("Log", modulus(b, x))
        angle = _argument(b, x)
        return Pair(size, angle) if base == math.e else Pair(b.emit("Mul", size, factor), b.emit("Mul", angle, factor))

    return made


def _log1p(b: Builder, x: Pair) -> Pair:
    """Half of log1p(a (a + 2) + b²), and the angle of 1 + z."""
    over = b.emit("Add", b.emit("Mul", x.real, b.emit("Add", x.real, 2.0)), b.emit("Mul", x.imag, x.imag))
    return Pair(b.emit("Mul", log1p(b, over), 0.5), _argument(b, Pair(b.emit("Add", x.real, 1.0), x.imag)))


def _of_one(make: Callable[[Builder, Pair], Pair | Tensor]) -> Lowering:
    return lambda c: make(c.b, c.pair(0))


def _as_complex(c: Call) -> Pair:
    b, x = c.b, c.x()
    return Pair(*(b.squeeze(b.slice(x, [at], [at + 1], [-1]), [-1]) for at in (0, 1)))


def _as_real(c: Call) -> Tensor:
    b, x = c.b, c.pair(0)
    return b.concat([b.unsqueeze(part, [part.rank]) for part in (x.real, x.imag)], x.real.rank)


def _complex(c: Call) -> Pair:
    """Both parts, broadcast."""
    b, real, imag = c.b, c.x(0), c.x(1)
    shape = b.shape_of(b.emit("Add", b.emit("Mul", real, 0.0), b.emit("Mul", imag, 0.0)))
    wanted = c.result().shape
    return Pair(b.expand(real, shape, wanted), b.expand(imag, shape, wanted))


def _equal(negated: bool) -> Lowering:
    def lower(c: Call) -> Tensor:
        x, y = c.pair(0), c.pair(1)
        same = c.b.emit("And", c.b.emit("Equal", x.real, y.real), c.b.emit("Equal", x.imag, y.imag))
        return c.b.emit("Not", same) if negated else same

    return lower


def _any_part(kind: str) -> Lowering:
    def lower(c: Call) -> Tensor:
        b, x = c.b, c.pair(0)
        either = b.emit("Or", b.emit(kind, x.real), b.emit(kind, x.imag))
        return either

    return lower


def _finite(c: Call) -> Tensor:
    b, x = c.b, c.pair(0)
    odd = [b.emit("Or", b.emit("IsNaN", part), b.emit("IsInf", part)) for part in (x.real, x.imag)]
    return b.emit("Not", b.emit("Or", *odd))


def _reciprocal(b: Builder, x: Pair) -> Pair:
    bottom = _square(b, x)
    return Pair(b.emit("Div", x.real, bottom), b.emit("Neg", b.emit("Div", x.imag, bottom)))


OPERATORS: dict[str, Lowering] = {
    "as_complex": _as_complex,
    "complex": _complex,
    "as_real": _as_real,
    "real": lambda c: c.b.emit("Identity", c.pair(0).real),
    "imag": lambda c: c.b.emit("Identity", c.pair(0).imag),
    "conj": _of_one(lambda b, x: Pair(b.emit("Identity", x.real), b.emit("Neg", x.imag))),
    "abs": lambda c: modulus(c.b, c.pair(0)),
    "angle": _of_one(_argument),
    "cast": _cast,
    "multiply": _by_parts(lambda c, x, y: c.b.emit("Mul", x, y)),
    "square": _of_one(lambda b, x: _times(b, x, x, lambda one, two: b.emit("Mul", one, two))),
    "elementwise_pow": _power,
    "divide": _divide,
    "matmul": _matmul,
    "bmm": _matmul,
    "mv": _matmul,
    "dot": _by_parts(lambda c, x, y: c.b.reduce("ReduceSum", c.b.emit("Mul", x, y), [-1], keep=False)),
    "kron": _by_parts(kron),
    "einsum": _einsum,
    "scale": _scale,
    "exp": _of_one(_exp),
    "expm1": _of_one(_expm1),
    "sin": _of_one(_sin),
    "cos": _of_one(_cos),
    "sinh": _of_one(_sinh),
    "cosh": _of_one(_cosh),
    "tanh": _of_one(_tanh),
    "sigmoid": _of_one(_sigmoid),
    "sqrt": _of_one(_sqrt),
    "rsqrt": _of_one(_rsqrt),
    "reciprocal": _of_one(_reciprocal),
    "log": _of_one(_log_by(math.e)),
    "log2": _of_one(_log_by(2.0)),
    "log10": _of_one(_log_by(10.0)),
    "log1p": _of_one(_log1p),
    "equal": _equal(negated=False),
    "not_equal": _equal(negated=True),
    "isnan": _any_part("IsNaN"),
    "isinf": _any_part("IsInf"),
    "isfinite": _finite,
}
