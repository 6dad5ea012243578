"""Networks to be pruned: drawn at random from what networks are made of, and some with code that names channels."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

IMAGE = "x=float32[batch,3,16,16]"


def conv(a: int, b: int, size: int = 3, **more: Any) -> nn.Sequential:
    return nn.Sequential(nn.Conv2D(a, b, size, padding=size // 2, bias_attr=False, **more), nn.BatchNorm2D(b))


class Residual(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.one, self.other = conv(width, width), conv(width, width)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return F.relu(x + self.other(F.relu(self.one(x))))


class Inverted(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.wide, self.deep = conv(width, 4 * width, 1), conv(4 * width, 4 * width, groups=4 * width)
        self.slim = conv(4 * width, width, 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x + self.slim(F.hardswish(self.deep(F.relu6(self.wide(x)))))


class Joined(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.one, self.other = conv(width, width, 1), conv(width, 32)
        self.back = nn.Conv2D(width + 32, width, 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return F.gelu(self.back(paddle.concat([self.one(x), F.sigmoid(self.other(x))], axis=1)))


class Parted(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.wide, self.part = conv(width, 2 * width, 1), conv(width, width)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        one, other = paddle.chunk(self.wide(x), 2, axis=1)
        return F.silu(self.part(one)) * other


class Shuffled(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.grouped = conv(width, width, 1, groups=4)
        self.deep = conv(width, width, groups=width)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = F.relu(self.grouped(x))
        b, c, h, w = y.shape
        y = y.reshape([b, 4, c // 4, h, w]).transpose([0, 2, 1, 3, 4]).reshape([b, c, h, w])
        return self.deep(y)


class Squeezed(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = conv(width, width)
        self.down, self.up = nn.Conv2D(width, 16, 1), nn.Conv2D(16, width, 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = self.body(x)
        return y * F.hardsigmoid(self.up(F.relu(self.down(F.adaptive_avg_pool2d(y, 1)))))


class Normed(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.one, self.group = nn.Conv2D(width, 64, 3, padding=1), nn.GroupNorm(8, 64)
        self.other, self.each = nn.Conv2D(64, width, 1), nn.InstanceNorm2D(width)
        self.slope = nn.PReLU(64, init=0.3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.each(self.other(self.slope(self.group(self.one(x)))))


class Resized(nn.Layer):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2D(width, 48, 3, 2, 1), nn.Conv2DTranspose(48, width, 2, 2)
        self.lift = nn.Conv2D(width, width, 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = self.up(F.leaky_relu(self.down(x)))
        return self.lift(F.interpolate(F.max_pool2d(F.pad(y, [1, 1, 1, 1]), 2, ceil_mode=True), size=y.shape[2:]))


class Mixed(nn.Layer):
    """Linear layers over the channels, which stand last for the while."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = x.flatten(2).transpose([0, 2, 1])
        y = self.down(F.softplus(self.up(y)))
        return x + y.transpose([0, 2, 1]).reshape([x.shape[0], -1, x.shape[2], x.shape[3]])


BLOCKS = (Residual, Inverted, Joined, Parted, Shuffled, Squeezed, Normed, Resized, Mixed)


class Drawn(nn.Layer):
    """A stem, some blocks, and a head that flattens places with channels."""

    def __init__(self, blocks: list[type[nn.Layer]], width: int) -> None:
        super().__init__()
        self.stem = conv(3, width)
        self.blocks = nn.Sequential(*(one(width) for one in blocks))  # type: ignore[call-arg]
        self.head = nn.Linear(width * 4, 5)
        generator = np.random.default_rng(0)
        for name, buffer in self.named_buffers():  # norms that do something
            if name.endswith(("_mean", "_variance")):
                buffer.set_value(generator.uniform(0.2, 1.5, buffer.shape).astype("float32"))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = F.adaptive_avg_pool2d(self.blocks(F.relu(self.stem(x))), 2)
        return self.head(y.reshape([y.shape[0], -1]))


def __getattr__(name: str) -> Callable[[], nn.Layer]:
    """`drawn_7` is a factory: the seventh network."""
    found = re.fullmatch(r"drawn_(\d+)", name)
    if not found:
        raise AttributeError(name)
    generator = np.random.default_rng(int(found.group(1)))
    blocks = [BLOCKS[at] for at in generator.permutation(len(BLOCKS))[:3]]
    return lambda: Drawn(blocks, int(generator.choice([32, 48, 64])))


class NamesChannels(nn.Layer):
    """`middle` passes a reshape that names 64 in the code; the others do not."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.middle, self.last = nn.Conv2D(3, 64, 3), nn.Conv2D(64, 64, 3), nn.Conv2D(64, 64, 3)
        self.head = nn.Linear(64, 10)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = F.relu(self.middle(F.relu(self.first(x))))
        y = y.reshape([x.shape[0], 64, -1]).reshape([x.shape[0], 64, *y.shape[2:]])
        return self.head(F.relu(self.last(y)).mean([2, 3]))


class CountsChannels(nn.Layer):
    """What `last` puts out is divided by a number that is made of how many channels there are."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last, self.head = nn.Conv2D(3, 64, 3), nn.Conv2D(64, 64, 3), nn.Linear(64, 10)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = F.relu(self.last(F.relu(self.first(x))))
        return self.head((y / y.shape[1] ** 0.5).mean([2, 3]))


class AsksChannels(nn.Layer):
    """Another branch is taken where `first` has fewer channels."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last, self.head = nn.Conv2D(3, 64, 3), nn.Conv2D(64, 64, 3), nn.Linear(64, 10)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = F.relu(self.first(x))
        if y.shape[1] >= 64:
            y = y * 2
        return self.head(F.relu(self.last(y)).mean([2, 3]))


class Attentive(nn.Layer):
    """A Transformer: its heads are counted in Paddle's code, its inner linear layers are not."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 64)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 256), 1)
        self.head = nn.Linear(64, 8)

    def forward(self, ids: paddle.Tensor) -> paddle.Tensor:
        return self.head(self.encoder(self.embedding(ids)).mean(1))


class Unknown(nn.Layer):
    """A sort over the channels, of which nothing is known: what goes in must stay."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last, self.head = nn.Linear(16, 64), nn.Linear(64, 64), nn.Linear(64, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.head(F.relu(self.last(paddle.sort(self.first(x), axis=-1))))


class Tied(nn.Layer):
    """One linear layer, called twice and known by two names."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.one, self.head = nn.Linear(16, 64), nn.Linear(64, 64), nn.Linear(64, 4)
        self.other = self.one

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.head(F.relu(self.other(F.relu(self.one(F.relu(self.first(x)))))))
