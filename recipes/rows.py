"""Rows in a loop: digits read row by row, from the top down, by a `while` over as many rows as the image has.

The data are scikit-learn's scanned 8×8 digits, cut off below: 5 to 8 rows are there. Real data: `data/rows/train.csv`
and `data/rows/held_out.csv`, a line of headings, then 64 pixels from 0 to 16 and the digit a line.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Part, Recipe
from recipes._folder import real, table
from recipes._scores import accuracy
from recipes.digits import data as digits

EPOCHS = 24
BATCH = 32
FEWEST, MOST = 5, 8


class Rows(nn.Layer):
    """Image [batch, rows, 8] to logits [batch, 10]: what was seen so far changes with each row."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = nn.Linear(8 + 48, 48)
        self.logits = nn.Linear(48, 10)

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        """Go through the rows in a loop that the artifact keeps: their number is known when it runs."""
        state = paddle.zeros([image.shape[0], 48])
        row = paddle.zeros([], "int64")
        while row < image.shape[1]:
            state = nn.functional.tanh(self.seen(paddle.concat([image[:, row], state], axis=1)))
            row = row + 1
        return self.logits(state)


def build() -> nn.Layer:
    """The factory that `specs/rows.yaml` names."""
    return Rows()


def data(part: Part) -> Iterator[dict[str, np.ndarray]]:
    """Batches of images that are cut to one number of rows each; held-out ones are whole."""
    image, label = _images(part)
    order = np.random.permutation(len(label)) if part == "train" else np.arange(len(label))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        count = np.random.randint(FEWEST, MOST + 1) if part == "train" else MOST
        yield {"image": image[rows, :count], "label": label[rows]}


def _images(part: Part) -> tuple[np.ndarray, np.ndarray]:
    if (folder := real("rows")) is not None:
        lines = table(folder / f"{part}.csv")
        return lines[:, :64].reshape(-1, 8, 8) / 16, lines[:, 64].astype(np.int64)
    arrays = getattr(digits(), part)
    return arrays["image"][:, 0], arrays["label"]


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam, whose rate falls along half a cosine, once an epoch."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(5e-3, T_max=EPOCHS)
    return paddle.optimizer.Adam(rate, parameters=layer.parameters())


recipe = Recipe(
    build=build,
    data=data,
    inputs=("image",),
    labels=("label",),
    loss=nn.functional.cross_entropy,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=optimizer,
    epochs=EPOCHS,
    schedule_by="epoch",
    floor=0.85,
)
