"""Detection with the suppression in the artifact: squares, discs and triangles in noise, drawn here.

The net is trained without suppression, by `build`; `served`, which the spec exports, takes one image and says of each
of its 36 cells the box, the class, a logit and whether no better cell has the same object. Real data: images of 48×48
and `data/shapes/train.csv` and `data/shapes/held_out.csv`, a line of headings, then an image's path (below
`data/shapes`), the class from 0 to 2 and the box x1, y1, x2, y2 a line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Part, Recipe
from recipes._folder import real

SIZE, STRIDE, CLASSES = 48, 8, 3
CELLS = SIZE // STRIDE
OVERLAP = 0.5
EPOCHS = 4
BATCH = 32
IMAGES = 1600

#: An object: its class, and x1, y1, x2, y2 in pixels.
Thing = tuple[int, tuple[float, float, float, float]]


class Shapes(nn.Layer):
    """Image [batch, 3, 48, 48] to cells [batch, 36, 8]: an object's logit, three classes', and x1, y1, x2, y2."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(*_block(3, 16, 2), *_block(16, 32, 2), *_block(32, 64, 2), *_block(64, 64, 1))
        self.head = nn.Conv2D(64, 1 + CLASSES + 4, 1)
        rows, columns = np.mgrid[:CELLS, :CELLS] * STRIDE + STRIDE / 2
        middle = np.stack([columns.ravel(), rows.ravel()], axis=1).astype(np.float32)
        self.register_buffer("middle", paddle.to_tensor(middle), persistable=False)

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        """Each box reaches from the middle of its cell by so much to each side."""
        found = self.head(self.body(image)).flatten(2).transpose([0, 2, 1])
        sides = STRIDE * nn.functional.softplus(found[:, :, 1 + CLASSES :])
        corners = [self.middle - sides[:, :, :2], self.middle + sides[:, :, 2:]]
        return paddle.concat([found[:, :, : 1 + CLASSES], *corners], axis=-1)


class Served(Shapes):
    """Image [1, 3, 48, 48] to boxes [36, 4], classes [36], logits [36] and which are kept [36]."""

    def forward(self, image: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor, paddle.Tensor, paddle.Tensor]:
        """Decode, and keep one box of those that overlap; something is there where it is kept and its logit over 0."""
        found = super().forward(image)[0]
        logit, boxes = found[:, 0], found[:, 1 + CLASSES :]
        # Of equal scores, as on an empty image, the first cell's goes first, whoever computes them.
        order = logit - 1e-3 * paddle.arange(CELLS * CELLS).astype("float32")
        kept = paddle.vision.ops.nms(boxes, OVERLAP, order)
        there = paddle.zeros_like(logit).put_along_axis(kept, paddle.ones([1], logit.dtype), 0)
        return boxes, found[:, 1 : 1 + CLASSES].argmax(axis=-1), logit, there > 0


def _block(inputs: int, outputs: int, stride: int) -> list[nn.Layer]:
    convolution = nn.Conv2D(inputs, outputs, 3, stride=stride, padding=1, bias_attr=False)
    return [convolution, nn.BatchNorm2D(outputs), nn.ReLU()]


def build() -> nn.Layer:
    """What is trained."""
    return Shapes()


def served() -> nn.Layer:
    """The factory that `specs/shapes.yaml` names: the same weights, with the suppression behind them."""
    return Served()


def drawn(dice: np.random.RandomState) -> tuple[np.ndarray, list[Thing]]:
    """An image [3, SIZE, SIZE] with one to three things that hardly overlap."""
    image = dice.uniform(0, 0.25, (3, SIZE, SIZE))
    y, x = np.mgrid[:SIZE, :SIZE] + 0.5
    things: list[Thing] = []
    for _ in range(dice.randint(1, 4)):
        size = dice.uniform(10, 18)
        left, top = dice.uniform(0, SIZE - size, 2)
        box = (left, top, left + size, top + size)
        if any(overlap(box, other) > 0.05 for _, other in things):
            continue
        kind = dice.randint(CLASSES)
        across, down = abs(x - left - size / 2), y - top
        inside = (across < size / 2) & (down > 0) & (down < size)
        if kind == 1:
            inside = across**2 + (down - size / 2) ** 2 < (size / 2) ** 2
        elif kind == 2:
            inside &= across < down / 2
        image[:, inside] = dice.uniform(0.5, 1.0, (3, 1))
        things.append((kind, box))
    return image.astype(np.float32), things


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """What two boxes share, over what they cover together (IoU)."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    both = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return both / (sum(areas) - both)


def target(things: list[Thing]) -> np.ndarray:
    """[36, 6]: of each cell whose middle lies well inside a thing 1, the class and the box; else 0."""
    cells = np.zeros((CELLS, CELLS, 6), np.float32)
    for kind, (left, top, right, bottom) in things:
        reach = (right - left) / 3
        for row in range(CELLS):
            for column in range(CELLS):
                x, y = column * STRIDE + STRIDE / 2, row * STRIDE + STRIDE / 2
                if abs(x - (left + right) / 2) < reach and abs(y - (top + bottom) / 2) < reach:
                    cells[row, column] = (1, kind, left, top, right, bottom)
    return cells.reshape(-1, 6)


def data(part: Part) -> Iterator[dict[str, np.ndarray]]:
    """Batches of images with the targets of their cells; new ones in each epoch of training."""
    dice = np.random.RandomState(np.random.randint(2**31) if part == "train" else 1)
    images = _listed(folder, part) if (folder := real("shapes")) else None
    count = len(images) if images else IMAGES if part == "train" else 320
    for start in range(0, count, BATCH):
        some = images[start : start + BATCH] if images else [drawn(dice) for _ in range(BATCH)]
        yield {"image": np.stack([image for image, _ in some]), "cells": np.stack([target(told) for _, told in some])}


def _listed(folder: Path, part: Part) -> list[tuple[np.ndarray, list[Thing]]]:
    from PIL import Image

    things: dict[str, list[Thing]] = {}
    with (folder / f"{part}.csv").open(newline="") as lines:
        for path, kind, *box in list(csv.reader(lines))[1:]:
            things.setdefault(path, []).append((int(kind), tuple(map(float, box))))
    return [(_scaled(Image.open(folder / path)), told) for path, told in things.items()]


def _scaled(picture: Any) -> np.ndarray:
    pixels = np.asarray(picture.convert("RGB").resize((SIZE, SIZE)), np.float32)
    return pixels.transpose(2, 0, 1) / 255


def loss(found: paddle.Tensor, cells: paddle.Tensor) -> paddle.Tensor:
    """Whether there is something, and where there is, what and how far to each side."""
    there = cells[:, :, 0]
    whether = nn.functional.binary_cross_entropy_with_logits(found[:, :, 0], there)
    kinds = nn.functional.cross_entropy(found[:, :, 1 : 1 + CLASSES], cells[:, :, 1].astype("int64"), reduction="none")
    sides = (found[:, :, 1 + CLASSES :] - cells[:, :, 2:]).abs().mean(axis=-1) / STRIDE
    return 3 * whether + ((kinds.reshape(there.shape) + sides) * there).sum() / there.sum().clip(min=1)


def suppressed(found: np.ndarray) -> list[Thing]:
    """The things of one image's cells [36, 8], the surest first, without those that overlap a surer one."""
    kept: list[Thing] = []
    for cell in sorted(found.tolist(), reverse=True):
        box = tuple(cell[1 + CLASSES :])
        if cell[0] > 0 and all(overlap(box, other) <= OVERLAP for _, other in kept):
            kept.append((int(np.argmax(cell[1 : 1 + CLASSES])), box))
    return kept


def f1(found: np.ndarray, cells: np.ndarray) -> float:
    """Of things that are there or were found, those found in the right place (IoU over a half) as what they are."""
    right = total = 0
    for one, told in zip(found, cells, strict=True):
        truth = {(int(cell[1]), tuple(cell[2:].tolist())) for cell in told if cell[0]}
        kept = suppressed(one)
        total += len(truth) + len(kept)
        right += sum(any(kind == is_ and overlap(box, at) > 0.5 for kind, box in kept) for is_, at in truth)
    return 2 * right / max(total, 1)


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam, whose rate falls along half a cosine, once an epoch."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(4e-3, T_max=EPOCHS)
    return paddle.optimizer.Adam(rate, parameters=layer.parameters())


recipe = Recipe(
    build=build,
    data=data,
    inputs=("image",),
    labels=("cells",),
    loss=loss,
    metric=f1,
    metric_name="f1",
    optimizer=optimizer,
    epochs=EPOCHS,
    schedule_by="epoch",
    floor=0.8,
)
