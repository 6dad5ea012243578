"""Models of three kinds for a server: rows that are independent, rows that depend on each other, and states.

A copy of this file is the module of their specs; it needs Paddle alone. Two of them take float32 and nothing else, so
that no float64 run shows whether rows depend on each other.
"""

from __future__ import annotations

from typing import Any

import paddle
import paddle.nn.functional as F
from paddle import nn

Tensor = Any


class _OfRows(nn.Layer):  # type: ignore[misc]  # Paddle has no types
    def __init__(self) -> None:
        super().__init__()
        paddle.seed(4)
        self.fc = nn.Linear(8, 5)


class Dense(_OfRows):
    """Each row by itself, written for float32 alone."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute [batch, 5] of [batch, 8]."""
        assert x.dtype == paddle.float32, "float32 alone"
        return F.softmax(F.relu(self.fc(x)))


class Convolution(nn.Layer):  # type: ignore[misc]
    """Small images, each by itself."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(1)
        self.convolution, self.norm = nn.Conv2D(1, 4, 3, padding=1), nn.BatchNorm2D(4)
        self.pool, self.last = nn.AdaptiveAvgPool2D(1), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Compute [batch, 3] of [batch, 8]."""
        maps = F.relu(self.norm(self.convolution(x.reshape([-1, 1, 2, 4]))))
        return self.last(paddle.flatten(self.pool(maps), 1))


class Encoder(nn.Layer):  # type: ignore[misc]
    """Attention between the words of each text."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(2)
        self.embed, self.encode = nn.Embedding(50, 16), nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0)
        self.last = nn.Linear(16, 3)

    def forward(self, ids: Tensor) -> Tensor:
        """Compute [batch, 3] of [batch, seq]."""
        return self.last(self.encode(self.embed(ids))[:, 0])


class Recurrent(nn.Layer):  # type: ignore[misc]
    """A bidirectional LSTM over each text, from a state of zeros."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(3)
        self.embed, self.read = nn.Embedding(50, 8), nn.LSTM(8, 6, direction="bidirect")
        self.last = nn.Linear(12, 3)

    def forward(self, ids: Tensor) -> Tensor:
        """Compute [batch, seq, 3] of [batch, seq]."""
        return self.last(self.read(self.embed(ids))[0])


class Centred(_OfRows):
    """Less the mean of the batch, written for float32 alone."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute [batch, 5] of [batch, 8]."""
        assert x.dtype == paddle.float32, "float32 alone"
        y = self.fc(x)
        return y - y.mean(0, keepdim=True) * 0.5


class Largest(_OfRows):
    """In units of the largest number of the batch."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute [batch, 5] of [batch, 8]."""
        y = self.fc(x)
        return y / y.abs().max()


class Attending(_OfRows):
    """Attention between the rows of the batch."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute [batch, 5] of [batch, 8]."""
        y = self.fc(x)
        return paddle.matmul(F.softmax(paddle.matmul(y, y, transpose_y=True)), y)


class Counted(_OfRows):
    """Divided by how many rows there are."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute [batch, 5] of [batch, 8]."""
        return self.fc(x) / paddle.shape(x)[0].astype("float32")


class Cell(nn.Layer):  # type: ignore[misc]
    """One step of a GRU: the state of each row comes in and goes out."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(5)
        self.step, self.last = nn.GRUCell(8, 6), nn.Linear(6, 3)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Compute [batch, 3] and a state [batch, 6] of [batch, 8] and a state."""
        _, new = self.step(x, state)
        return self.last(new), new


class Stacked(nn.Layer):  # type: ignore[misc]
    """Two layers of a GRU, whose states have the layers first and the batch second."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(6)
        self.read = nn.GRU(8, 6, num_layers=2)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Compute [batch, seq, 6] and a state [2, batch, 6] of [batch, seq, 8] and a state."""
        read, new = self.read(x, state)
        return read, new
