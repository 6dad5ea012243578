"""An artifact that runs in one thread and then in two is never held twice: there may be no room for it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar
from weakref import WeakSet

import numpy as np
import paddle

from exporter.base.tensors import TensorSpec, load, save
from exporter.engines.base import Runnable, SourceModel
from exporter.engines.child import run
from exporter.engines.job import EngineCase, RunRequest


class Alone(paddle.nn.Layer):
    """Notes how many others there are when it is built; it holds itself, as layers do that bind their methods."""

    alive: ClassVar[WeakSet[Alone]] = WeakSet()
    beside: ClassVar[list[int]] = []

    def __init__(self) -> None:
        super().__init__()
        Alone.beside.append(len(Alone.alive))
        Alone.alive.add(self)
        self.body = paddle.nn.Linear(3, 2)
        self.called = self.forward

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.body(x)


def test_no_layer_is_left_when_the_next_is_built(tmp_path: Path) -> None:
    golden = tmp_path / "golden.safetensors"
    save(golden, {"a/input/x": np.ones((2, 3), "float32")})
    takes = (TensorSpec("x", "float32", (2, 3)),)
    source = SourceModel(f"{Alone.__module__}:Alone", None, 0, takes, ("y",), {})
    artifact = Runnable("source", None, "", ("x",), ("y",), source)
    cases = tuple(EngineCase(f"a#{threads}", "a", threads) for threads in (1, 2, 3))
    answer = run(RunRequest("eager", "cpu", artifact, golden, cases, tmp_path))
    assert (answer.refused, answer.load, sorted(answer.sessions)) == ({}, "", [1, 2, 3])
    assert Alone.beside == [0, 0, 0]
    outputs = [load(tmp_path / f"{at}.safetensors")["y"] for at in range(3)]
    assert outputs[0].shape == (2, 2) and all(np.allclose(output, outputs[0]) for output in outputs)
