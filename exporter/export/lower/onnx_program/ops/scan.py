"""Turn by turn with a state: an ONNX Scan, and what is written by it, running extremes and the most frequent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Graph, Tensor
from exporter.export.lower.onnx_program.ops.order import top

#: From the state and what one turn reads to the new state and what the turn puts out.
Turn: TypeAlias = Callable[[list[Tensor], list[Tensor]], tuple[list[Tensor], list[Tensor]]]


def scan(
    b: Builder, state: Sequence[Tensor], read: Sequence[Tensor], turn: Turn, *, backwards: bool = False
) -> tuple[list[Tensor], list[Tensor]]:
    """The last state, and what the turns put out, stacked along axis 0; backwards the last element is read first.

    Each turn reads one element of axis 0. Every state keeps its shape. There must be a turn at least: ONNX Runtime 1.31
    fails on none, and ends the process where another axis is scanned and the tensor is empty.
    """
    outer, inner = b.graph, Graph()
    carried = [Tensor(b.name("state"), held.dtype, held.shape) for held in state]
    seen = [Tensor(b.name("seen"), part.dtype, part.shape[1:]) for part in read]
    inner.inputs = [*carried, *seen]
    b.graph = inner
    try:
        new, put_out = turn(carried, seen)
        inner.outputs = [b.emit("Identity", one, shape=one.shape) for one in (*new, *put_out)]
    finally:
        b.graph = outer
    made = b.many(
        "Scan",
        *state,
        *read,
        shapes=[*(held.shape for held in state), *((read[0].shape[0], *one.shape) for one in put_out)],
        body=inner,
        num_scan_inputs=len(read),
        **{
            f"scan_{name}_directions": [int(backwards)] * len(parts)
            for name, parts in (("input", read), ("output", put_out))
            if parts
        },
    )
    typed = [Tensor(one.name, out.dtype, one.shape) for one, out in zip(made, inner.outputs, strict=True)]
    return typed[: len(state)], typed[len(state) :]


def to_front(x: Tensor, axis: int) -> list[int]:
    """The order of dims that puts an axis first."""
    return [axis, *(at for at in range(x.rank) if at != axis)]


def _running(kind: str) -> Lowering:
    """The extreme so far and its place: of equal ones the last; from a NaN on NaN, and the place of the last NaN.

    So it is in cum_maxmin_kernel.cc (3.3.1).
    """

    def lower(c: Call) -> list[Tensor]:
        b, x, axis = c.b, c.x(), int(c.attr("axis"))
        c.ignore("dtype")
        if not x.rank:
            return [b.emit("Identity", x), b.constant(0)]
        axis %= x.rank
        order = to_front(x, axis)
        rows = b.transpose(x, order)
        ends = (-np.inf, np.inf) if x.is_float else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        sizes = b.concat([b.constant([1]), *(b.size_of(rows, at) for at in range(1, x.rank))])
        worst = b.expand(b.constant(ends[kind == "LessOrEqual"], x.dtype), sizes, (1, *rows.shape[1:]))
        start = b.squeeze(worst, [0])
        nowhere = b.expand(b.constant(0), b.shape_of(start), start.shape)
        if x.shape[axis] < 1:  # there may be no row
            rows = b.concat([rows, worst])

        def turn(state: list[Tensor], seen: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
            (best, place), (number, at) = state, seen
            taken = b.emit(kind, number, best)
            if x.is_float:
                taken = b.emit("Or", taken, b.emit("IsNaN", number))
            new = [b.emit("Where", taken, *pair, shape=start.shape) for pair in ((number, best), (at, place))]
            return new, new

        _, found = scan(b, [start, nowhere], [rows, b.places(b.size_of(rows, 0))], turn)
        if x.shape[axis] < 1:
            found = [b.slice(one, [0], [-1], [0]) for one in found]
        return [b.transpose(one, np.argsort(order).tolist()) for one in found]

    return lower


def _mode(c: Call) -> list[Tensor]:
    """What is most frequent, the least of several; its last place. NaN counts only where there is nothing else.

    Runs in sorted order, as in mode_kernel.cc (3.3.1). In rows of more than 16 numbers Paddle's sort is not stable, and
    the place may be another of the same value.
    """
    b, x, axis, keep = c.b, c.x(), int(c.attr("axis")), bool(c.attr("keepdim"))
    if not x.rank:
        return [b.emit("Identity", x), b.constant(0)]
    axis %= x.rank
    order = to_front(x, axis)
    rows = b.transpose(x, order)
    number, place = top(b, _nan_as(b, rows, np.inf), b.size_of(rows, 0), 0, largest=False)
    number = b.emit("GatherElements", rows, place, axis=0, shape=rows.shape) if x.is_float else number
    start = b.reduce("ReduceMin", place, [0], keep=False)
    before = b.cast(start, x.dtype)
    none = b.emit("Mul", start, b.constant(0))

    def turn(state: list[Tensor], seen: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        (before, run, most, found), (number, place) = state, seen
        grown = b.emit("Where", b.emit("Equal", number, before), b.emit("Add", run, b.constant(1)), b.constant(1))
        if x.is_float:
            counts = b.emit("Equal", number, number)
            number = b.emit("Where", counts, number, before)
            grown = b.emit("Where", counts, grown, run)
        more = b.emit("Greater", grown, most)
        return [number, grown, b.emit("Where", more, grown, most), b.emit("Where", more, place, found)], []

    (*_, found), _ = scan(b, [before, none, none, none], [number, place], turn)
    places = b.unsqueeze(found, [axis])
    made = [b.emit("GatherElements", x, places, axis=axis, shape=places.shape), places]
    return made if keep else [b.squeeze(one, [axis]) for one in made]


def _nan_as(b: Builder, x: Tensor, number: float) -> Tensor:
    """A number in place of NaN."""
    return b.emit("Where", b.emit("IsNaN", x), number, x, dtype=x.dtype, shape=x.shape) if x.is_float else x


OPERATORS: dict[str, Lowering] = {
    "mode": _mode,
    "cummax": _running("GreaterOrEqual"),
    "cummin": _running("LessOrEqual"),
}
