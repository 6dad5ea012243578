"""Recipes whose training is shared among ranks: the loss is the mean over rows, nothing depends on other rows."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import paddle
from paddle import nn

from exporter.spec.recipe.base import Recipe, Samples
from exporter.spec.recipe.training import Training

ROWS, BATCH = 10, 50  # 50 batches of 10 rows and one of 1: fewer rows than ranks


class Net(nn.Layer):
    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(6, 16), nn.Dropout(dropout), nn.Linear(16, 3)
        self.unused = nn.Linear(2, 2)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.last(self.drop(nn.functional.tanh(self.first(x))))


def data() -> Samples:
    dice = np.random.default_rng(7)
    x = dice.normal(size=(ROWS * BATCH + 1 + 30, 6)).astype(np.float32)
    y = (x[:, :3] + 0.3 * x[:, 3:]).argmax(axis=1).astype(np.int64)
    train, held_out = np.split(np.arange(len(x)), [ROWS * BATCH + 1])
    return Samples({"x": x[train], "y": y[train]}, {"x": x[held_out], "y": y[held_out]})


def loss(logits: paddle.Tensor, y: paddle.Tensor) -> paddle.Tensor:
    return nn.functional.cross_entropy(logits, y)


def accuracy(logits: np.ndarray, y: np.ndarray) -> float:
    return float((logits.argmax(axis=1) == y).mean())


def _kills_itself_once(logits: paddle.Tensor, y: paddle.Tensor) -> paddle.Tensor:
    """The loss; in the second epoch, the rank that is not the first is killed, unless it was before."""
    mark = Path(os.environ["MARK"])
    if os.environ.get("PADDLE_TRAINER_ID") == "1":
        steps = mark.with_suffix(".steps")
        steps.write_text(steps.read_text() + "x" if steps.exists() else "x")
        if len(steps.read_text()) == BATCH + 20 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return loss(logits, y)


def _fails_on_one_rank(logits: paddle.Tensor, y: paddle.Tensor) -> paddle.Tensor:
    if os.environ.get("PADDLE_TRAINER_ID") == "1":
        raise ValueError("the second rank has a bad day")
    return loss(logits, y)


plain = Recipe(
    build=Net,
    data=data,
    inputs=("x",),
    labels=("y",),
    loss=loss,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=lambda layer: paddle.optimizer.Adam(0.01, parameters=layer.parameters()),
    epochs=2,
    batch_size=ROWS,
)
accumulating = replace(plain, training=Training(accumulate=3, clip=("global_norm", 0.5), ema=0.9))
dropping = replace(plain, build=lambda: Net(0.3))
losing_a_rank = replace(dropping, loss=_kills_itself_once)
failing = replace(plain, loss=_fails_on_one_rank)
with_fit = replace(plain, fit=lambda _layer, _run: None)
