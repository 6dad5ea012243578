"""Models that the check doubts: the sound ones must be exported, and the wrong ones refused."""

from __future__ import annotations

import json
import random
import sys

import paddle
from paddle import nn


class _Linear(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)


class StarInputs(_Linear):
    """Stock Paddle refuses more specs than parameters; here one is given."""

    def forward(self, x, *rest):  # type: ignore[no-untyped-def]
        return self.linear(x)


class TypeName(_Linear):
    """The trace answers otherwise, and decides alike."""

    def forward(self, x):  # type: ignore[no-untyped-def]
        if type(x).__name__ == "ndarray":
            x = paddle.to_tensor(x)
        return self.linear(x)


class SameType(_Linear):
    def forward(self, x):  # type: ignore[no-untyped-def]
        y = self.linear(x)
        if type(x) is type(y):
            return x + y
        return y


class Configured(_Linear):
    """What reading cannot tell: the noise is never made."""

    def __init__(self) -> None:
        super().__init__()
        self.noisy = json.loads("false")

    def forward(self, x):  # type: ignore[no-untyped-def]
        if self.noisy:
            x = x * random.random()
        return self.linear(x)


class OtherBranch(_Linear):
    """The program takes the other side."""

    def forward(self, x):  # type: ignore[no-untyped-def]
        y = self.linear(x)
        if paddle.in_dynamic_mode():
            y = y / 255.0
        return y


class SameValuesOtherBranch(_Linear):
    """The program takes the other side, which differs beyond what the cases reach."""

    def forward(self, x):  # type: ignore[no-untyped-def]
        y = self.linear(x)
        if paddle.in_dynamic_mode():
            y = y.clip(-1e6, 1e6)
        return y


class MaskedQuestion(_Linear):
    """Eagerly no case is that large; the program would not ask."""

    def forward(self, x):  # type: ignore[no-untyped-def]
        y = self.linear(x)
        if isinstance(y, paddle.Tensor) and float(y.max()) > 1e6:
            return y * 3
        return y


class Noise(_Linear):
    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.linear(x) * random.random()


class Counting(_Linear):
    """Only the hundredth call differs: no comparison would see it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x):  # type: ignore[no-untyped-def]
        self.calls += 1
        if self.calls > 100:
            return self.linear(x) + 1
        return self.linear(x)


class Hidden(_Linear):
    """Foretold, and the export fails."""

    def forward(self, x):  # type: ignore[no-untyped-def]
        y = self.linear(x)
        return y * max(y.mean(), y.sum()) if sys.argv else y


class Spectral(_Linear):
    """The finding lies in `__init__`, which no call of the layer runs."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = paddle.nn.utils.spectral_norm(self.linear)

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.linear(x)
