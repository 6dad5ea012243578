"""Boxes on a grid: decoded from a YOLO's map, the priors of an SSD, and what codes one box by another.

Grids and pictures may have sizes that vary: places are numbered while the model runs, and are constants where the size
is known.
"""

from __future__ import annotations

import math

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor


def _yolo_box(c: Call) -> list[Tensor]:
    """Boxes [n, anchors · h · w, 4] and scores [n, anchors · h · w, classes]; 0 where the confidence is too small.

    The map has 5 + classes planes for each anchor, and before all of them one plane for each anchor where it is aware
    of the overlap (yolo_box_util.h, 3.3.1).
    """
    b, x, image = c.b, c.x(0), c.b.cast(c.raw(1), c.x(0).dtype)
    anchors, classes = [int(side) for side in c.attr("anchors")], int(c.attr("class_num"))
    count, stride = len(anchors) // 2, int(c.attr("downsample_ratio"))
    grown, least = float(c.attr("scale_x_y")), float(c.attr("conf_thresh"))
    aware, share = bool(c.attr("iou_aware")), float(c.attr("iou_aware_factor"))
    column, row = _cells(b, x)
    high, wide, cells = _length(b, x, 2), _length(b, x, 3), column.shape[0]
    planes = b.slice(x, [count], [count * (6 + classes)], [1]) if aware else x
    five = b.reshape(planes, [0, count, 5 + classes, -1], [x.shape[0], count, 5 + classes, cells])
    parts = [b.slice(five, [at], [at + 1], [2]) for at in range(5)]
    image_high, image_wide = (b.reshape(b.slice(image, [at], [at + 1], [1]), [-1, 1, 1, 1]) for at in (0, 1))

    def centre(part: Tensor, place: Tensor, size: Tensor, length: Tensor) -> Tensor:
        moved = b.emit("Add", b.emit("Mul", b.emit("Sigmoid", part), grown), -0.5 * (grown - 1.0))
        return b.emit("Div", b.emit("Mul", b.emit("Add", moved, place), size), length)

    def half(part: Tensor, first: int, size: Tensor, length: Tensor) -> Tensor:
        own = b.reshape(b.constant(anchors[first::2], x.dtype), [1, count, 1, 1])
        whole = b.emit("Mul", b.emit("Mul", b.emit("Exp", part), own), size)
        return b.emit("Div", whole, b.emit("Mul", length, 2.0 * stride))

    cx, cy = centre(parts[0], column, image_wide, wide), centre(parts[1], row, image_high, high)
    hw, hh = half(parts[2], 0, image_wide, wide), half(parts[3], 1, image_high, high)
    sides = [
        b.emit(kind, *pair)
        for kind, pair in (("Sub", (cx, hw)), ("Sub", (cy, hh)), ("Add", (cx, hw)), ("Add", (cy, hh)))
    ]
    if c.attr("clip_bbox"):
        sides[:2] = [b.emit("Max", side, 0.0) for side in sides[:2]]
        ends = (b.emit("Sub", image_wide, 1.0), b.emit("Sub", image_high, 1.0))
        sides[2:] = [b.emit("Min", side, end) for side, end in zip(sides[2:], ends, strict=True)]
    sure = b.emit("Sigmoid", parts[4])
    if aware:
        overlap = b.reshape(b.slice(x, [0], [count], [1]), [0, count, 1, -1], [x.shape[0], count, 1, cells])
        overlap = b.emit("Pow", b.emit("Sigmoid", overlap), share)
        sure = b.emit("Mul", b.emit("Pow", sure, 1.0 - share), overlap)
    seen = b.emit("GreaterOrEqual", sure, least)
    sure = b.emit("Where", seen, sure, 0.0)
    boxes = b.emit("Where", seen, b.emit("Concat", *sides, axis=2, shape=[x.shape[0], count, 4, cells]), 0.0)
    scores = b.emit("Mul", b.emit("Sigmoid", b.slice(five, [5], [5 + classes], [2])), sure)
    number = count * cells if cells >= 0 else -1
    return [
        b.reshape(b.transpose(rows, [0, 1, 3, 2]), [0, number, width], [x.shape[0], number, width])
        for rows, width in ((boxes, 4), (scores, classes))
    ]


def _length(b: Builder, x: Tensor, axis: int) -> Tensor:
    """A size as a scalar of the same dtype, a constant where it is known."""
    size = x.shape[axis]
    return b.constant(size, x.dtype) if size >= 0 else b.cast(b.squeeze(b.size_of(x, axis), [0]), x.dtype)


def _cells(b: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    """The column and the row of each cell of a map [n, channels, high, wide], row by row; constants of known sizes."""
    import numpy as np

    high, wide = x.shape[2:]
    if min(high, wide) >= 0:
        rows, columns = np.divmod(np.arange(high * wide), max(wide, 1))
        return b.constant(columns, x.dtype), b.constant(rows, x.dtype)
    length = b.size_of(x, 3)
    places = b.places(b.emit("Mul", b.size_of(x, 2), length))
    return b.cast(b.emit("Mod", places, length), x.dtype), b.cast(b.emit("Div", places, length), x.dtype)


def _prior_box(c: Call) -> list[Tensor]:
    """Boxes and variances [high, wide, priors, 4] of a grid over a picture: they hang on sizes alone.

    Each step is rounded as Paddle rounds it (prior_box_kernel.cc, 3.3.1).
    """
    import numpy as np

    b, grid, dtype = c.b, c.x(0), c.x(0).dtype
    sides = [(_length(b, grid, axis), _length(b, c.x(1), axis)) for axis in (3, 2)]
    steps = [float(c.attr(name)) for name in ("step_w", "step_h")]
    halves = np.array(_prior_sizes(c)).reshape(-1, 2) / 2
    spread = np.array([float(share) for share in c.attr("variances")])
    ends: list[list[Tensor]] = [[], []]
    for at, (cells, picture) in enumerate(sides):
        step = b.constant(steps[at], dtype) if all(steps) else b.emit("Div", picture, cells)
        places = b.cast(b.places(b.size_of(grid, 3 - at)), dtype)
        centre = b.emit("Mul", b.emit("Add", places, float(c.attr("offset"))), step)
        centre = b.unsqueeze(centre, [0, 2] if at == 0 else [1, 2])
        for kind, side in zip(("Sub", "Add"), ends, strict=True):
            side.append(b.emit("Div", b.emit(kind, centre, b.constant(halves[:, at], dtype)), picture))
    shape = [*grid.shape[2:], len(halves)]
    planes = b.concat([b.size_of(grid, 2), b.size_of(grid, 3), b.constant([len(halves)])])
    boxes = b.concat([b.unsqueeze(b.expand(side, planes, shape), [3]) for end in ends for side in end], 3)
    if c.attr("clip"):
        boxes = b.emit("Min", b.emit("Max", boxes, 0.0), 1.0)
    wide = b.concat([planes, b.constant([len(spread)])])
    return [boxes, b.expand(b.constant(spread, dtype), wide, [*shape, len(spread)])]


def _prior_sizes(c: Call) -> list[tuple[float, float]]:
    """Width and height of each prior, in the order of Paddle's kernel."""
    ratios = [1.0]
    for ratio in map(float, c.attr("aspect_ratios")):
        if all(abs(ratio - known) >= 1e-6 for known in ratios):
            ratios += [ratio, 1.0 / ratio] if c.attr("flip") else [ratio]
    c.ignore("flip")
    largest = [float(side) for side in c.attr("max_sizes")]
    square_second = bool(c.attr("min_max_aspect_ratios_order"))
    sizes: list[tuple[float, float]] = []
    for at, least in enumerate(map(float, c.attr("min_sizes"))):
        shaped = [(least * math.sqrt(ratio), least / math.sqrt(ratio)) for ratio in ratios]
        square = [(math.sqrt(least * largest[at]),) * 2] if largest else []
        sizes += [shaped[0], *square, *shaped[1:]] if square_second else [*shaped, *square]
    return sizes


def _box_coder(c: Call) -> Tensor:
    b, prior, target = c.b, c.x(0), c.x(2)
    more = 0.0 if c.attr("box_normalized") else 1.0
    decodes = c.insist("code_type", "encode_center_size", "decode_center_size") == "decode_center_size"
    axis, told = int(c.attr("axis")), [float(one) for one in c.attr("variance")]
    along = axis if decodes else 0
    spread = c.maybe(1) if c.has(1) else b.constant(told, prior.dtype) if told else None
    if spread is not None and spread.rank == 2:
        spread = b.unsqueeze(spread, [along])

    def sides(boxes: Tensor) -> list[Tensor]:
        return [b.slice(boxes, [at], [at + 1], [boxes.rank - 1]) for at in range(4)]

    def sized(boxes: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        left, upper, right, lower = sides(boxes)
        spans = [b.emit("Add", b.emit("Sub", end, begin), more) for begin, end in ((left, right), (upper, lower))]
        return spans, [
            b.emit("Add", begin, b.emit("Mul", span, 0.5)) for begin, span in zip((left, upper), spans, strict=True)
        ]

    spans, centres = sized(b.unsqueeze(prior, [along]))
    if not decodes:
        left, upper, right, lower = sides(b.unsqueeze(target, [1]))
        middles = [b.emit("Mul", b.emit("Add", *pair), 0.5) for pair in ((left, right), (upper, lower))]
        own = [b.emit("Add", b.emit("Sub", end, begin), more) for begin, end in ((left, right), (upper, lower))]
        moved = [
            b.emit("Div", b.emit("Sub", middle, at), span)
            for middle, at, span in zip(middles, centres, spans, strict=True)
        ]
        grown = [b.emit("Log", b.emit("Abs", b.emit("Div", size, span))) for size, span in zip(own, spans, strict=True)]
        made = b.emit("Concat", *moved, *grown, axis=2, shape=c.result().shape)
        return b.emit("Div", made, spread) if spread is not None else made
    x, y, w, h = sides(b.emit("Mul", target, spread) if spread is not None else target)
    middles = [
        b.emit("Add", b.emit("Mul", part, span), at) for part, span, at in zip((x, y), spans, centres, strict=True)
    ]
    halves = [
        b.emit("Mul", b.emit("Mul", b.emit("Exp", part), span), 0.5) for part, span in zip((w, h), spans, strict=True)
    ]
    begins = [b.emit("Sub", middle, half) for middle, half in zip(middles, halves, strict=True)]
    ends = [b.emit("Sub", b.emit("Add", middle, half), more) for middle, half in zip(middles, halves, strict=True)]
    return b.emit("Concat", *begins, *ends, axis=2, shape=c.result().shape)


OPERATORS: dict[str, Lowering] = {
    "yolo_box": _yolo_box,
    "prior_box": _prior_box,
    "box_coder": _box_coder,
}
