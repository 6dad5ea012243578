"""Small networks of many kinds to plant faults in, with random weights: seconds for each fault are what counts."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional
from paddle.vision.models import mobilenet_v3_small


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


class _Lengths(nn.Layer):
    """A recurrent net over rows of different lengths; what comes after a row's end must not count."""

    def __init__(self) -> None:
        super().__init__()
        self.into, self.body, self.head = nn.Linear(5, 6), nn.GRU(6, 8), nn.Linear(8, 3)

    def forward(self, x: paddle.Tensor, lengths: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        steps, last = self.body(paddle.tanh(self.into(x)), sequence_length=lengths)
        return self.head(steps), functional.sigmoid(last[0])


class _Branches(nn.Layer):
    """An `if` and a `while` on tensors."""

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
    """Outputs of about 1e-8, below every absolute tolerance in use."""

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


class _Separable(nn.Layer):
    """A depthwise and a pointwise convolution around which the input goes as well."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.deep = nn.Conv2D(width, width, 3, padding=1, groups=width, bias_attr=False)
        self.point, self.norm = nn.Conv2D(width, width, 1), nn.BatchNorm2D(width)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x + functional.relu(self.norm(self.point(self.deep(x))))


class _Residual(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.act = nn.Conv2D(3, 8, 3, stride=2, padding=1), nn.Swish()
        self.body, self.head = nn.Sequential(*(_Separable(8) for _ in range(3))), nn.Linear(8, 5)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = functional.max_pool2d(self.body(self.act(self.stem(x))), 2)
        return self.head(functional.adaptive_avg_pool2d(y, 1).flatten(1))


class _Detector(nn.Layer):
    """Boxes around the cells of a grid and their scores; the best four boxes, and the class of each cell.

    Each cell has a bias of its own, since of cells with equal scores either could be the best.
    """

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(3, 8, 3, 2, 1), nn.BatchNorm2D(8), nn.ReLU(), nn.Conv2D(8, 8, 3, 2, 1))
        self.norm, self.boxes, self.scores = nn.BatchNorm2D(8), nn.Conv2D(8, 4, 1), nn.Conv2D(8, 3, 1)
        self.cells = self.create_parameter([16, 1], default_initializer=nn.initializer.Uniform(-1.0, 1.0))

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor, paddle.Tensor]:
        seen = functional.relu(self.norm(self.body(x)))
        edges = functional.softplus(self.boxes(seen)).flatten(2).transpose([0, 2, 1])
        scores = functional.sigmoid(self.scores(seen).flatten(2).transpose([0, 2, 1]) + self.cells)
        centre = paddle.arange(16, dtype="float32").reshape([1, 16, 1])
        corners = paddle.concat([centre - edges[:, :, :2], centre + edges[:, :, 2:]], -1)
        best, cells = paddle.topk(scores.max(-1), 4, axis=-1)
        kept = paddle.take_along_axis(corners, cells.unsqueeze(-1).expand([-1, -1, 4]), 1)
        return kept, best, paddle.argmax(scores, -1)


class _Text(nn.Layer):
    """Word and place embeddings, attention that skips the padding (word 0), a normed mean over what is left."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(40, 12), nn.Embedding(16, 12)
        self.attend, self.norm = nn.MultiHeadAttention(12, 3), nn.LayerNorm(12)
        self.hidden, self.head = nn.Linear(12, 10), nn.Linear(10, 4)

    def forward(self, ids: paddle.Tensor) -> paddle.Tensor:
        there = (ids != 0).astype("float32")
        x = self.words(ids) + self.places(paddle.arange(ids.shape[1]))
        mask = ((1.0 - there) * -1e4).unsqueeze([1, 2])
        x = self.norm(x + self.attend(x, x, x, mask))
        mean = (x * there.unsqueeze(-1)).sum(1) / (there.sum(1, keepdim=True) + 1e-6)
        return functional.log_softmax(self.head(functional.elu(self.hidden(mean))), -1)


def transformer() -> nn.Layer:
    return _filled(_Transformer())


def lstm() -> nn.Layer:
    return _filled(_Lstm())


def lengths() -> nn.Layer:
    return _filled(_Lengths())


def branches() -> nn.Layer:
    return _filled(_Branches())


def tiny() -> nn.Layer:
    return _filled(_Tiny())


def mobilenet() -> nn.Layer:
    """Its biases and norms stay as they are: it is their zeros that make the outputs so small."""
    return mobilenet_v3_small(scale=0.5, num_classes=10)


def segments() -> nn.Layer:
    return _filled(_Segments())


def residual() -> nn.Layer:
    return _filled(_Residual())


def detector() -> nn.Layer:
    return _filled(_Detector())


def text() -> nn.Layer:
    return _filled(_Text())
