"""ResNet-50 on small images: Paddle's own, or another depth that `paddle.vision` has, on digits of 32×32.

The data are scikit-learn's scanned digits, each pixel 4×4, in ink of a random colour. Real data: `data/resnet/train`
and `data/resnet/held_out`, a folder of images for each of the ten classes (`paddle.vision.datasets.DatasetFolder`).
"""

from __future__ import annotations

import numpy as np
import paddle
from paddle import nn
from paddle.vision import models

from exporter.recipe.base import Part, Recipe
from recipes._folder import real
from recipes._scores import accuracy
from recipes.digits import data as digits

EPOCHS = 6
SIZE = 32


class Pictures(paddle.io.Dataset):
    """Images [3, 32, 32] and their digits; in training in other colours each time."""

    def __init__(self, part: Part) -> None:
        super().__init__()
        arrays = getattr(digits(), part)
        self._images, self._labels, self._training = arrays["image"], arrays["label"], part == "train"

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        dice = np.random if self._training else np.random.RandomState(index)
        ink = dice.uniform(0.5, 1.0, (3, 1, 1)).astype(np.float32)
        return np.kron(self._images[index], np.ones((1, 4, 4), np.float32)) * ink, self._labels[index]


def _ready(image: object) -> np.ndarray:
    """A picture of any size as the net takes it."""
    pixels = np.asarray(image.convert("RGB").resize((SIZE, SIZE)), np.float32)
    return pixels.transpose(2, 0, 1) / 255


def data(part: Part) -> paddle.io.Dataset:
    """Images one by one; the loop shuffles them and makes batches."""
    if (folder := real("resnet")) is not None:
        return paddle.vision.datasets.DatasetFolder(str(folder / part), transform=_ready)
    return Pictures(part)


def build(depth: int = 50) -> nn.Layer:
    """The factory that `specs/resnet.yaml` names; 18 takes a third of the time."""
    return getattr(models, f"resnet{depth}")(num_classes=10)


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam, whose rate falls along half a cosine, once an epoch."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(1e-3, T_max=EPOCHS)
    return paddle.optimizer.Adam(rate, parameters=layer.parameters())


recipe = Recipe(
    build=build,
    data=data,
    inputs=("x",),
    labels=("label",),
    loss=nn.functional.cross_entropy,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=optimizer,
    epochs=EPOCHS,
    batch_size=32,
    schedule_by="epoch",
    floor=0.93,
)
