"""Small networks whose answers can go wrong in as many ways as a device has; a copy of this file is their module."""

from __future__ import annotations

from typing import Any

import paddle
import paddle.nn.functional as F
from paddle import nn

Tensor = Any


def _seeded(seed: int, layer: nn.Layer) -> nn.Layer:
    """Biases and norms that are no zeros and ones: those are too easily confused."""
    paddle.seed(seed)
    for parameter in layer.state_dict().values():
        parameter.set_value(parameter + 0.1 * paddle.randn(parameter.shape))
    return layer


class _Classifier(nn.Layer):  # type: ignore[misc]  # Paddle has no types
    """Pictures to shares and a label."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm = nn.Conv2D(3, 6, 3, padding=1), nn.BatchNorm2D(6)
        self.last = nn.Linear(6 * 36, 7)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        maps = F.max_pool2d(F.relu(self.norm(self.convolution(image))), 2)
        scores = self.last(paddle.flatten(maps, 1))
        return F.softmax(scores, -1), paddle.argmax(scores, -1)


class _Detector(nn.Layer):  # type: ignore[misc]
    """Pictures to a map, and to two outputs of one shape."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Conv2D(3, 8, 3, padding=1), nn.Conv2D(8, 5, 1)
        self.boxes, self.offsets = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        maps = F.relu(self.body(image))
        pooled = maps.mean([2, 3])
        return self.head(maps), self.boxes(pooled), self.offsets(pooled)


class _Pair(nn.Layer):  # type: ignore[misc]
    """Two inputs of one shape, to scores without a softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.last = nn.Linear(12, 10), nn.Linear(12, 10), nn.Linear(10, 6)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return self.last(paddle.tanh(self.query(query)) * F.sigmoid(self.key(key)))


class _Steep(nn.Layer):  # type: ignore[misc]
    """A value inside that float16 does not hold, and is divided away again."""

    def __init__(self) -> None:
        super().__init__()
        self.into, self.last = nn.Linear(8, 8), nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        large = self.into(x) * 3.0e4
        return self.last(large / (1.0 + large.abs().mean(-1, keepdim=True)))


class _Labels(nn.Layer):  # type: ignore[misc]
    """Labels alone, of which two have scores that float16 can hardly tell apart."""

    def __init__(self) -> None:
        super().__init__()
        self.into, self.last = nn.Linear(6, 9), nn.Linear(9, 8)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.last(paddle.tanh(self.into(x)))
        twins = paddle.concat([scores, scores[:, :4] + 2e-4], -1)
        return paddle.argmax(twins, -1)


def classifier() -> nn.Layer:
    """The factory of its spec."""
    return _seeded(1, _Classifier())


def detector() -> nn.Layer:
    """The factory of its spec."""
    return _seeded(2, _Detector())


def pair() -> nn.Layer:
    """The factory of its spec."""
    return _seeded(3, _Pair())


def steep() -> nn.Layer:
    """The factory of its spec."""
    return _seeded(4, _Steep())


def labels() -> nn.Layer:
    """The factory of its spec."""
    return _seeded(5, _Labels())
