"""Five small detectors, one of each kind; what a point, an anchor or a query gives: scores of classes, and a box.

Images are [batch, 3, 64, 64]; boxes are left, top, right, bottom in pixels. `points` are the places [points, 2] that a
dense head speaks of.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import paddle
from paddle import Tensor, nn
from paddle.nn import functional

CLASSES, SIZE = 3, 64


def points_of(stride: int) -> Tensor:
    """Return the centres of the cells of a grid over the image, row by row."""
    centres = (np.arange(SIZE // stride, dtype="float32") + 0.5) * stride
    rows, columns = np.meshgrid(centres, centres, indexing="ij")
    return paddle.to_tensor(np.stack([columns.ravel(), rows.ravel()], 1))


def flat(maps: Tensor, numbers: int) -> Tensor:
    """Return a head's map [batch, anchors x numbers, height, width] as [batch, points, numbers]."""
    return maps.transpose([0, 2, 3, 1]).reshape([0, -1, numbers])


def conv(inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1) -> nn.Conv2D:
    """Return a convolution that keeps the image's size but for its stride."""
    return nn.Conv2D(inputs, outputs, size, stride, size // 2, groups=groups, bias_attr=False)


def block(inputs: int, outputs: int, stride: int, norm: Callable[[int], nn.Layer], bend: type[nn.Layer]) -> nn.Layer:
    """Return a convolution with its norm and activation."""
    return nn.Sequential(conv(inputs, outputs, 3, stride), norm(outputs), bend())


class AnchorFree(nn.Layer):
    """As FCOS and YOLOX: GroupNorm and SiLU, two strides, a shared tower, distances by exp and a learned scale."""

    def __init__(self) -> None:
        super().__init__()

        def norm(channels: int) -> nn.Layer:
            return nn.GroupNorm(8, channels)

        self.stem = nn.Sequential(block(3, 32, 2, norm, nn.Silu), block(32, 64, 2, norm, nn.Silu))
        self.third = nn.Sequential(block(64, 96, 2, norm, nn.Silu), block(96, 96, 1, norm, nn.Silu))
        self.fourth = nn.Sequential(block(96, 128, 2, norm, nn.Silu), block(128, 96, 1, norm, nn.Silu))
        self.tower = nn.Sequential(block(96, 96, 1, norm, nn.Silu), block(96, 96, 1, norm, nn.Silu))
        self.scores, self.sides = nn.Conv2D(96, CLASSES, 3, padding=1), nn.Conv2D(96, 4, 3, padding=1)
        self.scales = self.create_parameter([2], default_initializer=nn.initializer.Constant(1.0))
        self.register_buffer("points", paddle.concat([points_of(8), points_of(16)]))

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        third = self.third(self.stem(image))
        scores, boxes = [], []
        for at, (level, stride) in enumerate(((third, 8), (self.fourth(third), 16))):
            tower = self.tower(level)
            scores.append(flat(self.scores(tower), CLASSES))
            boxes.append(flat(functional.silu(self.sides(tower) * self.scales[at]).exp() * stride, 4))
        sides = paddle.concat(boxes, 1)
        corners = paddle.concat([self.points - sides[:, :, :2], self.points + sides[:, :, 2:]], -1)
        return functional.sigmoid(paddle.concat(scores, 1)), corners


class Yolo(nn.Layer):
    """As YOLOv5: BatchNorm, a split and joined stage, pools in a row, an upsampled branch, boxes by sigmoid."""

    def __init__(self) -> None:
        super().__init__()
        norm, bend = nn.BatchNorm2D, nn.Silu
        self.stem = nn.Sequential(block(3, 32, 2, norm, bend), block(32, 64, 2, norm, bend))
        self.left, self.right = block(64, 48, 1, norm, bend), block(64, 48, 1, norm, bend)
        self.inner = nn.Sequential(block(48, 48, 1, norm, bend), block(48, 48, 1, norm, bend))
        self.third, self.fourth = block(96, 96, 2, norm, bend), block(96, 128, 2, norm, bend)
        self.pooled = nn.Sequential(nn.Conv2D(128 * 3, 96, 1, bias_attr=False), norm(96), bend())
        self.joined = block(96 + 96, 96, 1, norm, bend)
        self.heads = nn.LayerList([nn.Conv2D(96, 4 + CLASSES, 1), nn.Conv2D(96, 4 + CLASSES, 1)])
        self.register_buffer("points", paddle.concat([points_of(8), points_of(16)]))
        strides = np.concatenate([np.full(64, 8.0), np.full(16, 16.0)]).astype("float32")
        self.register_buffer("strides", paddle.to_tensor(strides[:, None]))

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        stem = self.stem(image)
        left = self.left(stem)
        third = self.third(paddle.concat([left + self.inner(left), self.right(stem)], 1))
        fourth = self.fourth(third)
        pools = [fourth]
        for _ in range(2):
            pools.append(functional.max_pool2d(pools[-1], 3, 1, 1))
        deep = self.pooled(paddle.concat(pools, 1))
        fine = self.joined(paddle.concat([third, functional.interpolate(deep, scale_factor=2)], 1))
        given = paddle.concat([flat(self.heads[0](fine), 4 + CLASSES), flat(self.heads[1](deep), 4 + CLASSES)], 1)
        centres = self.points + (functional.sigmoid(given[:, :, :2]) * 2 - 1) * self.strides
        halves = (functional.sigmoid(given[:, :, 2:4]) * 2) ** 2 * self.strides
        return functional.sigmoid(given[:, :, 4:]), paddle.concat([centres - halves, centres + halves], -1)


class Ssd(nn.Layer):
    """As SSD on MobileNet: depthwise convolutions, relu6, softmax with a background, deltas to anchors."""

    def __init__(self) -> None:
        super().__init__()
        sizes = [(3, 32, 2), (32, 64, 2), (64, 96, 1), (96, 128, 2), (128, 160, 1), (160, 192, 2), (192, 192, 1)]
        stages: list[nn.Layer] = []
        for inputs, outputs, stride in sizes:
            apart = [conv(inputs, inputs, 3, stride, inputs), nn.BatchNorm2D(inputs), nn.ReLU6()] if stages else []
            size, step = (1, 1) if stages else (3, stride)
            own = [*apart, conv(inputs, outputs, size, step), nn.BatchNorm2D(outputs), nn.ReLU6()]
            stages.append(nn.Sequential(*own))
        self.fine, self.deep = nn.Sequential(*stages[:5]), nn.Sequential(*stages[5:])
        self.scores = nn.LayerList(
            [nn.Conv2D(160, CLASSES + 1, 3, padding=1), nn.Conv2D(192, CLASSES + 1, 3, padding=1)]
        )
        self.deltas = nn.LayerList([nn.Conv2D(160, 4, 3, padding=1), nn.Conv2D(192, 4, 3, padding=1)])
        self.register_buffer("points", paddle.concat([points_of(8), points_of(16)]))
        sizes_of = np.concatenate([np.full(64, 12.0), np.full(16, 24.0)]).astype("float32")
        self.register_buffer("sizes", paddle.to_tensor(sizes_of[:, None]))

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.fine(image)
        levels = [fine, self.deep(fine)]
        scores = [flat(head(level), CLASSES + 1) for head, level in zip(self.scores, levels, strict=True)]
        deltas = paddle.concat([flat(head(level), 4) for head, level in zip(self.deltas, levels, strict=True)], 1)
        centres = self.points + deltas[:, :, :2] * 0.1 * self.sizes
        halves = paddle.exp(deltas[:, :, 2:] * 0.2) * self.sizes / 2
        return functional.softmax(paddle.concat(scores, 1), -1), paddle.concat([centres - halves, centres + halves], -1)


class Db(nn.Layer):
    """As DB: residual stages with hard-swish and squeeze-and-excite, a pyramid, two maps by transposed convolutions."""

    def __init__(self) -> None:
        super().__init__()
        norm, bend = nn.BatchNorm2D, nn.Hardswish
        self.stem = block(3, 32, 2, norm, bend)
        widths = [32, 64, 96, 128]
        self.stages = nn.LayerList([block(a, b, 2, norm, bend) for a, b in pairwise(widths)])
        self.again = nn.LayerList([block(width, width, 1, norm, bend) for width in widths[1:]])
        self.down = nn.LayerList([nn.Conv2D(width, width // 4, 1) for width in widths[1:]])
        self.up = nn.LayerList([nn.Conv2D(width // 4, width, 1) for width in widths[1:]])
        self.sides = nn.LayerList([nn.Conv2D(width, 64, 1) for width in widths[1:]])
        self.smooth = nn.LayerList([conv(64, 32) for _ in widths[1:]])
        self.maps = nn.LayerList([self._head() for _ in range(2)])

    @staticmethod
    def _head() -> nn.Layer:
        return nn.Sequential(
            *(block(96, 32, 1, nn.BatchNorm2D, nn.ReLU), nn.Conv2DTranspose(32, 32, 2, 2), nn.BatchNorm2D(32)),
            *(nn.ReLU(), nn.Conv2DTranspose(32, 1, 2, 2), nn.Sigmoid()),
        )

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        value, levels = self.stem(image), []
        for stage, again, down, up in zip(self.stages, self.again, self.down, self.up, strict=True):
            value = stage(value)
            inner = again(value)
            gate = functional.hardsigmoid(up(functional.relu(down(functional.adaptive_avg_pool2d(inner, 1)))))
            value = value + inner * gate
            levels.append(value)
        sides = [side(level) for side, level in zip(self.sides, levels, strict=True)]
        for at in (1, 0):
            sides[at] = sides[at] + functional.interpolate(sides[at + 1], scale_factor=2)
        smooth = [own(side) for own, side in zip(self.smooth, sides, strict=True)]
        joined = [functional.interpolate(smooth[at], scale_factor=2**at) if at else smooth[0] for at in range(3)]
        fused = paddle.concat(joined, 1)
        return self.maps[0](fused), self.maps[1](fused)


class RtDetr(nn.Layer):
    """As RT-DETR: a convolutional backbone, an encoder over its last level, learned queries that look at all levels."""

    def __init__(self, width: int = 96) -> None:
        super().__init__()
        norm, bend = nn.BatchNorm2D, nn.ReLU
        self.backbone = nn.Sequential(
            block(3, 32, 2, norm, bend), block(32, 64, 2, norm, bend), block(64, 96, 2, norm, bend)
        )
        self.last = block(96, width, 2, norm, bend)
        self.side = nn.Conv2D(96, width, 1)
        encoder = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, activation="gelu")
        decoder = nn.TransformerDecoderLayer(width, 4, 2 * width, dropout=0.0, activation="relu")
        self.encoder, self.decoder = nn.TransformerEncoder(encoder, 1), nn.TransformerDecoder(decoder, 2)
        self.queries = self.create_parameter([1, 8, width], default_initializer=nn.initializer.Normal(0.0, 1.0))
        self.places = self.create_parameter([1, 16, width], default_initializer=nn.initializer.Normal(0.0, 0.5))
        self.fine_places = self.create_parameter([1, 64, width], default_initializer=nn.initializer.Normal(0.0, 0.5))
        self.classes = nn.Linear(width, CLASSES + 1)
        self.corners = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.backbone(image)
        tokens = self.encoder(self.last(fine).flatten(2).transpose([0, 2, 1]) + self.places)
        memory = paddle.concat([tokens, self.side(fine).flatten(2).transpose([0, 2, 1]) + self.fine_places], 1)
        answers = self.decoder(self.queries + tokens[:, :8], memory)
        return functional.softmax(self.classes(answers), -1), functional.sigmoid(self.corners(answers)) * SIZE


def anchor_free() -> nn.Layer:
    return AnchorFree()


def yolo() -> nn.Layer:
    return Yolo()


def ssd() -> nn.Layer:
    return Ssd()


def db() -> nn.Layer:
    return Db()


def rt_detr() -> nn.Layer:
    return RtDetr()


#: The factory of each kind, and what the network gives.
NETWORKS: dict[str, Callable[[], nn.Layer]] = {
    "anchor_free": anchor_free,
    "yolo": yolo,
    "ssd": ssd,
    "db": db,
    "rt_detr": rt_detr,
}
OUTPUTS = {name: ("text", "borders") if name == "db" else ("scores", "boxes") for name in NETWORKS}
