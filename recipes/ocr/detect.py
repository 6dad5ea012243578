"""Where lines of text are on a page, by segmentation; the first net of the OCR chain.

Real data: `data/detect/train.txt` and `data/detect/held_out.txt`, an image's path (below `data/detect`), a tab and JSON
a line, `[{"points": [[x, y], …]}, …]`, as PaddleOCR's lists have. A page is cut to 96×160.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Part, Recipe
from recipes._folder import pairs, picture, real
from recipes.ocr.pages import HEIGHT, WIDTH, Line, marked, page

EPOCHS = 4
BATCH = 16
PAGES = 960


class Detector(nn.Layer):
    """Page [batch, 1, height, width], in steps of 8, to logits of text [batch, 1, height / 2, width / 2]."""

    def __init__(self) -> None:
        super().__init__()
        self.to_half = _block(1, 12, 2)
        self.to_quarter = _block(12, 24, 2)
        self.to_eighth = _block(24, 32, 2)
        self.wide = _block(32, 32, 1)
        self.from_eighth = nn.Conv2D(32, 24, 1)
        self.from_quarter = nn.Conv2D(24, 12, 1)
        self.last = nn.Sequential(_block(12, 12, 1), nn.Conv2D(12, 1, 1))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, page: paddle.Tensor) -> paddle.Tensor:
        """Down to an eighth, and up again with what was there at each size.

        No sigmoid at the end: ONNX Runtime's (1.31) errs by up to 1.3e-7 however small its value is, which is much on a
        page without text. Text is where a logit is over 0.
        """
        half = self.to_half(page)
        quarter = self.to_quarter(half)
        eighth = self.wide(self.to_eighth(quarter))
        quarter = quarter + self.up(self.from_eighth(eighth))
        half = half + self.up(self.from_quarter(quarter))
        return self.last(half)


def _block(inputs: int, outputs: int, stride: int) -> nn.Layer:
    convolution = nn.Conv2D(inputs, outputs, 3, stride=stride, padding=1, bias_attr=False)
    return nn.Sequential(convolution, nn.BatchNorm2D(outputs), nn.ReLU())


def build() -> nn.Layer:
    """The factory that `specs/ocr-detect.yaml` names."""
    return Detector()


def data(part: Part) -> Iterator[dict[str, np.ndarray]]:
    """Batches of pages with the map of their text; new ones in each epoch of training."""
    if (folder := real("detect")) is not None:
        pages = [_real(picture(folder / path), told) for path, told in pairs(folder / f"{part}.txt")]
        for start in range(0, len(pages), BATCH):
            yield _batch(pages[start : start + BATCH])
        return
    dice = np.random.RandomState(np.random.randint(2**31) if part == "train" else 3)
    for _ in range((PAGES if part == "train" else 160) // BATCH):
        yield _batch([page(part, dice) for _ in range(BATCH)])


def _real(image: np.ndarray, told: str) -> tuple[np.ndarray, list[Line]]:
    whole = np.zeros((HEIGHT, WIDTH), np.float32)
    cut = image[:HEIGHT, :WIDTH]
    whole[: cut.shape[0], : cut.shape[1]] = cut
    lines = []
    for line in json.loads(told):
        (left, top), (right, bottom) = np.min(line["points"], axis=0), np.max(line["points"], axis=0)
        lines.append(Line(int(top), int(left), int(bottom), int(right), turned=False, said=""))
    return whole, lines


def _batch(pages: list[tuple[np.ndarray, list[Line]]]) -> dict[str, np.ndarray]:
    maps = np.stack([marked(lines) for _, lines in pages])[:, None]
    return {"page": np.stack([image for image, _ in pages])[:, None], "map": maps}


def loss(logits: paddle.Tensor, truth: paddle.Tensor) -> paddle.Tensor:
    """Cross entropy at each point, and how little of both maps together they have in common (dice)."""
    probability = nn.functional.sigmoid(logits)
    both, sizes = (probability * truth).sum(), probability.sum() + truth.sum()
    return nn.functional.binary_cross_entropy_with_logits(logits, truth) + 1 - (2 * both + 1) / (sizes + 1)


def in_common(logits: np.ndarray, truth: np.ndarray) -> float:
    """Points that both maps mark, over those that either does (IoU)."""
    there, marks = logits > 0, truth > 0.5
    return float((there & marks).sum() / max((there | marks).sum(), 1))


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam, whose rate falls along half a cosine, once an epoch."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(5e-3, T_max=EPOCHS)
    return paddle.optimizer.Adam(rate, parameters=layer.parameters())


recipe = Recipe(
    build=build,
    data=data,
    inputs=("page",),
    labels=("map",),
    loss=loss,
    metric=in_common,
    metric_name="iou",
    optimizer=optimizer,
    epochs=EPOCHS,
    schedule_by="epoch",
    floor=0.75,
)
