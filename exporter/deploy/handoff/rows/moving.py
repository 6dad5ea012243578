"""Where operators leave rows that move numbers and compute nothing: reshapes, slices, lookups.

A rule returns the axis of each output, as in `rules.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from exporter.deploy.handoff.rows.operator import Mixes, Operator, axis_of, normal, one_axis

#: Ends of a slice from here on mean: to the end (exporters write the largest int32 or int64).
_END = (1 << 31) - 1


def _transposed(operator: Operator) -> int:
    (value,) = operator.only(0)
    order = operator.attributes.get("perm")
    places = order if isinstance(order, list) else list(reversed(range(value.rank)))
    return places.index(one_axis([value]))


def _reshaped(operator: Operator) -> int:
    """The numbers of each row stay together where as many lie before the axis of the rows as did."""
    (value,) = operator.rows()
    axis, grown = one_axis([value]), operator.grown[0]
    if grown is None or math.prod(operator.shapes[0][:grown]) != math.prod(value.shape[:axis]):
        raise Mixes("it lays rows out anew, so that they do not stay apart")
    return grown


def _squeezed(operator: Operator) -> int:
    (value,) = operator.only(0)
    axis, axes = one_axis([value]), operator.numbers("axes", 1)
    if axes is None:
        axes = [at for at, size in enumerate(value.shape) if size == 1]
    gone = {normal(number, value.rank) for number in axes}
    if axis in gone:
        raise Mixes("it takes away the axis that counts rows")
    return axis - sum(number < axis for number in gone)


def _unsqueezed(operator: Operator) -> int:
    (value,) = operator.only(0)
    rank = len(operator.shapes[0])
    new = {normal(number, rank) for number in operator.numbers("axes", 1) or []}
    return [at for at in range(rank) if at not in new][one_axis([value])]


def _concatenated(operator: Operator) -> int:
    rows = operator.rows()
    axis = one_axis(rows)
    if len(rows) != len(operator.inputs) or axis == axis_of(operator, 0, rows[0].rank):
        raise Mixes("it puts rows one behind the other")
    return axis


def _sliced(operator: Operator) -> int:
    (value,) = operator.only(0)
    axis = one_axis([value])
    starts, ends = operator.numbers("starts", 1) or [], operator.numbers("ends", 2) or []
    axes = operator.numbers("axes", 3) or list(range(len(starts)))
    steps = operator.numbers("steps", 4) or [1] * len(starts)
    for at, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if normal(at, value.rank) == axis and (start, step) != (0, 1):
            raise Mixes("it leaves out rows, or turns their order")
        if normal(at, value.rank) == axis and end < _END:
            raise Mixes("it leaves out rows")
    return axis


def _gathered(operator: Operator) -> int:
    data, indices = operator.pair()
    axis = axis_of(operator, 0, data.rank)
    if data.counted or indices.counted or (data.axis is not None and indices.axis is not None):
        raise Mixes("it picks among rows by what other rows say")
    if data.axis is None:
        return axis + one_axis([indices])
    if data.axis == axis:
        raise Mixes("it picks some of the rows")
    return data.axis if data.axis < axis else data.axis + indices.rank - 1


def _by_element(operator: Operator) -> int:
    rows = operator.rows()
    axis = one_axis(rows)
    if len(rows) != len(operator.inputs) or axis == axis_of(operator, 0, rows[0].rank):
        raise Mixes("it picks among rows")
    return axis


def _gathered_nd(operator: Operator) -> int:
    data, indices = operator.pair()
    axis = one_axis(operator.only(0, 1))
    together = data.axis == indices.axis and axis < operator.integer("batch_dims", 0)
    if not together and (data.axis is not None or axis >= indices.rank - 1):
        raise Mixes("it picks among rows")
    return axis


def _expanded(operator: Operator) -> int:
    (value,) = operator.rows()
    return len(operator.shapes[0]) - value.from_end


def _tiled(operator: Operator) -> int:
    (value,) = operator.rows()
    axis = one_axis([value])
    if operator.shapes[0][axis] != value.shape[axis]:
        raise Mixes("it repeats the rows")
    return axis


def _padded(operator: Operator) -> int:
    (value,) = operator.only(0)
    pads, axes = operator.numbers("pads", 1) or [], operator.numbers("axes", 3)
    padded = [normal(at, value.rank) for at in (axes if axes is not None else range(value.rank))]
    axis = one_axis([value])
    at = padded.index(axis) if axis in padded else None
    if at is not None and (pads[at] or pads[at + len(padded)]):
        raise Mixes("it adds or takes away rows")
    return axis


def _resized(operator: Operator) -> int:
    (value,) = operator.rows()
    axis = one_axis([value])
    cropped = operator.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    if cropped or operator.shapes[0][axis] != value.shape[axis]:
        raise Mixes("it interpolates between rows")
    return axis


def _one_hot(operator: Operator) -> int:
    (value,) = operator.only(0)
    axis, new = one_axis([value]), axis_of(operator, -1, value.rank + 1)
    return axis if axis < new else axis + 1


def _triangle(operator: Operator) -> int:
    (value,) = operator.only(0)
    if value.from_end < 3:
        raise Mixes("what it keeps of a row follows from its place among the rows")
    return one_axis([value])


MOVING: dict[str, Callable[[Operator], int]] = {
    **dict.fromkeys(("GatherElements", "ScatterElements"), _by_element),
    **dict.fromkeys(("Resize", "Upsample"), _resized),
    "Concat": _concatenated,
    "Expand": _expanded,
    "Flatten": _reshaped,
    "Gather": _gathered,
    "GatherND": _gathered_nd,
    "OneHot": _one_hot,
    "Pad": _padded,
    "Reshape": _reshaped,
    "Slice": _sliced,
    "Squeeze": _squeezed,
    "Tile": _tiled,
    "Transpose": _transposed,
    "Trilu": _triangle,
    "Unsqueeze": _unsqueezed,
}
