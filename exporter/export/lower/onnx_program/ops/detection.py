"""Boxes: suppression, pooling of regions."""

from __future__ import annotations

import math

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.overlaps import apart


def _nms(c: Call) -> Tensor:
    """Boxes come in the order of their scores, so their place stands for the score."""
    b, boxes = c.b, c.x()
    count = b.reshape(b.size_of(boxes, 0), [], [])
    places = b.numbering(count)
    scores = b.unsqueeze(b.emit("Neg", b.cast(places, "float32")), [0, 1])
    threshold = b.constant([float(c.attr("threshold"))], "float32")
    most = b.unsqueeze(count, [0])
    kept = b.emit("NonMaxSuppression", b.unsqueeze(boxes, [0]), scores, most, threshold, dtype="int64", shape=[-1, 3])
    return b.squeeze(b.slice(kept, [2], [3], [1]), [1])


def _multiclass_nms(c: Call) -> list[Tensor]:
    """Rows of class, score and box, image by image, class by class, the best first; their places; how many an image.

    Paddle takes the best `nms_top_k` of each class into the suppression, and keeps the best `keep_top_k` of an image
    (multiclass_nms3_kernel.cc, 3.3.1).
    """
    b, boxes, scores = c.b, c.x(0), c.x(1)
    if boxes.shape[-1] != 4 or scores.dtype != "float32" or scores.rank != (2 if c.has(2) else 3):
        raise c.refuse(
            "it is written for boxes [batch, count, 4] and scores [batch, classes, count] of float32, or for those of "
            "regions, [regions, classes, 4] and [regions, classes], and how many of them each image has"
        )
    c.insist("nms_eta", 1.0)
    if c.has(2):
        return _of_regions(c)
    scores = _candidates(c, scores)
    kept = _best(c, _suppressed(c, boxes, scores), scores)
    image, label, place = (b.slice(kept, [at], [at + 1], [1]) for at in range(3))
    score = b.unsqueeze(b.emit("GatherND", scores, kept, shape=[-1]), [1])
    corners = b.emit("GatherND", c.x(0), b.concat([image, place], 1), shape=[-1, 4])
    rows = b.concat([b.cast(label, "float32"), score, corners], 1)
    flat = b.emit("Add", b.emit("Mul", image, b.size_of(scores, 2)), place)
    images = b.numbering(b.squeeze(b.size_of(scores, 0), [0]))
    counts = b.reduce("ReduceSum", b.cast(b.emit("Equal", image, images), "int64"), [0], keep=False)
    return [rows, flat, counts]


def _suppressed(c: Call, boxes: Tensor, scores: Tensor) -> Tensor:
    """The (image, class, place) that no better box of their class overlaps, the best first.

    A box that ends before it begins, as clipping leaves it, has no area in Paddle (nms_util.h, 3.3.1). ONNX takes any
    two opposite corners, so there it is given none.
    """
    b = c.b
    begins, ends = (b.slice(boxes, [at], [at + 2], [2]) for at in (0, 2))
    backwards = b.emit("Less", ends, begins)
    if not c.attr("normalized", True):  # a box of whole pixels reaches to the end of its last one
        ends = b.emit("Add", ends, 1.0)
    whole = b.concat([begins, b.emit("Where", backwards, begins, ends)], 2)
    most, overlap = b.size_of(scores, 2), b.constant([float(c.attr("nms_threshold"))], "float32")
    least = b.constant([float(c.attr("score_threshold"))], "float32")
    kept = b.emit("NonMaxSuppression", whole, scores, most, overlap, least, dtype="int64", shape=[-1, 3])
    return apart(c, boxes, kept, float(c.attr("nms_threshold")))


def _of_regions(c: Call) -> list[Tensor]:
    """Like `_multiclass_nms`, where each region has a box for each class; a class's boxes keep their own order.

    A class of an image is an image of its own here, with the regions of all images: those of others score nothing.
    """
    b = c.b
    boxes, scores = b.transpose(c.x(0), [1, 0, 2]), b.transpose(c.x(1), [1, 0])
    images, places = b.size_of(c.raw(2), 0), b.places(b.size_of(c.raw(2), 0))
    classes, number = b.size_of(scores, 0), b.size_of(scores, 1)
    own = b.emit("Equal", b.unsqueeze(images_of(c, c.x(0)), [0, 1]), b.unsqueeze(places, [1, 2]))
    shape = [images.array.item() if images.array is not None else -1, *scores.shape]
    scores = _candidates(c, b.emit("Where", own, b.unsqueeze(scores, [0]), -math.inf, dtype="float32", shape=shape))
    everywhere = b.emit("Expand", b.unsqueeze(boxes, [0]), b.concat([images, b.shape_of(boxes)]), shape=[*shape, 4])
    by_region = _suppressed(
        c,
        b.reshape(everywhere, b.concat([b.constant([-1]), number, b.constant([4])]), [-1, shape[2], 4]),
        b.reshape(scores, b.concat([b.constant([-1, 1]), number]), [-1, 1, shape[2]]),
    )
    at, place = b.slice(by_region, [0], [1], [1]), b.slice(by_region, [2], [3], [1])
    image = b.emit("Div", at, classes)
    label = b.emit("Sub", at, b.emit("Mul", image, classes))
    kept = _best(c, b.concat([image, label, place], 1), scores)
    none = b.expand(b.constant(0.0, "float32"), b.shape_of(scores), scores.shape)
    ones = b.expand(b.constant(1.0, "float32"), b.size_of(kept, 0), [-1])
    dense = b.emit("ScatterND", none, kept, ones, shape=scores.shape)
    kept = b.transpose(b.emit("NonZero", dense, shape=[3, -1]), [1, 0])
    image, label, place = (b.slice(kept, [at], [at + 1], [1]) for at in range(3))
    score = b.unsqueeze(b.emit("GatherND", scores, kept, shape=[-1]), [1])
    corners = b.emit("GatherND", boxes, b.concat([label, place], 1), shape=[-1, 4])
    rows = b.concat([b.cast(label, "float32"), score, corners], 1)
    flat = b.emit("Add", b.emit("Mul", place, classes), label)
    counts = b.reduce("ReduceSum", b.cast(b.emit("Equal", image, b.unsqueeze(places, [0])), "int64"), [0], keep=False)
    return [rows, flat, counts]


def _candidates(c: Call, scores: Tensor) -> Tensor:
    """The scores of all that goes into the suppression; minus infinity for the background and beyond `nms_top_k`."""
    import numpy as np

    b, classes, count = c.b, scores.shape[1], scores.shape[2]
    background, most = int(c.attr("background_label", 0)), int(c.attr("nms_top_k"))
    if background >= 0:
        if classes < 0:
            raise c.refuse("a background class among a number of classes that varies is not written")
        own = np.arange(classes).reshape(1, -1, 1) == background
        scores = b.emit("Where", b.constant(own, "bool"), -math.inf, scores, dtype="float32", shape=scores.shape)
    if most < 0 or 0 <= count <= most:
        return scores
    limit = b.emit("Min", b.constant([most]), b.size_of(scores, 2), shape=[1])
    return b.emit("Where", among_the_best(b, scores, limit, 2), scores, -math.inf, dtype="float32", shape=scores.shape)


def among_the_best(b: Builder, x: Tensor, count: Tensor, axis: int) -> Tensor:
    """Whether an element is one of the `count` largest along an axis; of equal ones the first are."""
    shape = tuple(size if at != axis else -1 for at, size in enumerate(x.shape))
    _, places = b.many("TopK", x, count, axis=axis, shapes=[shape, shape])
    places = Tensor(places.name, "int64", places.shape)
    none = b.expand(b.constant(0.0, "float32"), b.shape_of(x), x.shape)
    ones = b.expand(b.constant(1.0, "float32"), b.shape_of(places), places.shape)
    return b.cast(b.emit("ScatterElements", none, places, ones, axis=axis, shape=x.shape), "bool")


def _best(c: Call, kept: Tensor, scores: Tensor) -> Tensor:
    """Of the kept (image, class, place) the `keep_top_k` of each image that score best, in the order that they have."""
    b, most = c.b, int(c.attr("keep_top_k"))
    if most < 0:
        return kept
    everywhere = b.expand(b.constant(-math.inf, "float32"), b.shape_of(scores), scores.shape)
    score = b.emit("GatherND", scores, kept, shape=[-1])
    dense = b.emit("ScatterND", everywhere, kept, score, shape=scores.shape)
    flat = b.reshape(dense, [0, -1], [scores.shape[0], -1])
    limit = b.emit("Min", b.constant([most]), b.size_of(flat, 1), shape=[1])
    chosen = b.reshape(among_the_best(b, flat, limit, 1), b.shape_of(scores), scores.shape)
    return b.emit("Compress", kept, b.emit("GatherND", chosen, kept, shape=[-1]), axis=0, shape=[-1, 3])


def images_of(c: Call, boxes: Tensor, operand: int = 2) -> Tensor:
    """The image of each box; the operand says how many each image has."""
    b, counts = c.b, c.b.cast(c.raw(operand), "int64")
    ends = b.emit("CumSum", counts, b.constant(0), shape=counts.shape)
    number = b.reshape(b.size_of(boxes, 0), [], [])
    places = b.numbering(number)
    passed = b.emit("GreaterOrEqual", b.unsqueeze(places, [1]), b.unsqueeze(ends, [0]))
    return b.reduce("ReduceSum", b.cast(passed, "int64"), [1], keep=False)


def _roi_align(c: Call) -> Tensor:
    b, x, boxes = c.b, c.x(0), c.x(1)
    images = images_of(c, boxes)
    return b.emit(
        "RoiAlign",
        x,
        boxes,
        images,
        output_height=int(c.attr("pooled_height")),
        output_width=int(c.attr("pooled_width")),
        sampling_ratio=max(int(c.attr("sampling_ratio")), 0),
        spatial_scale=float(c.attr("spatial_scale")),
        coordinate_transformation_mode="half_pixel" if c.attr("aligned") else "output_half_pixel",
        shape=c.result().shape,
    )


def _single(c: Call) -> tuple[Tensor, Tensor, Tensor]:
    """Planes, boxes and the image of each box, all of float32."""
    if (given := c.raw(0).dtype) != "float32" or not c.has(2):
        raise c.refuse(f"it is written for float32, not for {given}, and for boxes whose number in each image is given")
    x, boxes = c.x(0), c.x(1)
    return x, boxes, images_of(c, boxes)


def _roi_pool(c: Call) -> Tensor:
    """ONNX Runtime rounds the corners and bins as Paddle does (roi_pool_kernel.cc, 3.3.1); the places are unwritten."""
    b, (x, boxes, images) = c.b, _single(c)
    return b.emit(
        "MaxRoiPool",
        x,
        b.concat([b.cast(b.unsqueeze(images, [1]), "float32"), boxes], 1),
        pooled_shape=[int(c.attr("pooled_height")), int(c.attr("pooled_width"))],
        spatial_scale=float(c.attr("spatial_scale")),
        shape=c.result().shape,
    )


def _psroi_pool(c: Call) -> Tensor:
    """Means of bins, each in a plane of its own: [boxes, channels, h, w] of planes [n, channels · h · w, high, wide].

    A bin's sum is a difference of four running sums, in float64 so that little cancels (psroi_pool_kernel.cc, 3.3.1).
    """
    import numpy as np

    b, (x, boxes, images) = c.b, _single(c)
    scale, bins = float(c.attr("spatial_scale")), [int(c.attr("pooled_height")), int(c.attr("pooled_width"))]
    channels = int(c.attr("output_channels"))
    begin, end = ([b.slice(boxes, [at], [at + 1], [1]) for at in places] for places in ((1, 0), (3, 2)))
    bounds = [_bins(b, begin[at], end[at], bins[at], scale, b.size_of(x, 2 + at)) for at in (0, 1)]
    padded = b.emit("Pad", b.cast(x, "float64"), b.constant([0, 0, 1, 1, 0, 0, 0, 0]), shape=[*x.shape[:2], -1, -1])
    for axis in (2, 3):
        padded = b.emit("CumSum", padded, b.constant(axis), shape=padded.shape)
    rows, columns = (b.emit("Add", b.size_of(x, axis), 1) for axis in (2, 3))
    own = np.arange(channels * bins[0] * bins[1]).reshape(1, channels, *bins)
    planes = b.emit("Add", b.emit("Mul", b.reshape(images, [-1, 1, 1, 1]), float(own.size)), b.constant(own))
    flat, shape = b.reshape(padded, [-1], [-1]), c.result().shape
    tops, lefts = ([b.unsqueeze(bound, [1, 3 - at]) for bound in bounds[at]] for at in (0, 1))

    def until(row: Tensor, column: Tensor) -> Tensor:
        line = b.emit("Add", b.emit("Mul", planes, rows), row)
        return b.emit("Gather", flat, b.emit("Add", b.emit("Mul", line, columns), column), axis=0, shape=shape)

    upper, lower = (b.emit("Sub", until(row, lefts[1]), until(row, lefts[0])) for row in tops)
    high, wide = (b.emit("Max", b.emit("Sub", last, first), 0) for first, last in (tops, lefts))
    area = b.emit("Mul", high, wide)
    mean = b.emit("Div", b.emit("Sub", lower, upper), b.cast(b.emit("Max", area, 1), "float64"), shape=shape)
    return b.emit("Where", b.emit("Equal", area, 0), b.constant(0.0, "float32"), b.cast(mean, "float32"), shape=shape)


def _bins(b: Builder, begin: Tensor, end: Tensor, count: int, scale: float, size: Tensor) -> list[Tensor]:
    """Where each of the bins of a side begins and ends, [boxes, bins], computed in float32 as Paddle computes it."""
    import numpy as np

    def whole(side: Tensor, more: float) -> Tensor:
        """Rounded, a half away from zero, which in float32 the next number below a half would be, too."""
        exact = b.cast(side, "float64")
        near = b.emit("Mul", b.emit("Sign", exact), b.emit("Floor", b.emit("Add", b.emit("Abs", exact), 0.5)))
        return b.emit("Mul", b.cast(b.emit("Add", near, more), "float32"), scale)

    first = whole(begin, 0.0)
    span = b.emit("Div", b.emit("Max", b.emit("Sub", whole(end, 1.0), first), 0.1), float(count))
    limit, bounds = b.cast(size, "float32"), []
    for kind, more in (("Floor", 0), ("Ceil", 1)):
        steps = b.constant(np.arange(count) + more, "float32")
        edge = b.emit(kind, b.emit("Add", b.emit("Mul", steps, span), first))
        inside = b.emit("Min", b.emit("Max", edge, 0.0), limit)
        # What fits into no int32, NaN included, is the least one on x86, and so 0.
        fits = b.emit("Less", b.emit("Abs", edge), 2.0**31)
        bounds.append(b.cast(b.emit("Where", fits, inside, 0.0), "int64"))
    return bounds


OPERATORS: dict[str, Lowering] = {
    "nms": _nms,
    "multiclass_nms3": _multiclass_nms,
    "roi_align": _roi_align,
    "roi_pool": _roi_pool,
    "psroi_pool": _psroi_pool,
}
