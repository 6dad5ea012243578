"""A recipe with everything that makes resuming hard: dropout, batch norm, Adam's moments, a schedule, numpy's dice."""

from __future__ import annotations

import time

import numpy as np
import paddle
from paddle import nn

from exporter.spec.recipe.base import Recipe, Samples

BATCHES = 40


class Tiny(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1D(16)
        self.drop = nn.Dropout(0.3)
        self.last = nn.Linear(16, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.last(self.drop(nn.functional.relu(self.norm(self.first(x)))))


def data() -> Samples:
    dice = np.random.default_rng(7)
    x = dice.normal(size=(BATCHES * 4 + 1 + 30, 6)).astype(np.float32)
    y = (x[:, :3] + 0.3 * x[:, 3:]).argmax(axis=1).astype(np.int64)
    train, held_out = np.split(np.arange(len(x)), [BATCHES * 4 + 1])
    return Samples({"x": x[train], "y": y[train]}, {"x": x[held_out], "y": y[held_out]})


def loss(logits: paddle.Tensor, y: paddle.Tensor) -> paddle.Tensor:
    time.sleep(0.005)  # an epoch shall last long enough to be interrupted within
    return nn.functional.cross_entropy(logits, y) * (1 + 0.01 * np.random.rand())


def accuracy(logits: np.ndarray, y: np.ndarray) -> float:
    return float((logits.argmax(axis=1) == y).mean())


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    rate = paddle.optimizer.lr.LinearWarmup(
        paddle.optimizer.lr.CosineAnnealingDecay(0.02, T_max=3 * BATCHES), warmup_steps=10, start_lr=0.0, end_lr=0.02
    )
    return paddle.optimizer.Adam(rate, parameters=layer.parameters())


recipe = Recipe(
    build=Tiny,
    data=data,
    inputs=("x",),
    labels=("y",),
    loss=loss,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=optimizer,
    epochs=3,
    batch_size=4,
)
