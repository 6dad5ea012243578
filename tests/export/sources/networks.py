"""Networks that stock Paddle saves: the kinds of operators that somebody else's file may hold."""

from __future__ import annotations

from pathlib import Path

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.static import InputSpec


class Picture(nn.Layer):
    """Convolutions, norms, pooling, a resize by another tensor's size, channels split and joined, a copy elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2D(3, 8, 3, padding=1, stride=2), nn.BatchNorm2D(8)
        self.up, self.last = nn.Conv2DTranspose(8, 4, 2, stride=2), nn.Linear(12, 5)

    def forward(self, x):
        y = F.hardswish(self.norm(self.first(x)))
        left, right = paddle.split(self.up(y), 2, axis=1)
        y = paddle.concat([left, right * F.sigmoid(left), F.interpolate(y, size=x.shape[2:], mode="bilinear")], axis=1)
        y = F.adaptive_avg_pool2d(F.dropout(y, training=self.training), 1).flatten(1)
        return F.softmax(self.last(y).cpu(), axis=-1)


class Text(nn.Layer):
    """Ids, attention, reshapes by sizes, an argmax, two outputs of two dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.mix = nn.Embedding(11, 8), nn.Linear(8, 24)
        self.norm = nn.LayerNorm(8)

    def forward(self, ids):
        x = self.table(ids)
        query, key, value = self.mix(x).reshape([x.shape[0], -1, 3, 2, 4]).transpose([2, 0, 3, 1, 4]).unbind(0)
        weights = F.softmax(paddle.matmul(query, key, transpose_y=True) * 0.5)
        y = paddle.matmul(weights, value).transpose([0, 2, 1, 3]).reshape([x.shape[0], -1, 8])
        y = self.norm(x + y)
        return y, paddle.argmax(y, axis=-1)


class Deciding(nn.Layer):
    """A branch on a value and a loop that counts."""

    def forward(self, x):
        y = x * 2 if paddle.mean(x) > 0 else x - 1
        turn = paddle.zeros([], "int64")
        while turn < 3:
            y = y * 0.5 + x
            turn = turn + 1
        return y


#: By name: the layer, and the shapes and dtypes of its inputs.
NETWORKS = {
    "picture": (Picture, [([None, 3, 16, 16], "float32", "x")]),
    "text": (Text, [([None, None], "int64", "ids")]),
    "deciding": (Deciding, [([None, 4], "float32", "x")]),
}


def saved(name: str, folder: Path, seed: int = 0) -> paddle.nn.Layer:
    """Save a network with the weights of a seed into a folder as `inference.json`; return the layer."""
    kind, inputs = NETWORKS[name]
    paddle.seed(seed)
    layer = kind()
    layer.eval()
    traced = paddle.jit.to_static(layer, input_spec=[InputSpec(*one) for one in inputs], full_graph=True)
    paddle.jit.save(traced, str(folder / "inference"))
    fresh = kind()
    fresh.set_state_dict(layer.state_dict())
    fresh.eval()
    return fresh
