"""Small networks that show real defects of stock engines and converters; each is right in eager."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional


class _Block(nn.Layer):
    """A block of ConvNeXt: depthwise 7x7, then, channels last, norm, two linear layers and a scale."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2D(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, epsilon=1e-6)
        self.up, self.act, self.down = nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        self.gamma = self.create_parameter([width], default_initializer=nn.initializer.Constant(0.5))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = self.depthwise(x).transpose([0, 2, 3, 1])
        y = self.down(self.act(self.up(self.norm(y))))
        return x + (self.gamma * y).transpose([0, 3, 1, 2])


class _ChannelNorm(nn.Layer):
    """ConvNeXt's norm over the channels of an image."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = self.create_parameter([width], default_initializer=nn.initializer.Constant(1.0))
        self.bias = self.create_parameter([width], is_bias=True)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        mean = x.mean(1, keepdim=True)
        spread = (x - mean).pow(2).mean(1, keepdim=True)
        x = (x - mean) / paddle.sqrt(spread + 1e-6)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class _ConvNext(nn.Layer):
    """Two stages; between them, as in all of ConvNeXt, a norm and a convolution that halves the image."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, 16, 4, stride=4), _ChannelNorm(16))
        self.stage1, self.stage2 = _Block(16), _Block(32)
        self.halve = nn.Sequential(_ChannelNorm(16), nn.Conv2D(16, 32, 2, stride=2))
        self.norm, self.head = nn.LayerNorm(32, epsilon=1e-6), nn.Linear(32, 10)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = self.stage2(self.halve(self.stage1(self.stem(x))))
        return self.head(self.norm(x.mean([-2, -1])))


class _Lengths(nn.Layer):
    """An LSTM over sequences that are padded to one length."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.body, self.head = nn.Linear(6, 8), nn.LSTM(8, 8), nn.Linear(8, 4)

    def forward(self, x: paddle.Tensor, lengths: paddle.Tensor) -> paddle.Tensor:
        states, _ = self.body(self.embed(x), sequence_length=lengths)
        return self.head(states)


class _BiLstm(nn.Layer):
    """Two layers in both directions, of which the final states of all four are put out."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.body = nn.Linear(6, 8), nn.LSTM(8, 8, num_layers=2, direction="bidirect")

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, paddle.Tensor]:
        states, (last, _) = self.body(self.embed(x))
        return states, last


class _Pyramid(nn.Layer):
    """The pyramid pooling of PSPNet: means over 1, 2, 3 and 6 bins, made as large as the map again."""

    def __init__(self) -> None:
        super().__init__()
        self.pools = nn.LayerList([nn.AdaptiveAvgPool2D(bins) for bins in (1, 2, 3, 6)])
        self.squeezes = nn.LayerList([nn.Conv2D(8, 2, 1) for _ in self.pools])

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        parts = [x]
        for place, pool in enumerate(self.pools):
            small = functional.relu(self.squeezes[place](pool(x)))
            parts.append(functional.interpolate(small, x.shape[2:], mode="bilinear", align_corners=False))
        return paddle.concat(parts, 1)


class _PspNet(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(3, 8, 3, stride=4, padding=1), nn.ReLU(), nn.Conv2D(8, 8, 3, stride=2, padding=1)
        )
        self.pyramid, self.head = _Pyramid(), nn.Conv2D(16, 4, 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.head(self.pyramid(self.body(x)))


class _Softplus(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.act, self.other = nn.Linear(6, 16), nn.Softplus(beta=1, threshold=1), nn.Linear(16, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.other(self.act(self.one(x)))


class _Energy(nn.Layer):
    """A square that float32 cannot hold: infinity less infinity is NaN, of which ReLU makes 0."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        large = (x * 1e30).square()
        return functional.relu(large - large * 0.5)


class _Overflow(nn.Layer):
    """Finite in and finite out: every engine agrees with eager bit for bit, on the bias of the last layer."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.energy, self.other = nn.Linear(6, 16), _Energy(), nn.Linear(16, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.other(self.energy(self.one(x))) + x.mean()


class _Plain(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8)
        self.head = nn.Linear(8, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.head(functional.relu(self.norm(self.conv(x))).mean([2, 3]))


def convnext() -> nn.Layer:
    return _ConvNext()


def lstm_lengths() -> nn.Layer:
    return _Lengths()


def bilstm() -> nn.Layer:
    return _BiLstm()


def pspnet() -> nn.Layer:
    return _PspNet()


def softplus() -> nn.Layer:
    return _Softplus()


def overflow() -> nn.Layer:
    return _Overflow()


def plain() -> nn.Layer:
    return _Plain()
