"""QR by Householder's reflections, with LAPACK's signs. Like `solve.py` it is a Loop over columns, in float64."""

from __future__ import annotations

from exporter.export.lower.onnx_program.call import Call, Lowered, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.linear import product, turned
from exporter.export.lower.onnx_program.ops.matrix import double, length, line, loop, numbering


def _factored(b: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    """Q of all columns and R of all rows.

    As LAPACK's geqrf and larfg: of the column from the diagonal down, `alpha` is the first number and `beta` its norm
    with the other sign; H = 1 - tau v vᵀ with tau = (beta - alpha) / beta and v = (1, rest / (alpha - beta)). A column
    with nothing below the diagonal is left as it is.
    """
    rows, columns = numbering(b, x, -2), numbering(b, x, -1)
    nothing, one = b.constant(0.0, "float64"), b.constant(1.0, "float64")
    square = (*x.shape[:-2], x.shape[-2], x.shape[-2])

    def step(turn: Tensor, held: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        q, r = held
        column = line(b, r, turn, -1)
        alpha = line(b, column, turn, -2)
        rest = b.emit("Where", b.emit("Greater", rows, turn), column, nothing)
        rest = Tensor(rest.name, "float64", column.shape)
        under = b.reduce("ReduceSum", b.emit("Mul", rest, rest), [-2], keep=True)
        done = b.emit("Equal", under, 0.0)
        norm = b.emit("Sqrt", b.emit("Add", b.emit("Mul", alpha, alpha), under))
        beta = b.emit("Where", b.emit("Less", alpha, 0.0), norm, b.emit("Neg", norm))
        tau = b.emit("Div", b.emit("Sub", beta, alpha), b.emit("Where", done, one, beta))
        tau = b.emit("Where", done, nothing, tau)
        below = b.emit("Div", rest, b.emit("Where", done, one, b.emit("Sub", alpha, beta)))
        v = b.emit("Where", b.emit("Equal", rows, turn), one, below)
        v = Tensor(v.name, "float64", column.shape)
        scaled = b.emit("Mul", v, tau)
        r = b.emit("Sub", r, product(b, scaled, product(b, turned(b, v), r)))
        q = b.emit("Sub", q, product(b, product(b, q, scaled), turned(b, v)))
        return [Tensor(q.name, "float64", square), Tensor(r.name, "float64", x.shape)], []

    size = b.size_of(x, -2)
    outer = b.slice(b.emit("Shape", x, dtype="int64", shape=[x.rank]), [0], [x.rank - 2], [0])
    eye = b.cast(b.emit("Equal", rows, b.transpose(rows, [1, 0])), "float64")
    q = b.expand(eye, b.concat([outer, size, size]), square)
    turns = b.emit("Min", length(b, x, -2), length(b, x, -1))
    q, r = loop(b, turns, [q, x], step)
    r = b.emit("Where", b.emit("Greater", rows, columns), nothing, r)
    return q, Tensor(r.name, "float64", x.shape)


def _first(b: Builder, x: Tensor, count: Tensor, axis: int) -> Tensor:
    """So many rows (axis -2) or columns (axis -1)."""
    place = x.rank + axis
    most = int(count.array.ravel()[0]) if count.array is not None else -1
    shape = [min(size, most) if at == place and -1 not in (size, most) else size for at, size in enumerate(x.shape)]
    if -1 in (x.shape[place], most):
        shape[place] = -1
    return b.emit("Slice", x, b.constant([0]), count, b.constant([place]), shape=shape)


def _qr(c: Call) -> list[Lowered]:
    b, x, mode = c.b, double(c, 0), c.insist("mode", "reduced", "complete", "r")
    q, r = _factored(b, x)
    if mode == "complete":
        return [q, r]
    r = _first(b, r, b.size_of(x, -1), -2)
    return [None if mode == "r" else _first(b, q, b.size_of(x, -1), -1), r]


OPERATORS: dict[str, Lowering] = {"qr": _qr}
