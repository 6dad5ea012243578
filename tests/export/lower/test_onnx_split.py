"""Parts whose sizes are computed while the model runs, in ONNX."""

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


class Parts(paddle.nn.Layer):
    """Cuts the rows at a size of the input; the last part is said, or is what is left."""

    def __init__(self, left: bool) -> None:
        super().__init__()
        self.left = left

    def forward(self, x: Any) -> Any:
        rows = x.shape[0]
        both = paddle.concat([x, x * 2.0, x[:1]], axis=0)
        first, second, third = paddle.split(both, [rows, rows, -1 if self.left else 1], axis=0)
        return first.sum(0) + second.max(0), third


@pytest.mark.parametrize("left", [False, True])
def test_parts_of_computed_sizes(left: bool, tmp_path: Path) -> None:
    layer, spec = Parts(left), (TensorSpec("x", "float32", ("rows", 4)),)
    layer.eval()
    with pir_format.session(None):
        pir_format.write(trace(layer, spec, None, {}), None, tmp_path, Wish())
    (tmp_path / "onnx").mkdir()
    onnx_format.write(None, tmp_path, tmp_path / "onnx", Wish(inputs=spec))
    session = onnxruntime.InferenceSession(tmp_path / "onnx/model.onnx")
    for rows in (1, 3, 5):
        x = np.random.default_rng(rows).standard_normal([rows, 4]).astype("float32")
        total, last = session.run(None, {"x": x})
        np.testing.assert_allclose(total, x.sum(0) + 2 * x.max(0), rtol=1e-5)
        np.testing.assert_array_equal(last, x[:1])
