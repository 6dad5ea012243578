"""Small networks in the roles that PaddleX and PaddleOCR have predictors for; untrained, with answers that differ."""

from __future__ import annotations

import numpy as np
import paddle
from paddle import nn


class Features(nn.Layer):
    """Picture [batch, 3, height, width] to [batch, 16, height / 4, width / 4], by fixed weights."""

    def __init__(self) -> None:
        super().__init__()
        dice = np.random.RandomState(7)
        self.first = nn.Conv2D(3, 8, 3, stride=2, padding=1, weight_attr=drawn(dice, (8, 3, 3, 3)))
        self.second = nn.Conv2D(8, 16, 3, stride=2, padding=1, weight_attr=drawn(dice, (16, 8, 3, 3)))

    def forward(self, picture: paddle.Tensor) -> paddle.Tensor:
        relu = nn.functional.relu
        return relu(self.second(relu(self.first(picture))))


def drawn(dice: np.random.RandomState, shape: tuple[int, ...]) -> paddle.ParamAttr:
    """Weights of a normal distribution, scaled by the number of inputs."""
    scale = np.sqrt(2 / np.prod(shape[1:] if len(shape) == 4 else shape[:1]))
    values = (dice.standard_normal(shape) * scale).astype("float32")
    return paddle.ParamAttr(initializer=nn.initializer.Assign(values))


class Classifier(nn.Layer):
    """Picture [batch, 3, 32, 32] to probabilities [batch, 6]."""

    def __init__(self) -> None:
        super().__init__()
        self.features = Features()
        self.head = nn.Linear(256, 6, weight_attr=drawn(np.random.RandomState(8), (256, 6)))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        pooled = nn.functional.adaptive_avg_pool2d(self.features(x), 4)
        return nn.functional.softmax(self.head(paddle.flatten(pooled, 1)), axis=-1)


class Reader(nn.Layer):
    """Line [batch, 3, 32, width] to probabilities [batch, width / 4, 9], the first class being the blank."""

    def __init__(self) -> None:
        super().__init__()
        self.features = Features()
        self.head = nn.Linear(16, 9, weight_attr=drawn(np.random.RandomState(9), (16, 9)))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        columns = paddle.transpose(self.features(x).mean(2), [0, 2, 1])
        return nn.functional.softmax(self.head(columns - columns.mean(1, keepdim=True)) * 8.0, axis=-1)


class Segmenter(nn.Layer):
    """Picture [batch, 3, 20, 24] to the class of each pixel, int32 [batch, 20, 24], as PaddleSeg exports it."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Conv2D(3, 5, 5, padding=2, weight_attr=drawn(np.random.RandomState(10), (5, 3, 5, 5)))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return paddle.argmax(self.head(x), axis=1, dtype="int32")
