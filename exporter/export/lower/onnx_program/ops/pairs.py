"""Complex values as pairs of real tensors, and Fourier transforms as products with matrices of cosines and sines.

ONNX Runtime computes no complex numbers. A transform over n places costs n² products instead of n·log n.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from exporter.export.lower.onnx_program.call import Call, Lowered, Lowering
from exporter.export.lower.onnx_program.graph import FLOATS_OF, Builder, Pair, Tensor
from exporter.export.lower.onnx_program.ops import analytic
from exporter.export.lower.onnx_program.ops.linear import einsum, kron, product
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


def _by_parts(way: Callable[[Call, Tensor, Tensor], Tensor]) -> Lowering:
    """What is linear in both operands."""
    return lambda c: analytic.times(c.b, c.pair(0), c.pair(1), lambda x, y: way(c, x, y))


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

    return analytic.times(b, c.pair(0), c.pair(1), way)


def _power(c: Call) -> Pair:
    """By a whole number that is known, times itself; else e to the exponent times the logarithm, and zero of zero."""
    b, base, exponent = c.b, c.pair(0), c.pair(1)
    if (known := _whole(exponent)) is not None:
        made = base
        for _ in range(known - 1):
            made = analytic.times(b, made, base, lambda x, y: b.emit("Mul", x, y))
        return made
    logarithm = analytic.log(b, base)
    made = analytic.exp(b, analytic.times(b, exponent, logarithm, lambda x, y: b.emit("Mul", x, y)))
    nothing = b.emit("Equal", analytic.modulus(b, base), 0.0)
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


def _scale(c: Call) -> Pair:
    b, x, factor, bias = c.b, c.pair(0), c.number(1), float(c.attr("bias"))
    if c.attr("bias_after_scale"):
        return Pair(b.emit("Add", b.emit("Mul", x.real, factor), bias), b.emit("Mul", x.imag, factor))
    return Pair(b.emit("Mul", b.emit("Add", x.real, bias), factor), b.emit("Mul", x.imag, factor))


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


OPERATORS: dict[str, Lowering] = {
    "as_complex": _as_complex,
    "complex": _complex,
    "as_real": _as_real,
    "real": lambda c: c.b.emit("Identity", c.pair(0).real),
    "imag": lambda c: c.b.emit("Identity", c.pair(0).imag),
    "conj": _of_one(lambda b, x: Pair(b.emit("Identity", x.real), b.emit("Neg", x.imag))),
    "abs": _of_one(analytic.modulus),
    "angle": _of_one(analytic.argument),
    "cast": _cast,
    "multiply": _by_parts(lambda c, x, y: c.b.emit("Mul", x, y)),
    "square": _of_one(lambda b, x: analytic.times(b, x, x, lambda one, two: b.emit("Mul", one, two))),
    "elementwise_pow": _power,
    "divide": lambda c: analytic.quotient(c.b, c.pair(0), c.pair(1)),
    "matmul": _matmul,
    "bmm": _matmul,
    "mv": _matmul,
    "dot": _by_parts(lambda c, x, y: c.b.reduce("ReduceSum", c.b.emit("Mul", x, y), [-1], keep=False)),
    "kron": _by_parts(kron),
    "einsum": _einsum,
    "scale": _scale,
    **{name: _of_one(function) for name, function in analytic.FUNCTIONS.items()},
    "equal": _equal(negated=False),
    "not_equal": _equal(negated=True),
    "isnan": _any_part("IsNaN"),
    "isinf": _any_part("IsInf"),
    "isfinite": _finite,
}
