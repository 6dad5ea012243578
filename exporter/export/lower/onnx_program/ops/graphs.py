"""Messages along the edges of a graph, segments of rows, and the paths of a beam search."""

from __future__ import annotations

import math
import sys

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.scan import scan

_MESSAGES = {"ADD": "Add", "MUL": "Mul"}


def _places(c: Call, at: int) -> Tensor:
    """Rows by number; an index of shape [n, 1] is one of [n]."""
    return c.b.reshape(c.b.cast(c.raw(at), "int64"), [-1])


def _sent(b: Builder, x: Tensor, places: Tensor) -> Tensor:
    """What stands at the given rows: one message an edge."""
    return b.emit("Gather", x, places, axis=0, shape=[places.shape[0], *x.shape[1:]])


def _merged(c: Call, x: Tensor, y: Tensor) -> Tensor:
    """Messages of two tensors; dims behind the first are broadcast, the first is the edge.

    Paddle's Python writes `sub` and `div` as these two (send_recv.py, 3.3.1), and its kernels know no others.
    """
    b, kind = c.b, _MESSAGES[str(c.insist("message_op", *_MESSAGES))]
    rank = max(x.rank, y.rank)
    x, y = (b.unsqueeze(side, range(1, rank - side.rank + 1)) for side in (x, y))
    return b.emit(kind, x, y)


def _reduced(c: Call, messages: Tensor, places: Tensor, count: Tensor, way: str) -> Tensor:
    """The messages that go to one row as their sum, mean, largest or smallest; zeros where none goes.

    `count` is how many rows there are. Paddle's mean of integers is cut towards zero, as ONNX's Div is
    (send_u_recv_kernel.cc, segment_pooling.cc, 3.3.1).
    """
    import numpy as np

    b, dtype = c.b, messages.dtype
    sizes = b.concat([count, *(b.size_of(messages, axis) for axis in range(1, messages.rank))])
    shape, index = [-1, *messages.shape[1:]], b.unsqueeze(places, [1])

    def put(start: float, reduction: str) -> Tensor:
        rows = b.expand(b.constant(start, dtype), sizes, shape)
        return b.emit("ScatterND", rows, index, messages, reduction=reduction, shape=shape)

    if way == "SUM":
        return put(0, "add")
    ones = b.expand(b.constant(1), b.shape_of(places), places.shape)
    none = b.expand(b.constant(0), count, [-1])
    arrived = b.emit("ScatterND", none, index, ones, reduction="add", shape=[-1])
    arrived = b.unsqueeze(arrived, range(1, messages.rank))
    if way == "MEAN":
        return b.emit("Div", put(0, "add"), b.cast(b.emit("Max", arrived, 1), dtype))
    c.since(18, "a scatter that keeps the largest or smallest")
    whole = not messages.is_float
    least, most = (np.iinfo(dtype).min, np.iinfo(dtype).max) if whole else (-math.inf, math.inf)
    chosen = put(least, "max") if way == "MAX" else put(most, "min")
    return b.emit("Where", b.emit("Equal", arrived, 0), b.constant(0, dtype), chosen)


def _rows(c: Call, x: Tensor, at: int) -> Tensor:
    """How many rows come out: the operand, or as many as go in where it is not positive."""
    own = c.b.size_of(x, 0)
    if c.known(at):
        (told,) = c.integers(at)
        return c.b.constant([told]) if told > 0 else own
    asked = c.vector(at)
    return c.b.emit("Where", c.b.emit("Greater", asked, 0), asked, own, shape=[1])


_WAYS = ("SUM", "MEAN", "MAX", "MIN")


def _send_u_recv(c: Call) -> Tensor:
    """Rows of x go along edges.

    Without edges and with a size, Paddle 3.3.1 forgets the dims behind the first; this gives all of them.
    """
    x, way = c.x(0), str(c.insist("reduce_op", *_WAYS))
    return _reduced(c, _sent(c.b, x, _places(c, 1)), _places(c, 2), _rows(c, x, 3), way)


def _send_ue_recv(c: Call) -> Tensor:
    """Rows of x, merged with what the edge has, go along edges."""
    x, edges, way = c.x(0), c.x(1), str(c.insist("reduce_op", *_WAYS))
    messages = _merged(c, _sent(c.b, x, _places(c, 2)), edges)
    return _reduced(c, messages, _places(c, 3), _rows(c, x, 4), way)


def _send_uv(c: Call) -> Tensor:
    """Of each edge, the rows at both ends merged."""
    return _merged(c, _sent(c.b, c.x(0), _places(c, 2)), _sent(c.b, c.x(1), _places(c, 3)))


def _segment_pool(c: Call) -> Tensor:
    """Neighbouring rows of one number; the last number says how many rows come out."""
    b, places = c.b, _places(c, 1)
    last = b.slice(places, [-1], [sys.maxsize], [0])
    count = b.emit("Add", last, b.constant([1]), shape=[1])
    return _reduced(c, c.x(0), places, count, str(c.insist("pooltype", *_WAYS)))


def _gather_tree(c: Call) -> Tensor:
    """From the last step back to the first, the tokens [step, batch, beam] of each beam and of its parents."""
    b, tokens, parents = c.b, c.raw(0), c.raw(1)
    _, batch, beams = tokens.shape
    line = b.numbering(b.squeeze(b.size_of(tokens, 2), [0]), beams)
    start = b.expand(line, b.concat([b.size_of(tokens, 1), b.size_of(tokens, 2)]), [batch, beams])

    def step(held: list[Tensor], seen: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        (now,), (token, parent) = held, seen
        before = b.emit("GatherElements", parent, now, axis=1, shape=now.shape)
        return [b.cast(before, "int64")], [b.emit("GatherElements", token, now, axis=1, shape=now.shape)]

    _, (found,) = scan(b, [start], [tokens, parents], step, backwards=True)
    return found


OPERATORS: dict[str, Lowering] = {
    "send_u_recv": _send_u_recv,
    "send_ue_recv": _send_ue_recv,
    "send_uv": _send_uv,
    "segment_pool": _segment_pool,
    "gather_tree": _gather_tree,
}
