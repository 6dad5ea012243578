"""Paddle programs that loop or allocate far beyond what a model needs, made by Paddle itself.

    python evals/hostile/endless.py DIR      # in a folder that has models/sound.py

Writes `DIR/<name>/pir/model.*` and `DIR/<name>/pdmodel/model.*` for each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import paddle
from models.sound import mlp

from exporter.export.lower.pdmodel.session import legacy_export


def _loop(x: paddle.Tensor) -> paddle.Tensor:
    at = paddle.mean(x) * 0.0
    while at < 1.0:
        at = at * 0.5
    return at


def _nested(x: paddle.Tensor) -> paddle.Tensor:
    at = paddle.mean(x) * 0.0
    while at < 1.0:
        inner = at * 1.0
        while inner < 100.0:
            inner = inner + 0.0001
        at = inner * 0.0
    return at


def _counted(x: paddle.Tensor) -> paddle.Tensor:
    """A loop whose number of rounds is a constant."""
    at, total = paddle.zeros([1], "int64"), paddle.mean(x) * 0.0
    while at < (1 << 60):
        at, total = at + 1, total * 0.5
    return total


def _grows(x: paddle.Tensor) -> paddle.Tensor:
    at, wide = paddle.mean(x) * 0.0, paddle.reshape(x, [-1])
    while at < 1.0:
        wide = paddle.concat([wide, wide])
        at = at * 0.5
    return paddle.mean(wide) * 0.0 + at


def _ones(_x: paddle.Tensor) -> paddle.Tensor:
    return paddle.mean(paddle.ones([60_000, 60_000])) * 0.0


def _tiled(x: paddle.Tensor) -> paddle.Tensor:
    return paddle.mean(paddle.tile(paddle.mean(x).reshape([1]), [1 << 30])) * 0.0


def _expanded(x: paddle.Tensor) -> paddle.Tensor:
    wide = paddle.expand(paddle.mean(x).reshape([1, 1]), [1 << 16, 1 << 15])
    return paddle.mean(wide + 1.0) * 0.0


def _range(x: paddle.Tensor) -> paddle.Tensor:
    return paddle.mean(paddle.arange(1 << 33).astype("float32")) * 0.0 + paddle.mean(x) * 0.0


def _products(x: paddle.Tensor) -> paddle.Tensor:
    side = paddle.ones([3000, 3000]) + paddle.mean(x) * 0.0
    for _ in range(100):
        side = paddle.matmul(side, side)
    return paddle.mean(side) * 0.0


BOMBS: dict[str, Callable[[paddle.Tensor], paddle.Tensor]] = {
    "a loop": _loop,
    "loops in a loop": _nested,
    "a counted loop": _counted,
    "a loop that doubles": _grows,
    "ones": _ones,
    "tiled": _tiled,
    "expanded": _expanded,
    "a range": _range,
    "products": _products,
}


class Bomb(paddle.nn.Layer):
    """The sound network, and a zero that takes its time."""

    def __init__(self, zero: Callable[[paddle.Tensor], paddle.Tensor]) -> None:
        super().__init__()
        self.net, self.zero = mlp(), zero

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.net(x) + self.zero(x)


def _write(into: Path, form: str) -> None:
    for name, zero in BOMBS.items():
        with paddle.utils.unique_name.guard():
            given = [paddle.static.InputSpec([None, 4], "float32", "x")]
            layer = paddle.jit.to_static(Bomb(zero), input_spec=given, full_graph=True)
            layer.eval()
            paddle.jit.save(layer, str(into / name / form / "model"))


if __name__ == "__main__":
    _write(Path(sys.argv[1]), "pir")
    with legacy_export():
        _write(Path(sys.argv[1]), "pdmodel")
