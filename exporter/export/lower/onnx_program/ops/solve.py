"""Square matrices: systems of equations, inverses, determinants and factors, each a Loop over columns or rows.

float32 is computed in float64, so that the errors of Paddle's own float32 kernels are the only ones. Paddle raises an
error for a matrix that has no inverse; ONNX cannot, so the result of that matrix is NaN.
"""

from __future__ import annotations

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.linear import product, turned
from exporter.export.lower.onnx_program.ops.matrix import double, is_single, length, line, loop, numbering, spread

#: The rounding error of float64 in a sum that cancels, relative to its terms. A pivot of a float32 matrix that is no
#: larger counts as 0: the matrix is singular, and only rounding kept it from showing.
_ROUNDING = 2.0**-49


def _swapped(b: Builder, x: Tensor, rows: Tensor, one: Tensor, two: Tensor) -> tuple[Tensor, Tensor]:
    """With two rows in each other's place, and what is now the first of these."""
    first, second = b.emit("Equal", rows, one), b.emit("Equal", rows, two)
    other = b.reduce("ReduceSum", b.emit("Where", second, x, b.constant(0, x.dtype)), [-2], keep=True)
    return b.emit("Where", first, other, b.emit("Where", second, line(b, x, one, -2), x)), other


def _eliminated(b: Builder, x: Tensor, turns: Tensor, whole: bool, single: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Elimination with partial pivoting over so many columns, of the rows below alone, or of all others (`whole`).

    Returns the packed matrix, where factors stand below the diagonal, and for each turn the row that was put in its
    place and the pivot; both have the outer dims and two of 1. LAPACK's getrf chooses the same rows. Of a float32
    matrix (`single`), `mass` adds up the sizes of what was subtracted, and a pivot that is small beside it is 0.
    """
    rows, columns = numbering(b, x, -2), numbering(b, x, -1)

    def step(turn: Tensor, held: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        matrix = held[0]
        column = line(b, matrix, turn, -1)
        if single:
            bound = b.emit("Mul", line(b, held[1], turn, -1), _ROUNDING)
            column = b.emit(
                "Where", b.emit("LessOrEqual", b.emit("Abs", column), bound), b.constant(0.0, "float64"), column
            )
        below = b.emit("GreaterOrEqual", rows, turn)
        sizes = b.emit("Where", b.emit("IsNaN", column), b.constant(0.0, "float64"), b.emit("Abs", column))
        sizes = b.emit("Where", below, sizes, b.constant(-1.0, "float64"))
        shape = (*x.shape[:-2], 1, 1)
        place = b.emit("ArgMax", sizes, axis=x.rank - 2, keepdims=1, shape=shape)
        first = b.emit("Equal", rows, turn)
        matrix, row = _swapped(b, matrix, rows, turn, place)
        column, pivot = _swapped(b, column, rows, turn, place)
        zero = b.emit("Equal", pivot, 0.0)
        safe = b.emit("Where", zero, b.constant(1.0, "float64"), pivot)
        factors = b.emit("Div", column, safe)
        others = b.emit("Not", first) if whole else b.emit("Greater", rows, turn)
        nothing = b.constant(0.0, "float64")
        factors = b.emit("Where", others, factors, nothing)
        right = b.emit("Greater", columns, turn)
        row = b.emit("Where", right, row, nothing)
        matrix = b.emit("Sub", matrix, b.emit("Mul", factors, row))
        here = b.emit("Equal", columns, turn)
        kept = b.emit("Where", first, pivot, b.emit("Where", others, factors, column))
        matrix = b.emit("Where", here, kept, matrix)
        new = [Tensor(matrix.name, "float64", x.shape)]
        if single:
            mass, row = _swapped(b, held[1], rows, turn, place)
            mass = b.emit("Add", mass, b.emit("Mul", b.emit("Abs", factors), row))
            new.append(Tensor(mass.name, "float64", x.shape))
        return new, [Tensor(place.name, "int64", shape), Tensor(pivot.name, "float64", shape)]

    carried = [x, b.emit("Abs", x)] if single else [x]
    matrix, *_, places, pivots = loop(b, turns, carried, step)
    return matrix, places, pivots


def _solved(b: Builder, x: Tensor, y: Tensor, single: bool) -> Tensor:
    """What `x` takes to `y`, by Gauss and Jordan; NaN where a pivot is 0."""
    both = b.concat([x, y], x.rank - 1)
    size = length(b, x, -1)
    done, _, pivots = _eliminated(b, both, size, True, single)
    start, end = b.size_of(x, -1), b.constant([2**62])
    right = b.emit("Slice", done, start, end, b.constant([x.rank - 1]), shape=y.shape)
    diagonal = _beside(b, pivots)
    least = b.reduce("ReduceMin", b.emit("Abs", diagonal), [-2], keep=True)
    found = b.emit("Div", right, diagonal)
    return b.emit("Where", b.emit("Equal", least, 0.0), b.constant(float("nan"), "float64"), found)


def _beside(b: Builder, collected: Tensor) -> Tensor:
    """What the turns collected, [turns, ..., 1, 1], as a column [..., turns, 1]."""
    order = [*range(1, collected.rank - 2), 0, collected.rank - 2, collected.rank - 1]
    return b.squeeze(b.transpose(collected, order), [-1])


def _eye(b: Builder, x: Tensor) -> Tensor:
    """The identity, as often as there are matrices."""
    ones = b.cast(b.emit("Equal", numbering(b, x, -2), numbering(b, x, -1)), "float64")
    return b.expand(ones, b.shape_of(x), x.shape)


def _inverse(c: Call) -> Tensor:
    x = double(c, 0)
    return _solved(c.b, x, _eye(c.b, x), is_single(c))


def _power(c: Call) -> Tensor:
    """By squares; of the inverse where the exponent is negative."""
    b, x, exponent = c.b, double(c, 0), int(c.attr("n"))
    if not exponent:
        return _eye(b, x)
    square = _solved(b, x, _eye(b, x), is_single(c)) if exponent < 0 else x
    left, found = abs(exponent), None
    while left:
        if left % 2:
            found = square if found is None else product(b, found, square)
        left //= 2
        square = product(b, square, square) if left else square
    return found if found is not None else x


def _solve(c: Call) -> Tensor:
    """The right side is a vector of each matrix where it has one dim, or the sizes of the matrices' rows.

    So PHI's `is_vector_rhs` decides, by the sizes at run time; PIR declares a matrix of the second kind (3.3.1).
    """
    b, x, y = c.b, double(c, 0), double(c, 1)
    of_each = y.rank > 1 and _is_of_each(c, x.shape[:-1], y.shape)
    if vectors := of_each or y.rank == 1:
        y = b.unsqueeze(y, [y.rank])
    if not of_each:
        x, y = spread(b, x, y), spread(b, y, x)
    found = _solved(b, x, y, is_single(c))
    return b.squeeze(found, [-1]) if vectors else found


def _is_of_each(c: Call, rows: tuple[int, ...], right: tuple[int, ...]) -> bool:
    if len(rows) != len(right) or any(
        -1 not in (one, two) and one != two for one, two in zip(rows, right, strict=True)
    ):
        return False
    if any((one < 0) != (two < 0) for one, two in zip(rows, right, strict=True)):
        raise c.refuse("whether the right side holds vectors or a matrix depends on sizes that vary")
    return True


def _determinant(c: Call) -> Tensor:
    """The product of the pivots; each row that was put elsewhere turns the sign."""
    b, x = c.b, double(c, 0)
    count = length(b, x, -1)
    _, places, pivots = _eliminated(b, x, count, False, is_single(c))
    turns = b.unsqueeze(numbering(b, x, -2), list(range(2, x.rank + 1)))
    stayed = b.emit("Equal", places, b.reshape(turns, [-1, *[1] * x.rank]))
    signed = b.emit("Where", stayed, pivots, b.emit("Neg", pivots))
    product_of = b.reduce("ReduceProd", signed, [0], keep=False)
    return b.squeeze(product_of, [-2, -1])


def _slogdet(c: Call) -> Tensor:
    """The sign, and the logarithm of the determinant in Paddle's own dtype: where that is 0, the sign is 0, too."""
    b = c.b
    found = _determinant(c)
    held = b.cast(b.cast(found, c.result().dtype), "float64")
    ends = b.emit("Or", b.emit("Equal", held, 0.0), b.emit("IsInf", held))
    found = b.emit("Where", ends, held, found)
    parts = [b.emit("Sign", found), b.emit("Log", b.emit("Abs", found))]
    return b.concat([b.unsqueeze(part, [0]) for part in parts])


def _lu(c: Call) -> list[Tensor]:
    """Packed as LAPACK's getrf does; rows count from 1, and so does the first pivot that is 0, if there is one."""
    b, x = c.b, double(c, 0)
    c.insist("pivot", True)
    count = b.emit("Min", length(b, x, -2), length(b, x, -1))
    packed, places, pivots = _eliminated(b, x, count, False, is_single(c))
    chosen = b.emit("Add", b.squeeze(_beside(b, places), [-1]), 1.0)
    missing = b.cast(b.emit("Equal", b.squeeze(_beside(b, pivots), [-1]), 0.0), "int32")
    first = b.emit("ArgMax", missing, axis=x.rank - 2, keepdims=0, shape=x.shape[:-2])
    some = b.cast(b.reduce("ReduceMax", missing, [-1], keep=False), "int64")
    return [packed, chosen, b.emit("Mul", some, b.emit("Add", first, 1.0))]


def _lu_unpack(c: Call) -> list[Tensor]:
    """The rows' order as a matrix, and both triangles."""
    b, x, places = c.b, c.raw(0), c.b.cast(c.raw(1), "int64")
    c.insist("unpack_ludata", True)
    c.insist("unpack_pivots", True)
    rows, columns = numbering(b, x, -2), numbering(b, x, -1)
    nothing = b.constant(0.0, x.dtype)
    upper = b.emit("Where", b.emit("LessOrEqual", rows, columns), x, nothing)
    one = b.cast(b.emit("Equal", rows, columns), x.dtype)
    lower = b.emit("Where", b.emit("Greater", rows, columns), x, one)
    starts, axes = b.constant([0]), (b.constant([x.rank - 2]), b.constant([x.rank - 1]))
    upper = b.emit("Slice", upper, starts, b.size_of(x, -1), axes[0], shape=c.result(2).shape)
    lower = b.emit("Slice", lower, starts, b.size_of(x, -2), axes[1], shape=c.result(1).shape)
    order = b.emit("Add", rows, b.emit("Mul", b.unsqueeze(b.slice(places, [0], [1], [-1]), [-1]), 0.0))
    order = Tensor(order.name, "int64", (*x.shape[:-1], 1))

    def step(turn: Tensor, held: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        place = b.emit("Sub", b.unsqueeze(line(b, places, turn, -1), [-1]), 1.0)
        swapped, _ = _swapped(b, held[0], rows, turn, place)
        return [Tensor(swapped.name, "int64", order.shape)], []

    (order,) = loop(b, length(b, places, -1), [order], step)
    # Column i has its 1 where row i of the triangles' product came from.
    return [b.cast(b.emit("Equal", rows, turned(b, order)), x.dtype), lower, upper]


def _substituted(b: Builder, x: Tensor, y: Tensor, upper: bool, unit: bool = False) -> Tensor:
    """What a triangular matrix takes to `y`, row by row; the other triangle is not looked at."""
    rows, columns = numbering(b, x, -2), numbering(b, x, -1)
    nothing = b.constant(0.0, "float64")
    side = b.emit("Less" if upper else "Greater", rows, columns)
    strict = Tensor(b.emit("Where", side, x, nothing).name, "float64", x.shape)
    diagonal = b.reduce("ReduceSum", b.emit("Where", b.emit("Equal", rows, columns), x, nothing), [-1], keep=True)
    y = spread(b, y, x)
    count = length(b, x, -1)
    last = b.emit("Sub", count, 1.0)

    def step(turn: Tensor, held: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        place = b.emit("Sub", last, turn) if upper else turn
        done = product(b, line(b, strict, place, -2), held[0])
        row = b.emit("Sub", line(b, y, place, -2), done)
        if not unit:
            row = b.emit("Div", row, line(b, diagonal, place, -2))
        found = b.emit("Where", b.emit("Equal", rows, place), row, held[0])
        return [Tensor(found.name, "float64", y.shape)], []

    empty = b.expand(nothing, b.shape_of(y), y.shape)
    return loop(b, count, [empty], step)[0]


def _triangular_solve(c: Call) -> Tensor:
    b, x, y = c.b, double(c, 0), double(c, 1)
    upper, transpose, unit = (bool(c.attr(name)) for name in ("upper", "transpose", "unitriangular"))
    if transpose:
        x, upper = turned(b, x), not upper
    return _substituted(b, x, y, upper, unit)


def _cholesky(c: Call) -> Tensor:
    """Column by column, of the triangle that is asked for; NaN where the matrix is not positive definite."""
    b, x, upper = c.b, double(c, 0), bool(c.attr("upper"))
    x = turned(b, x) if upper else x
    least = _ROUNDING if is_single(c) else 0.0
    rows, columns = numbering(b, x, -2), numbering(b, x, -1)

    def step(turn: Tensor, held: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        factor, sound = held
        given = line(b, x, turn, -1)
        column = b.emit("Sub", given, product(b, factor, turned(b, line(b, factor, turn, -2))))
        square = line(b, column, turn, -2)
        bound = b.emit("Mul", line(b, given, turn, -2), least)
        sound = b.emit("And", sound, b.emit("Not", b.emit("LessOrEqual", square, bound)))
        column = b.emit("Div", column, b.emit("Sqrt", square))
        here = b.emit("And", b.emit("GreaterOrEqual", rows, turn), b.emit("Equal", columns, turn))
        factor = b.emit("Where", here, column, factor)
        return [Tensor(factor.name, "float64", x.shape), Tensor(sound.name, "bool", (*x.shape[:-2], 1, 1))], []

    nothing = b.constant(0.0, "float64")
    empty = b.expand(nothing, b.shape_of(x), x.shape)
    sizes = b.emit("Shape", x, end=x.rank - 2, dtype="int64", shape=[x.rank - 2])
    sizes = b.concat([sizes, b.constant([1, 1])])
    sound = b.expand(b.constant(True, "bool"), sizes, [*x.shape[:-2], 1, 1])
    factor, sound = loop(b, length(b, x, -1), [empty, sound], step)
    factor = b.emit("Where", sound, factor, b.constant(float("nan"), "float64"))
    return turned(b, factor) if upper else factor


def _cholesky_solve(c: Call) -> Tensor:
    """Both triangular systems of a factor, which is the second operand."""
    b, y, factor, upper = c.b, double(c, 0), double(c, 1), bool(c.attr("upper"))
    first, second = (turned(b, factor), factor) if upper else (factor, turned(b, factor))
    return _substituted(b, second, _substituted(b, first, y, False), True)


def _spectral_norm(c: Call) -> Tensor:
    """The weight over its largest singular value, which power iterations find from the stored vectors, as in PHI."""
    b, weight, u, v = c.b, double(c, 0), double(c, 1), double(c, 2)
    dim, epsilon, turns = int(c.attr("dim")), float(c.attr("eps")), int(c.attr("power_iters"))
    first = b.transpose(weight, [dim, *(at for at in range(weight.rank) if at != dim)])
    matrix = b.reshape(first, [first.shape[0], -1], [first.shape[0], v.shape[0]])

    def unit(x: Tensor) -> Tensor:
        return b.emit("Div", x, b.emit("Add", b.reduce("ReduceL2", x, None, keep=True), epsilon))

    for _ in range(turns):
        v = unit(product(b, u, matrix))
        u = unit(product(b, matrix, v))
    sigma = b.reduce("ReduceSum", b.emit("Mul", u, product(b, matrix, v)), None, keep=False)
    return b.emit("Div", weight, sigma)


OPERATORS: dict[str, Lowering] = {
    "inverse": _inverse,
    "matrix_power": _power,
    "solve": _solve,
    "det": _determinant,
    "slogdet": _slogdet,
    "lu": _lu,
    "lu_unpack": _lu_unpack,
    "triangular_solve": _triangular_solve,
    "cholesky": _cholesky,
    "cholesky_solve": _cholesky_solve,
    "spectral_norm": _spectral_norm,
}
