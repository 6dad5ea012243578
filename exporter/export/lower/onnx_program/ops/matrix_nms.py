"""Matrix suppression: scores of boxes fall by their overlap with better ones, all at once."""

from __future__ import annotations

import math

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Tensor
from exporter.export.lower.onnx_program.ops.order import top
from exporter.export.lower.onnx_program.ops.overlaps import overlaps
from exporter.export.lower.onnx_program.ops.scan import scan


def _matrix_nms(c: Call) -> list[Tensor]:
    """Rows of class, score and box, image by image, the best first; the places of the boxes; how many an image.

    Of each class the best `nms_top_k` above `score_threshold` are compared, of each image the best `keep_top_k` above
    `post_threshold` are kept (matrix_nms_kernel.cc, 3.3.1). One turn of a Scan is a class of an image, as the table of
    overlaps of all of them would not fit. Of equal scores the first come first; Paddle's sort is not stable.
    """
    b, boxes, scores = c.b, c.x(0), c.x(1)
    limits = [int(c.attr(name)) for name in ("nms_top_k", "keep_top_k")]
    if 0 in limits:
        raise c.refuse("nms_top_k or keep_top_k of 0 keeps nothing")
    classes, number = b.size_of(scores, 1), b.size_of(scores, 2)
    ranked, place = _candidates(c, scores, limits[0])
    width = b.size_of(ranked, 1)
    image = b.emit("Div", b.places(b.size_of(ranked, 0)), classes, shape=[-1])
    place = b.emit("Add", place, b.unsqueeze(b.emit("Mul", image, number, shape=[-1]), [1]), shape=place.shape)
    boxes = b.reshape(boxes, [-1, 4])
    own = b.emit("Gather", boxes, place, axis=0, shape=[*place.shape, 4])
    _, (decay,) = scan(b, [], [own, ranked], lambda _, seen: ([], [_decay(c, *seen)]))
    score = b.emit("Mul", ranked, decay, shape=ranked.shape)
    kept = b.emit("Greater", score, b.constant(c.attr("post_threshold"), score.dtype), shape=score.shape)
    score = b.emit("Where", kept, score, -math.inf, dtype=score.dtype, shape=score.shape)

    whole = b.emit("Mul", classes, width, shape=[1])
    by_image = b.concat([b.constant([-1]), whole])
    limit = whole if limits[1] < 0 else b.emit("Min", whole, b.constant([limits[1]]), shape=[1])
    score, at = top(b, b.reshape(score, by_image, [-1, -1]), limit, 1, largest=True)
    place = b.emit("GatherElements", b.reshape(place, by_image, [-1, -1]), at, axis=1, shape=at.shape)
    kept = b.emit("Greater", score, b.constant(-math.inf, score.dtype), shape=score.shape)
    rows = b.transpose(b.emit("NonZero", kept, shape=[2, -1]), [1, 0])
    score, at, place = (b.emit("GatherND", one, rows, shape=[-1]) for one in (score, at, place))
    label = b.cast(b.emit("Div", at, width, shape=[-1]), score.dtype)
    corners = b.emit("Gather", boxes, place, axis=0, shape=[-1, 4])
    table = b.concat([b.unsqueeze(label, [1]), b.unsqueeze(score, [1]), corners], 1)
    return [table, b.unsqueeze(place, [1]), b.reduce("ReduceSum", b.cast(kept, "int64"), [1], keep=False)]


def _candidates(c: Call, scores: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Of each class of each image the scores above the threshold, the best first, and their places.

    All have as many as the longest has, at least one; minus infinity is none.
    """
    b, background = c.b, int(c.attr("background_label"))
    counts = b.emit("Greater", scores, b.constant(c.attr("score_threshold"), scores.dtype), shape=scores.shape)
    if background >= 0:
        own = b.emit("Equal", b.places(b.size_of(scores, 1)), b.constant(background))
        counts = b.emit("And", counts, b.emit("Not", b.unsqueeze(own, [1])), shape=scores.shape)
    longest = b.reduce("ReduceSum", b.cast(counts, "int64"), [2], keep=False)
    longest = b.reshape(b.reduce("ReduceMax", longest, None, keep=False), [1])
    longest = b.emit("Max", longest, b.constant([1]), shape=[1])
    if most > 0:
        longest = b.emit("Min", longest, b.constant([most]), shape=[1])
    ranked = b.emit("Where", counts, scores, -math.inf, dtype=scores.dtype, shape=scores.shape)
    flat = b.reshape(ranked, b.concat([b.constant([-1]), b.size_of(scores, 2)]), [-1, scores.shape[2]])
    return top(b, flat, longest, 1, largest=True)


def _decay(c: Call, boxes: Tensor, scores: Tensor) -> Tensor:
    """What the scores of one class are multiplied with, from the boxes in the order of their scores.

    A box is held against each better one by their overlap, and by how much that one is itself overlapped.
    """
    b, dtype = c.b, boxes.dtype
    some = b.cast(b.emit("Greater", scores, b.constant(-math.inf, dtype)), "int64")
    count = b.emit("Max", b.reduce("ReduceSum", some, [0], keep=True), b.constant([1]), shape=[1])
    overlap = overlaps(c, b.emit("Slice", boxes, b.constant([0]), count, b.constant([0]), shape=[-1, 4]))
    at = b.places(count)
    better = b.emit("Less", b.unsqueeze(at, [0]), b.unsqueeze(at, [1]))
    seen = b.emit("And", better, b.emit("Equal", overlap, overlap))  # boxes of no size overlap by 0/0, which is none
    most = b.reduce("ReduceMax", b.emit("Where", seen, overlap, 0.0, dtype=dtype), [1], keep=False)
    most = b.unsqueeze(most, [0])
    if c.attr("use_gaussian"):
        squares = b.emit("Sub", b.emit("Mul", most, most), b.emit("Mul", overlap, overlap))
        decay = b.emit("Exp", b.emit("Mul", squares, float(c.attr("gaussian_sigma"))))
    else:
        c.ignore("gaussian_sigma")
        one = b.constant(1.0, dtype)
        decay = b.emit("Div", b.emit("Sub", one, overlap), b.emit("Sub", one, most))
    lowers = b.emit("And", better, b.emit("Less", decay, b.constant(1.0, dtype)))  # neither NaN does
    factor = b.reduce("ReduceMin", b.emit("Where", lowers, decay, 1.0, dtype=dtype), [1], keep=False)
    left = b.emit("Sub", b.size_of(scores, 0), count, shape=[1])
    return b.concat([factor, b.expand(b.constant(1.0, dtype), left, [-1])])


OPERATORS: dict[str, Lowering] = {"matrix_nms": _matrix_nms}
