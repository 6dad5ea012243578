"""What no input decides is computed in the predictor of a `.json`, too: norms and resizes of parameters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import paddle
import paddle.nn.functional as F
import pytest

from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace
from exporter.paddle.predictor import Predictor

SPEC = (TensorSpec("x", "float32", ("batch", 4, 6)),)


class Queries(paddle.nn.Layer):
    """Adds what `makes` computes of a learned table alone."""

    def __init__(self, makes: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        normal = paddle.nn.initializer.Normal(std=3.0)
        self.table = self.create_parameter([4, 6], default_initializer=normal)
        self.batch, self.layer = paddle.nn.BatchNorm1D(6), paddle.nn.LayerNorm(6)
        self.old = paddle.nn.BatchNorm(6)
        self.linear = paddle.nn.Linear(6, 6)
        self.makes = makes

    def forward(self, x: Any) -> Any:
        return x + self.makes(self, self.table)


MADE: dict[str, Callable[[Any, Any], Any]] = {
    "batch norm": lambda layer, table: layer.batch(layer.linear(table)),
    "layer norm": lambda layer, table: layer.linear(layer.layer(table)),
    "both": lambda layer, table: layer.layer(layer.batch(table)),
    "the older batch norm": lambda layer, table: layer.old(table),
    "unique": lambda layer, table: paddle.unique(table).max(),
    "bilinear": lambda layer, table: F.interpolate(table.reshape([1, 1, 4, 6]), [2, 3], mode="bilinear").max(),
    "doubles": lambda layer, table: F.layer_norm(table.cast("float64"), [6]).cast("float32"),
    "a scalar": lambda layer, table: paddle.topk(table.flatten(), 1)[0].sum(),
}


def written(layer: Queries, into: Path) -> None:
    layer.eval()
    with pir_format.session(None):
        pir_format.write(trace(layer, SPEC, None, {}), None, into, Wish())


@pytest.mark.parametrize("makes", MADE.values(), ids=MADE)
def test_what_is_made_of_parameters_alone_is_computed(makes: Callable[[Any, Any], Any], tmp_path: Path) -> None:
    layer = Queries(makes)
    written(layer, tmp_path)
    predictor = Predictor(tmp_path / "model")
    for rows in (2, 3):
        x = np.random.default_rng(rows).standard_normal([rows, 4, 6]).astype("float32")
        (got,) = predictor.run({"x": x})
        np.testing.assert_allclose(got, layer(paddle.to_tensor(x)).numpy(), rtol=0, atol=1e-5)


def test_what_the_predictor_can_compute_is_written_as_it_was(tmp_path: Path) -> None:
    layer = Queries(lambda layer, table: layer.linear(table) * 2.0)
    written(layer, tmp_path)
    assert "split" not in (tmp_path / "model.json").read_text()


def test_onnx_has_no_node_more(tmp_path: Path) -> None:
    layer = Queries(MADE["layer norm"])
    written(layer, tmp_path)
    (tmp_path / "onnx").mkdir()
    onnx_format.write(None, tmp_path, tmp_path / "onnx", Wish(inputs=SPEC))
    path = tmp_path / "onnx/model.onnx"
    assert "Split" not in [node.op_type for node in onnx.load(path).graph.node]
    x = np.ones([2, 4, 6], "float32")
    (got,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
    np.testing.assert_allclose(got, layer(paddle.to_tensor(x)).numpy(), rtol=0, atol=1e-5)
