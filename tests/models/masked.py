"""Networks that keep infinity in what they store: SVTR's local attention adds a mask of 0 and -inf to its scores."""

from __future__ import annotations

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

GRID = 4


def local_mask() -> paddle.Tensor:
    """0 where two places of the grid are neighbours, else -inf: [1, 1, GRID², GRID²]."""
    rows, columns = np.divmod(np.arange(GRID * GRID), GRID)
    near = (abs(rows[:, None] - rows) <= 1) & (abs(columns[:, None] - columns) <= 1)
    return paddle.to_tensor(np.where(near, 0, -np.inf).astype("float32"))[None, None]


class Attention(nn.Layer):
    def __init__(self, width: int, heads: int, mask: str) -> None:
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        if mask == "parameter":
            start = nn.initializer.Assign(local_mask())
            self.mask = self.create_parameter([1, 1, GRID**2, GRID**2], default_initializer=start)
            self.mask.stop_gradient = True
        else:
            self.register_buffer("mask", local_mask() if mask else None, persistable=mask == "buffer")

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        steps, width = x.shape[1:]
        qkv = self.qkv(x).reshape([-1, steps, 3, self.heads, width // self.heads]).transpose([2, 0, 3, 1, 4])
        scores = (qkv[0] * self.scale).matmul(qkv[1].transpose([0, 1, 3, 2]))
        if self.mask is not None:
            scores = scores + self.mask
        mixed = F.softmax(scores, -1).matmul(qkv[2])
        return self.out(mixed.transpose([0, 2, 1, 3]).reshape([-1, steps, width]))


class Block(nn.Layer):
    def __init__(self, width: int, mask: str) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix = Attention(width, 2, mask)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = x + self.mix(self.first(x))
        return x + self.mlp(self.second(x))


class Svtr(nn.Layer):
    """[n, 1, 8, 8] to [n, 10]: patches, three blocks whose masks are a parameter, a buffer and a scratch buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2D(1, 32, 2, stride=2)
        self.blocks = nn.Sequential(*(Block(32, mask) for mask in ("parameter", "buffer", "scratch", "")))
        self.head = nn.Linear(32, 10)

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        return self.head(self.blocks(self.patch(image).flatten(2).transpose([0, 2, 1])).mean(1))


class Scratch(nn.Layer):
    """NaN in a buffer that nothing reads and nothing stores; and, where asked for, in one that a checkpoint holds."""

    def __init__(self, stored: bool = False) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.register_buffer("scratch", paddle.full([2, 2], float("nan")), persistable=stored)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.linear(x)


def stored() -> nn.Layer:
    return Scratch(stored=True)
