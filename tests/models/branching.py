"""Models whose forward goes this way or that."""

from __future__ import annotations

import os
import signal
from typing import ClassVar

import paddle
from models.sound import Mlp
from paddle import nn

DEBUG = False


class Branching(Mlp):
    """One branch for each thing that may decide: an input's values, a named dim, training, configuration."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = False

    def forward(self, x: paddle.Tensor, mask: paddle.Tensor | None = None) -> paddle.Tensor:
        y = super().forward(x)
        if self.training:
            y = y * 0.5
        if self.wide or DEBUG or mask is not None:
            y = y * 0.25
        if paddle.mean(x) > 30.0:
            y = y * 2.0
        if x.shape[0] == 7:
            y = y * 3.0
        if x.shape[1] != 4:
            y = y * 5.0
        return y


class Unreachable(Mlp):
    """A branch that no trial takes."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = super().forward(x)
        if paddle.sum(x) == 12345.678:
            y = y * 2.0
        return y


class DiesWhenLarge(Mlp):
    """What only values far outside of the usual do ends the process."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = super().forward(x)
        if paddle.max(paddle.abs(x)) > 500.0:
            os.kill(os.getpid(), signal.SIGKILL)
        return y


class DiesOfZeros(Mlp):
    """So does one of the values that only probe."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        if paddle.max(paddle.abs(x)) == 0.0:
            os.abort()
        return super().forward(x)


class DiesOfOne(Mlp):
    """So does a size that the spec may promise."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        if x.shape[0] == 1:
            os.abort()
        return super().forward(x)


class LoopsWhenLarge(Mlp):
    """As above, and it does not end."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = super().forward(x)
        while paddle.max(paddle.abs(x)) > 500.0:
            y = y * 1.0
        return y


class Deaf(nn.Layer):
    """Random weights that hardly answer to the input, as those of a recogniser that was never trained."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(16, 24, num_layers=2, direction="bidirectional")
        self.head = nn.Linear(48, 20)
        for parameter in self.lstm.parameters():
            parameter.set_value(parameter * 1e-4)

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        states, _ = self.lstm(x)
        scores = nn.functional.softmax(self.head(states), axis=2)
        return scores, paddle.argmax(scores, axis=2)


class Scaled(Mlp):
    """Multiplies by what tables say of the size of the batch."""

    table: ClassVar = {7: 3.0, 48: 2.0}

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        try:
            scale = {13: 0.5}[x.shape[0]]
        except KeyError:
            scale = self.table.get(x.shape[0], 1.0)
        return self.last(paddle.tanh(self.first(x))) * scale
