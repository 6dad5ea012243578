"""Networks of different kinds in which faults are planted; random weights, and no two tensors alike."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.vision import models

from recipes.digits import build


class Encoder(nn.Layer):
    """Two layers of attention over feature rows: [batch, seq, 24] to [batch, 5]."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(24, 4, 48, dropout=0.0, activation="gelu")
        self.project = nn.Linear(24, 24)
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(24))
        self.head = nn.Linear(24, 5)

    def forward(self, features: paddle.Tensor) -> paddle.Tensor:
        hidden = self.encoder(self.project(features))
        return self.head(hidden.mean(axis=1))


def digits() -> nn.Layer:
    return _told_apart(build())


def resnet18() -> nn.Layer:
    return _told_apart(models.resnet18(num_classes=10))


def mobilenet_v2() -> nn.Layer:
    return _told_apart(models.mobilenet_v2(scale=0.25, num_classes=10))


def encoder() -> nn.Layer:
    return _told_apart(Encoder())


def _told_apart(layer: nn.Layer) -> nn.Layer:
    """Move what initialisers make all zero or all one: biases, norms and their statistics."""
    for value in layer.state_dict().values():
        if len(value.shape) == 1:
            value.set_value(value.numpy() + 0.5 * paddle.rand(value.shape).numpy())
    return layer
