"""Networks in which lowering faults are planted; what each puts out hides nearly all that happens inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import paddle
from paddle import nn
from paddle.nn import functional

from exporter.base.tensors import TensorSpec

IMAGE = TensorSpec("x", "float32", ("batch", 3, 10, 12))
WORDS = TensorSpec("x", "float32", ("batch", 6, 8))


class Convolutions(nn.Layer):
    """Padding that differs on each side, dilation, groups, pools, resizing; hidden by a relu that nothing reaches."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2D(3, 4, 3, padding=[1, 2, 0, 1])
        self.norm = nn.BatchNorm2D(4, epsilon=1e-3)
        self.grouped = nn.Conv2D(4, 8, (3, 2), groups=2, dilation=(2, 1), padding=2)
        self.back = nn.Conv2DTranspose(8, 4, 3, stride=2, output_padding=1, padding=1)

    def forward(self, x: Any) -> Any:
        y = functional.leaky_relu(self.first(x), 0.2)
        y = self.grouped(functional.relu6(self.norm(y)))
        y = functional.max_pool2d(y, 3, 2, padding=1, ceil_mode=True)
        y = functional.avg_pool2d(y, 3, 1, padding=1, exclusive=True)
        y = self.back(functional.hardswish(y))
        y = functional.interpolate(y, size=[15, 17], mode="bilinear", align_corners=True)
        y = functional.pad(y, [1, 0, 2, 1], mode="reflect")
        z = functional.interpolate(y, scale_factor=2, mode="nearest")
        return functional.relu(functional.hardsigmoid(y).mean([2, 3]) + z.amax([2, 3]) - 1e4)


class Attention(nn.Layer):
    """Norms, products, softmax and activations; hidden by a comparison that is always false."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.last = nn.LayerNorm(8, epsilon=1e-5), nn.LayerNorm([6, 8], epsilon=1e-3)
        self.query, self.key, self.value = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: Any) -> Any:
        y = self.norm(x)
        scores = paddle.matmul(self.query(y), self.key(y), transpose_y=True) * 0.35355339
        y = x + paddle.matmul(functional.softmax(scores, axis=-1), self.value(y))
        y = functional.gelu(self.last(y))
        z = functional.log_softmax(functional.elu(y, 0.7), axis=1) - functional.softplus(y, beta=2)
        z = paddle.concat([z, functional.gelu(y, approximate=True)], axis=2)
        z = z / (paddle.abs(z) + 0.5) - paddle.pow(paddle.abs(z) + 1.0, 1.5)
        return paddle.logsumexp(z, axis=[1, 2]) > 1e6


class Recurrent(nn.Layer):
    """Recurrent layers, with a clip of their states; hidden by a saturated sigmoid."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru = nn.LSTM(8, 5, direction="bidirect"), nn.GRU(10, 4)
        self.plain = nn.SimpleRNN(4, 3)

    def forward(self, x: Any) -> Any:
        y = self.lstm(x)[0]
        y = self.plain(self.gru(y)[0])[0]
        return functional.sigmoid(paddle.clip(y, -0.4, 0.3).cumsum(1).sum([1, 2]) + 200.0)


class Steps(nn.Layer):
    """Rounding, remainders, comparisons, choices and orders; hidden by an argmax whose winner is far ahead."""

    def forward(self, x: Any) -> Any:
        y = paddle.round(x * 2.5) - paddle.floor(x) + paddle.ceil(x / 0.75) + paddle.trunc(x)
        y = y + paddle.remainder(x, paddle.full_like(x, 0.7)) + paddle.floor_divide(x, paddle.full_like(x, 0.6))
        y = paddle.where(x > 0.5, y, x) + paddle.where(y <= 1.0, x, y * 2)
        y = paddle.maximum(y, x) - paddle.sign(x) + paddle.where(x >= 0.0, x, -x)
        top = paddle.topk(y, 3, axis=2)[0].sum(2) + paddle.argmax(x, axis=2).astype("float32")
        top = top + paddle.where(paddle.isnan(x), x, x.flip(2)).prod(2) + paddle.atan2(x, y).min(2)
        scores = paddle.stack([top.std(1), top.amax(1) + 1e5, top.mean(1)], axis=1)
        return paddle.argmax(scores, axis=1)


class Norms(nn.Layer):
    """Norms, activations and moves of elements; hidden by a clip."""

    def __init__(self) -> None:
        super().__init__()
        self.group, self.instance = nn.GroupNorm(3, 6, epsilon=1e-4), nn.InstanceNorm2D(6, epsilon=1e-3)
        self.slope = nn.PReLU(6, 0.3)

    def forward(self, x: Any) -> Any:
        x = paddle.concat([x, x.flip(3) * 0.5], axis=1)
        y = self.slope(self.group(x)) + functional.mish(self.instance(x))
        y = functional.pixel_unshuffle(y, 2).transpose([0, 2, 1, 3])
        y = paddle.roll(y, 2, 3) + functional.softsign(y) - functional.celu(y, 1.3)
        y = functional.selu(y) + functional.hardtanh(y, -0.3, 0.6) + functional.thresholded_relu(y, 0.8)
        y = functional.swish(y) - functional.tanhshrink(y) + paddle.rsqrt(paddle.square(y) + 1e-3)
        y = functional.normalize(y, axis=2) + paddle.tril(y, 1) + paddle.cumsum(y, axis=2)
        y = paddle.log1p(paddle.exp(-paddle.abs(y))) * paddle.var(y, axis=3, keepdim=True)
        return paddle.clip(y[:, 1:4, ::2].sum([1, 2, 3]), 1e8, 1e9)


NETWORKS: dict[str, tuple[Callable[[], nn.Layer], TensorSpec]] = {
    "convolutions": (Convolutions, IMAGE),
    "attention": (Attention, WORDS),
    "recurrent": (Recurrent, WORDS),
    "steps": (Steps, WORDS),
    "norms": (Norms, IMAGE),
}


def build(name: str) -> nn.Layer:
    """A network with weights that no two channels share."""
    paddle.seed(7)
    layer = NETWORKS[name][0]()
    for value in layer.state_dict().values():
        if len(value.shape) == 1 and value.dtype == paddle.float32:
            value.set_value(value + 0.5 * paddle.rand(value.shape))
    layer.eval()
    return layer
