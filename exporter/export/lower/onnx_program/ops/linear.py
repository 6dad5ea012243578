"""Products of matrices and vectors."""

from __future__ import annotations

import string
from collections.abc import Sequence

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor, broadcast
from exporter.export.lower.onnx_program.ops.binary import pair


def turned(b: Builder, x: Tensor) -> Tensor:
    """Each matrix transposed."""
    return b.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def product(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """MatMul, with the shape that numpy gives it.

    A vector on the right is written as a column: from `ORT_ENABLE_EXTENDED` on, ONNX Runtime 1.31.1 fuses a transpose
    of `x` into the product, and with a vector computes it as if `x` were not transposed.
    """
    if y.rank == 1 and x.rank > 1:
        return b.squeeze(product(b, x, b.unsqueeze(y, [1])), [-1])
    outer = broadcast([x.shape[:-2], y.shape[:-2]])
    tail = [*([x.shape[-2]] if x.rank > 1 else []), *([y.shape[-1]] if y.rank > 1 else [])]
    return b.emit("MatMul", x, y, shape=[*outer, *tail])


def _matmul(c: Call) -> Tensor:
    x, y = pair(c)
    x = turned(c.b, x) if c.attr("transpose_x") and x.rank > 1 else x
    y = turned(c.b, y) if c.attr("transpose_y") and y.rank > 1 else y
    return product(c.b, x, y)


def _plain(c: Call) -> Tensor:
    return product(c.b, *pair(c))


def _dot(c: Call) -> Tensor:
    return c.b.reduce("ReduceSum", c.b.emit("Mul", *pair(c)), [-1], keep=False)


def _scaled_sum(c: Call) -> Tensor:
    """Beta * input + alpha * x @ y."""
    b, beta, alpha = c.b, float(c.attr("beta")), float(c.attr("alpha"))
    added = product(b, c.x(1), c.x(2))
    return b.emit("Add", b.emit("Mul", c.x(0), beta), b.emit("Mul", added, alpha))


def _multi_dot(c: Call) -> Tensor:
    total, *others = c.xs()
    for part in others:
        total = product(c.b, total, part)
    return total


def einsum(c: Call, parts: Sequence[Tensor]) -> Tensor:
    """The equation on these operands. Ellipses are spelt out, since not every engine knows them.

    A dim of 1 that meets another size goes: the shape inference of onnx (1.23.2) takes the first size of a label.
    """
    left, arrow, result = _spelt_out(c, [part.rank for part in parts]).partition("->")
    terms, given = left.split(","), list(parts)
    for at, (term, part) in enumerate(zip(terms, parts, strict=True)):
        wider = {
            label
            for number, (labels, operand) in enumerate(zip(terms, given, strict=True))
            for label, size in zip(labels, operand.shape, strict=True)
            if number != at and size != 1
        }
        ones = [axis for axis, label in enumerate(term) if part.shape[axis] == 1 and label in wider]
        given[at] = c.b.squeeze(part, ones)
        terms[at] = "".join(label for axis, label in enumerate(term) if axis not in ones)
    return c.b.emit("Einsum", *given, equation=",".join(terms) + arrow + result, shape=c.result().shape)


def _spelt_out(c: Call, ranks: Sequence[int]) -> str:
    """The equation without ellipses."""
    equation = str(c.attr("equation")).replace(" ", "")
    if "..." not in equation:
        return equation
    free = [letter for letter in string.ascii_letters if letter not in equation]
    terms = equation.partition("->")[0].split(",")
    counts = [rank - len(term) + 3 for term, rank in zip(terms, ranks, strict=True) if "..." in term]
    if len(set(counts)) != 1:
        raise c.refuse("ellipses of different lengths are not written")
    return equation.replace("...", "".join(free[: counts[0]]))


def _einsum(c: Call) -> list[Tensor]:
    return [einsum(c, c.xs())]


def kron(c: Call, x: Tensor, y: Tensor) -> Tensor:
    """Each number of `x` times the whole of `y`."""
    b = c.b
    rank = max(x.rank, y.rank)
    x, y = (b.unsqueeze(one, list(range(rank - one.rank))) for one in (x, y))
    left = b.unsqueeze(x, list(range(1, 2 * rank, 2)))
    right = b.unsqueeze(y, list(range(0, 2 * rank, 2)))
    sizes = [b.emit("Mul", b.size_of(x, at), b.size_of(y, at)) for at in range(rank)]
    return b.reshape(b.emit("Mul", left, right), b.concat(sizes), c.result().shape)


def _cross(c: Call) -> Tensor:
    """Element i is x[i+1] y[i+2] - x[i+2] y[i+1]."""
    b, told = c.b, c.attr("axis")
    x, y = pair(c)
    axis = next((at for at, size in enumerate(x.shape) if size == 3), -1) if told in (None, 9) else told % x.rank
    if x.shape[axis] != 3:
        raise c.refuse("the axis of size 3 is not known before the model runs")
    one, two = b.constant([1, 2, 0]), b.constant([2, 0, 1])

    def picked(value: Tensor, places: Tensor) -> Tensor:
        return b.emit("Gather", value, places, axis=axis, shape=value.shape)

    return b.emit("Sub", b.emit("Mul", picked(x, one), picked(y, two)), b.emit("Mul", picked(x, two), picked(y, one)))


def _bilinear(c: Call) -> Tensor:
    """Row n, output k: x[n] W[k] y[n]."""
    b, x, y, weight = c.b, c.x(0), c.x(1), c.x(2)
    outs, left, right = weight.shape
    flat = b.reshape(b.transpose(weight, [1, 0, 2]), [left, outs * right])
    inner = b.reshape(product(b, x, flat), [-1, outs, right])
    found = b.reduce("ReduceSum", b.emit("Mul", inner, b.unsqueeze(y, [1])), [-1], keep=False)
    return b.emit("Add", found, c.x(3)) if c.has(3) else found


OPERATORS: dict[str, Lowering] = {
    "matmul": _matmul,
    "bmm": _plain,
    "mv": _plain,
    "dot": _dot,
    "addmm": _scaled_sum,
    "baddbmm": _scaled_sum,
    "multi_dot": _multi_dot,
    "einsum": _einsum,
    "kron": lambda c: kron(c, *pair(c)),
    "cross": _cross,
    "bilinear": _bilinear,
}
