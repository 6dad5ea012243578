"""Viterbi decoding in ONNX: scores and paths are Paddle's, for lengths from none to all steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import paddle
import pytest

from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace


class Decoding(paddle.nn.Layer):
    def __init__(self, tagged: bool) -> None:
        super().__init__()
        self.tagged = tagged

    def forward(self, x: Any, moves: Any, lengths: Any) -> Any:
        return paddle.text.viterbi_decode(x, moves, lengths, self.tagged)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("tagged", [False, True], ids=["tags", "tags of begin and end"])
@pytest.mark.parametrize("sizes", [("batch", "steps", 5), (3, 6, "tags")], ids=["steps vary", "tags vary"])
def test_scores_and_paths_are_paddles(sizes: tuple[Any, ...], tagged: bool, dtype: str, tmp_path: Path) -> None:
    inputs = (
        TensorSpec("x", dtype, sizes),
        TensorSpec("moves", dtype, (sizes[2], sizes[2])),
        TensorSpec("lengths", "int64", sizes[:1]),
    )
    layer, eager = Decoding(tagged), Decoding(tagged)  # a traced layer is no longer eager
    layer.eval()
    with pir_format.session(None):
        pir_format.write(trace(layer, inputs, None, {}), None, tmp_path, Wish())
    (tmp_path / "onnx").mkdir()
    onnx_format.write(None, tmp_path, tmp_path / "onnx", Wish(inputs=inputs))
    session = onnxruntime.InferenceSession(tmp_path / "onnx/model.onnx", providers=["CPUExecutionProvider"])
    for seed in range(40):
        generator = np.random.default_rng(seed)
        batch = 3 if sizes[0] == 3 else int(generator.integers(1, 6))
        steps = 6 if sizes[1] == 6 else int(generator.integers(1, 9))
        tags = 5 if sizes[2] == 5 else int(generator.integers(2, 7))
        scale = generator.choice([0.25, 1.0])  # whole numbers have ties, quarters of others fewer
        x = (generator.integers(-3, 4, [batch, steps, tags]) * scale).astype(dtype)
        moves = (generator.standard_normal([tags, tags]) if seed % 2 else np.round(x[0, 0, 0] * np.eye(tags))).astype(
            dtype
        )
        lengths = generator.integers(0, steps + 1, [batch])
        lengths[generator.integers(0, batch)] = steps if seed % 3 else 1
        expected = [one.numpy() for one in eager(*map(paddle.to_tensor, (x, moves, lengths)))]
        found = session.run(None, {"x": x, "moves": moves, "lengths": lengths})
        for want, got in zip(expected, found, strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=16 * np.finfo(dtype).eps, atol=16 * np.finfo(dtype).eps)
