"""How much boxes overlap, as Paddle's kernels compute it (nms_util.h, matrix_nms_kernel.cc, 3.3.1)."""

from __future__ import annotations

from exporter.export.lower.onnx_program.call import Call
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.matrix import loop


def overlaps(c: Call, boxes: Tensor) -> Tensor:
    """Intersection over union of each two boxes; 0 of two that do not meet, and of a box with its sides swapped.

    Of two that touch and have no area it is 0 / 0, as in Paddle.
    """
    b, sides, meet = c.b, _sides(c.b, boxes), []
    spans = []
    for begin, end in (sides[::2], sides[1::2]):
        meet.append(b.emit("LessOrEqual", begin, _other(b, end)))
        meet.append(b.emit("LessOrEqual", _other(b, begin), end))
        spans.append(_size(c, b.emit("Max", begin, _other(b, begin)), b.emit("Min", end, _other(b, end))))
    area, both = _area(c, sides), b.emit("Mul", *spans)
    share = b.emit("Div", both, b.emit("Sub", b.emit("Add", area, _other(b, area)), both))
    return b.emit("Where", _all(b, meet), share, 0.0, dtype=boxes.dtype)


def apart(c: Call, boxes: Tensor, kept: Tensor, threshold: float) -> Tensor:
    """The rows (image, class, place) that Paddle keeps of those that ONNX's suppression has kept, the best first.

    ONNX has no overlap of boxes without area. In Paddle that of two that touch is 0 / 0, which is at most no threshold,
    and the lesser one goes. A network that is trained has no such boxes, and the Loop over them no turn.
    """
    b = c.b
    image, label, place = (b.slice(kept, [at], [at + 1], [1]) for at in range(3))
    corners = b.emit("GatherND", boxes, b.concat([image, place], 1), shape=[-1, 4])
    none = b.squeeze(b.emit("Equal", _area(c, _sides(b, corners)), b.constant(0.0, boxes.dtype)), [1])
    rows = b.squeeze(b.emit("NonZero", none, shape=[1, -1]), [0])
    count = b.reshape(b.size_of(rows, 0), [], [])
    share = overlaps(c, b.emit("Gather", corners, rows, axis=0, shape=[-1, 4]))
    number = b.numbering(count)
    clash = [
        b.emit("Not", b.emit("LessOrEqual", share, threshold)),
        b.emit("Less", b.unsqueeze(number, [1]), number),
    ]
    for of in (image, label):
        own = b.emit("Gather", of, rows, axis=0, shape=[-1, 1])
        clash.append(b.emit("Equal", own, _other(b, own)))
    lesser = _all(b, clash)

    def step(turn: Tensor, held: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        stays = b.emit("Gather", held[0], turn, axis=0, dtype="bool", shape=[])
        goes = b.emit("And", stays, b.emit("Gather", lesser, turn, axis=0, dtype="bool", shape=[-1]))
        return [b.emit("And", held[0], b.emit("Not", goes))], []

    everyone = b.cast(b.expand(b.constant(1.0, "float32"), b.size_of(rows, 0), [-1]), "bool")
    (alive,) = loop(b, count, [everyone], step)
    ones = b.expand(b.constant(1.0, "float32"), b.size_of(kept, 0), [-1])
    left = b.emit("ScatterElements", ones, rows, b.cast(alive, "float32"), axis=0, shape=[-1])
    staying = b.squeeze(b.emit("NonZero", left, shape=[1, -1]), [0])
    return b.emit("Gather", kept, staying, axis=0, shape=[-1, 3])


def _sides(b: Builder, boxes: Tensor) -> list[Tensor]:
    """Left, upper, right and lower, each a column."""
    return [b.slice(boxes, [at], [at + 1], [1]) for at in range(4)]


def _size(c: Call, begin: Tensor, end: Tensor) -> Tensor:
    """Boxes of whole pixels reach to the end of their last ones."""
    span = c.b.emit("Sub", end, begin)
    return span if c.attr("normalized", True) else c.b.emit("Add", span, 1.0)


def _area(c: Call, sides: list[Tensor]) -> Tensor:
    b = c.b
    left, upper, right, lower = sides
    swapped = b.emit("Or", b.emit("Less", right, left), b.emit("Less", lower, upper))
    whole = b.emit("Mul", _size(c, left, right), _size(c, upper, lower))
    return b.emit("Where", swapped, 0.0, whole, dtype=left.dtype)


def _other(b: Builder, x: Tensor) -> Tensor:
    return b.transpose(x, [1, 0])


def _all(b: Builder, conditions: list[Tensor]) -> Tensor:
    first, *others = conditions
    for condition in others:
        first = b.emit("And", first, condition)
    return first
