"""Whether a line of text is upside down: a small classifier, between detection and reading in the OCR chain.

Real data: `data/direction/train.txt` and `data/direction/held_out.txt`, an image's path (below `data/direction`), a tab
and 0 or 180 a line, as PaddleOCR's lists have.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Part, Recipe
from recipes._folder import pairs, picture, real
from recipes._scores import accuracy
from recipes.ocr.lines import HEIGHT, WIDTH, ink, placed, scanned, text

EPOCHS = 6
BATCH = 32
LINES = 6400


class Direction(nn.Layer):
    """Line [batch, 1, 24, 128], ink from 0 to 1, to logits [batch, 2]: upright, upside down."""

    def __init__(self) -> None:
        super().__init__()
        self.look = nn.Sequential(
            *_block(1, 16, 2), *_block(16, 32, (2, 1)), *_block(32, 64, 2), *_block(64, 64, (3, 1))
        )
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.logits = nn.Linear(64, 2)

    def forward(self, line: paddle.Tensor) -> paddle.Tensor:
        """Let each place of the line vote."""
        return self.logits(self.pool(self.look(line)).flatten(1))


def _block(inputs: int, outputs: int, stride: int | tuple[int, int]) -> list[nn.Layer]:
    convolution = nn.Conv2D(inputs, outputs, 3, stride=stride, padding=1, bias_attr=False)
    return [convolution, nn.BatchNorm2D(outputs), nn.ReLU()]


def build() -> nn.Layer:
    """The factory that `specs/ocr-direction.yaml` names."""
    return Direction()


def data(part: Part) -> Iterator[dict[str, np.ndarray]]:
    """Batches of lines, half of them upside down; new ones in each epoch of training."""
    if (folder := real("direction")) is not None:
        listed = [(picture(folder / path), said) for path, said in pairs(folder / f"{part}.txt")]
        lines = [(placed(image[:HEIGHT, :WIDTH]), int(said == "180")) for image, said in listed]
        for start in range(0, len(lines), BATCH):
            yield _batch(lines[start : start + BATCH])
        return
    dice = np.random.RandomState(np.random.randint(2**31) if part == "train" else 2)
    for _ in range((LINES if part == "train" else 640) // BATCH):
        yield _batch([_line(part, dice) for _ in range(BATCH)])


def _line(part: Part, dice: np.random.RandomState) -> tuple[np.ndarray, int]:
    turned, drawn = dice.randint(2), ink(text(dice), part, dice)
    return scanned(placed(drawn[::-1, ::-1] if turned else drawn, dice), dice), turned


def _batch(lines: list[tuple[np.ndarray, int]]) -> dict[str, np.ndarray]:
    image = np.stack([image for image, _ in lines])[:, None]
    return {"line": image, "turned": np.array([turned for _, turned in lines], np.int64)}


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam, whose rate falls along half a cosine, once an epoch."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(5e-3, T_max=EPOCHS)
    return paddle.optimizer.Adam(rate, parameters=layer.parameters())


recipe = Recipe(
    build=build,
    data=data,
    inputs=("line",),
    labels=("turned",),
    loss=nn.functional.cross_entropy,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=optimizer,
    epochs=EPOCHS,
    schedule_by="epoch",
    floor=0.96,
)
