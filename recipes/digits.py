"""Handwritten digits: scikit-learn's 1,797 scanned 8×8 images and a small convolutional net that reads them."""

from __future__ import annotations

from importlib.metadata import distribution

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Recipe, Samples

EPOCHS = 12
BATCH = 32


class Digits(nn.Layer):
    """Two blocks of conv–bn–relu–pool, then a linear layer: image [batch, 1, 8, 8] to logits [batch, 10]."""

    def __init__(self) -> None:
        super().__init__()
        # A convolution before a batch norm has no bias: the norm would subtract it again.
        self.conv1 = nn.Conv2D(1, 32, 3, padding=1, bias_attr=False)
        self.norm1 = nn.BatchNorm2D(32)
        self.conv2 = nn.Conv2D(32, 64, 3, padding=1, bias_attr=False)
        self.norm2 = nn.BatchNorm2D(64)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2D(2)
        self.flatten = nn.Flatten()
        self.linear = nn.Linear(64 * 2 * 2, 10)

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        """Score each of the ten digits."""
        x = self.pool(self.relu(self.norm1(self.conv1(image))))
        x = self.pool(self.relu(self.norm2(self.conv2(x))))
        return self.linear(self.flatten(x))


def build() -> nn.Layer:
    """The factory that `specs/digits.yaml` names."""
    return Digits()


def data() -> Samples:
    """Pixels scaled from 0…16 to 0…1; every fifth of the shuffled images is held out, always the same ones."""
    # The file alone: its package takes two seconds to import, in each of the processes that need data.
    file = distribution("scikit-learn").locate_file("sklearn/datasets/data/digits.csv.gz")
    digits = np.loadtxt(str(file), delimiter=",")
    image = (digits[:, :-1].reshape(-1, 1, 8, 8) / 16).astype(np.float32)
    label = digits[:, -1].astype(np.int64)
    order = np.random.RandomState(0).permutation(len(label))  # RandomState: numpy promises its stream for ever
    held_out, train = order[::5], np.delete(order, np.s_[::5])
    return Samples(
        train={"image": image[train], "label": label[train]},
        held_out={"image": image[held_out], "label": label[held_out]},
    )


def accuracy(logits: np.ndarray, label: np.ndarray) -> float:
    """The share of images whose highest score is the right digit's."""
    return float((logits.argmax(axis=1) == label).mean())


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """AdamW whose rate falls along half a cosine, once an epoch."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(3e-3, T_max=EPOCHS)
    return paddle.optimizer.AdamW(rate, parameters=layer.parameters(), weight_decay=1e-2)


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
    batch_size=BATCH,
    schedule_by="epoch",
    floor=0.975,
)
