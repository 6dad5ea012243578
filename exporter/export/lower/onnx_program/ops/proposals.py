"""Boxes that a region proposal network proposes, and their level of a feature pyramid."""

from __future__ import annotations

import math

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.detection import among_the_best, images_of

#: A box grows by no more than this logarithm of its anchor's side.
_MOST_GROWTH = math.log(1000 / 16)
_LOWEST = -3.4e38  # minus infinity is below it


def _generate_proposals(c: Call) -> list[Tensor]:
    """Boxes [kept, 4], image by image, the best first; their scores [kept, 1]; how many each image has.

    The best `pre_nms_top_n` of an image go into the suppression unless they are too small, and `post_nms_top_n` of them
    come out; an image without any has one box of zeros (generate_proposals_kernel.cc, 3.3.1). Paddle's order of equal
    scores is that of a selection, which no runtime repeats.
    """
    b, offset = c.b, 1.0 if c.attr("pixel_offset") else 0.0
    if c.raw(0).dtype != "float32":
        raise c.refuse(f"it is written for float32, not for {c.raw(0).dtype}")
    threshold, most = float(c.attr("nms_thresh")), int(c.attr("post_nms_top_n"))
    if threshold <= 0:
        raise c.refuse("without a threshold of overlap the order of the boxes is that of a selection")
    if threshold > 0.5:
        c.insist("eta", 1.0)
    c.ignore("eta")
    scores = b.reshape(b.transpose(c.x(0), [0, 2, 3, 1]), [0, -1], [c.x(0).shape[0], -1])
    size = b.cast(c.raw(2), "float32")
    sides = _decoded(c, offset)
    limits = [b.emit("Sub", b.unsqueeze(b.slice(size, [at], [at + 1], [1]), [2]), offset) for at in (1, 0)]
    sides = [b.emit("Max", b.emit("Min", side, limit), 0.0) for side, limit in zip(sides, limits * 2, strict=True)]
    boxes = b.emit("Concat", *sides, axis=2, shape=[scores.shape[0], -1, 4])
    fits = b.squeeze(_large_enough(c, sides, size, offset), [2])
    first = int(c.attr("pre_nms_top_n"))
    if first > 0:
        limit = b.emit("Min", b.constant([first]), b.size_of(scores, 1), shape=[1])
        fits = b.emit("And", fits, among_the_best(b, scores, limit, 1))
    # One more box of each image, of zeros: it takes part where no other does.
    none = b.emit("Equal", b.reduce("ReduceSum", b.cast(fits, "int64"), [1], keep=True), 0)
    spare = b.emit("Where", none, b.constant(0.0, "float32"), b.constant(-math.inf, "float32"))
    ranked = b.emit("Where", fits, scores, -math.inf, dtype="float32", shape=scores.shape)
    ranked = b.concat([ranked, spare], 1)
    scores = b.concat([scores, b.emit("Mul", b.cast(none, "float32"), 0.0)], 1)
    boxes = b.emit("Pad", boxes, b.constant([0, 0, 0, 0, 1, 0]), shape=[scores.shape[0], -1, 4])
    reach = b.emit("Add", boxes, b.constant([0.0, 0.0, offset, offset], "float32"))
    kept = b.emit(
        "NonMaxSuppression",
        reach if offset else boxes,
        b.unsqueeze(ranked, [1]),
        b.constant([most]) if most > 0 else b.size_of(ranked, 1),
        b.constant([threshold], "float32"),
        b.constant([_LOWEST], "float32"),
        dtype="int64",
        shape=[-1, 3],
    )
    image, place = (b.slice(kept, [at], [at + 1], [1]) for at in (0, 2))
    places = b.concat([image, place], 1)
    rois = b.emit("GatherND", boxes, places, shape=[-1, 4])
    probabilities = b.unsqueeze(b.emit("GatherND", scores, places, shape=[-1]), [1])
    return [rois, probabilities, _counts(b, image, b.size_of(scores, 0))]


def _decoded(c: Call, offset: float) -> list[Tensor]:
    """Left, upper, right and lower side of each anchor, moved and grown, each [n, anchors, 1]."""
    b = c.b
    deltas = b.reshape(b.transpose(c.x(1), [0, 2, 3, 1]), [0, -1, 4], [c.x(1).shape[0], -1, 4])
    anchors, spread = (b.reshape(c.x(at), [1, -1, 4], [1, -1, 4]) for at in (3, 4))
    moved = b.emit("Mul", spread, deltas)
    (dx, dy, dw, dh), corners = ([b.slice(x, [at], [at + 1], [2]) for at in range(4)] for x in (moved, anchors))
    begins, ends = [], []
    for begin, end, shift, growth in zip(corners[:2], corners[2:], (dx, dy), (dw, dh), strict=True):
        span = b.emit("Add", b.emit("Sub", end, begin), offset)
        middle = b.emit("Add", begin, b.emit("Mul", span, 0.5))
        centre = b.emit("Add", b.emit("Mul", shift, span), middle)
        half = b.emit("Div", b.emit("Mul", b.emit("Exp", b.emit("Min", growth, _MOST_GROWTH)), span), 2.0)
        begins.append(b.emit("Sub", centre, half))
        ends.append(b.emit("Sub", b.emit("Add", centre, half), offset))
    return [*begins, *ends]


def _large_enough(c: Call, sides: list[Tensor], size: Tensor, offset: float) -> Tensor:
    """Return whether a box has at least `min_size` on both sides, and with whole pixels its centre in the image."""
    b, least = c.b, max(float(c.attr("min_size")), 1.0)
    checks = []
    for begin, end, at in ((sides[0], sides[2], 1), (sides[1], sides[3], 0)):
        span = b.emit("Add", b.emit("Sub", end, begin), offset)
        checks.append(b.emit("GreaterOrEqual", span, least))
        if offset:
            centre = b.emit("Add", begin, b.emit("Div", span, 2.0))
            checks.append(b.emit("LessOrEqual", centre, b.unsqueeze(b.slice(size, [at], [at + 1], [1]), [2])))
    fits = checks[0]
    for check in checks[1:]:
        fits = b.emit("And", fits, check)
    return fits


def _counts(b: Builder, image: Tensor, number: Tensor) -> Tensor:
    """How many boxes each image has, of the image of each box [boxes, 1]."""
    own = b.emit("Equal", image, b.unsqueeze(b.places(number), [0]))
    return b.cast(b.reduce("ReduceSum", b.cast(own, "int64"), [0], keep=False), "int32")


def _distribute(c: Call) -> list[tuple[Tensor, ...] | Tensor]:
    """The boxes of each level, how many of them each image has, and where each box went [boxes, 1].

    A level is `refer_level` at boxes of `refer_scale` squared, one more at twice the side, computed in float32 as
    Paddle computes it (distribute_fpn_proposals_kernel.cc, 3.3.1).
    """
    b, boxes = c.b, c.x(0)
    if boxes.dtype != "float32" or not c.has(1):
        raise c.refuse("it is written for boxes of float32 whose number in each image is given")
    low, high, offset = int(c.attr("min_level")), int(c.attr("max_level")), 1.0 if c.attr("pixel_offset") else 0.0
    left, upper, right, lower = (b.slice(boxes, [at], [at + 1], [1]) for at in range(4))
    spans = [b.emit("Sub", end, begin) for begin, end in ((left, right), (upper, lower))]
    grown = [b.emit("Add", span, offset) for span in spans]
    turned = b.emit("Less", b.emit("Min", *spans), 0.0)
    area = b.emit("Where", turned, b.constant(0.0, "float32"), b.emit("Mul", *grown))
    share = b.emit("Add", b.emit("Div", b.emit("Sqrt", area), float(c.attr("refer_scale"))), 1e-6)
    doubled = b.cast(b.emit("Div", b.emit("Log", b.cast(share, "float64")), math.log(2.0)), "float32")
    level = b.emit("Floor", b.emit("Add", doubled, float(c.attr("refer_level"))))
    level = b.emit("Max", b.emit("Min", level, float(high)), float(low))
    image, number = b.unsqueeze(images_of(c, boxes, 1), [1]), b.size_of(c.raw(1), 0)
    own = b.unsqueeze(b.places(number), [0])
    parts, counts, place, before = [], [], b.constant(0), b.constant(0)
    for at in range(low, high + 1):
        here = b.emit("Equal", level, float(at))
        parts.append(b.emit("Compress", boxes, b.squeeze(here, [1]), axis=0, shape=[-1, 4]))
        of_image = b.emit("And", here, b.emit("Equal", image, own))
        counts.append(b.cast(b.reduce("ReduceSum", b.cast(of_image, "int64"), [0], keep=False), "int32"))
        ones = b.cast(here, "int64")
        order = b.emit("Add", b.emit("CumSum", ones, b.constant(0), exclusive=1, shape=ones.shape), before)
        place = b.emit("Add", place, b.emit("Mul", ones, order))
        before = b.emit("Add", before, b.reduce("ReduceSum", ones, [0, 1], keep=False))
    return [tuple(parts), tuple(counts), b.cast(place, "int32")]


OPERATORS: dict[str, Lowering] = {
    "generate_proposals": _generate_proposals,
    "distribute_fpn_proposals": _distribute,
}
