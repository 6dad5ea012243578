"""Networks of other kinds than the digits: attention, recurrence, control flow, tiny outputs, a map of classes."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional


def _filled(layer: nn.Layer) -> nn.Layer:
    """Biases and norms that are no zeros and ones: those are too easily confused."""
    for parameter in layer.state_dict().values():
        if len(parameter.shape) == 1 and parameter.dtype == paddle.float32:
            parameter.set_value(parameter + 0.1 * paddle.rand(parameter.shape))
    return layer


class _Block(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.drop, self.scale = nn.Dropout(0.1), width**-0.5

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        q, k, v = paddle.split(self.query(self.before(x)), 3, -1)
        weights = functional.softmax(paddle.matmul(q, k, transpose_y=True) * self.scale, -1)
        x = x + self.drop(self.out(paddle.matmul(weights, v)))
        return x + self.drop(self.down(functional.gelu(self.up(self.between(x)))))


class _Transformer(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(50, 16), nn.Linear(16, 5)
        self.blocks = nn.Sequential(_Block(16), _Block(16))

    def forward(self, ids: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        scores = self.head(self.blocks(self.embed(ids)).mean(1))
        return functional.softmax(scores, -1), paddle.argmax(scores, -1)


class _Lstm(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.LSTM(6, 8, direction="bidirect"), nn.Linear(16, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return functional.sigmoid(self.head(self.body(x)[0]))


class _Branches(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        if x.sum() > 0:
            x = functional.relu(self.one(x))
        else:
            x = paddle.tanh(self.other(x))
        step = paddle.zeros([1], "int64")
        while step < 3:
            x = self.one(x) * 0.5 + x
            step = step + 1
        return x


class _Tiny(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2D(3, 4, 3, padding=1), nn.BatchNorm2D(4)
        self.act, self.head = nn.Hardswish(), nn.Linear(4, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = self.act(self.norm(self.conv(x)))
        y = y + functional.sigmoid(y) * y
        return self.head(functional.adaptive_avg_pool2d(y, 1).flatten(1)) * 1e-7


class _Segments(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.down, self.norm = nn.Conv2D(3, 8, 3, padding=1, stride=2), nn.BatchNorm2D(8)
        self.up, self.act = nn.Conv2DTranspose(8, 4, 2, stride=2), nn.LeakyReLU(0.1)

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        scores = self.up(self.act(self.norm(self.down(x))))
        return scores, paddle.argmax(scores, 1)


def transformer() -> nn.Layer:
    return _filled(_Transformer())


def lstm() -> nn.Layer:
    return _filled(_Lstm())


def branches() -> nn.Layer:
    return _filled(_Branches())


def tiny() -> nn.Layer:
    return _filled(_Tiny())


def segments() -> nn.Layer:
    return _filled(_Segments())
