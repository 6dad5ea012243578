"""ONNX of what ONNX has no operator for, where no input decides it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import paddle
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import Onnx
from exporter.export.lower.kinds.pir import Pir
from exporter.export.trace.traced import trace

X = TensorSpec("x", "float32", ("batch", 4))


class FixedPoints(paddle.nn.Layer):
    """As PaddleOCR's TPS: a matrix of constants is inverted at each call."""

    def forward(self, x):
        points = paddle.eye(4, dtype="float64") * 3 + paddle.linspace(0, 1, 4, dtype="float64").reshape([1, 4])
        return paddle.matmul(x, paddle.inverse(points).astype("float32"))


class Eigenvalues(paddle.nn.Layer):
    """The operator in between gives complex numbers, which no file can hold."""

    def forward(self, x):
        points = paddle.linspace(0, 1, 16).reshape([4, 4]) - paddle.eye(4).flip([0])
        return x * paddle.linalg.eigvals(points).imag()


class OfTheInput(paddle.nn.Layer):
    def forward(self, x):
        return paddle.linalg.eigvals(x[:4] + paddle.eye(4) * 9).real()


class OfAWeight(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([4, 4], default_initializer=paddle.nn.initializer.Assign(np.eye(4) * 2))

    def forward(self, x):
        return x * paddle.linalg.eigvals(self.weight).real()


def of_a_draw(draw: Callable[[], paddle.Tensor]) -> type[paddle.nn.Layer]:
    class OfADraw(paddle.nn.Layer):
        def forward(self, x):
            return paddle.matmul(x, paddle.inverse(draw() + paddle.eye(4) * 9))

    return OfADraw


DRAWS = {
    "uniform": lambda: paddle.rand([4, 4]),
    "randint": lambda: paddle.randint(0, 2, [1, 1]).astype("float32"),
    "bernoulli": lambda: paddle.bernoulli(paddle.full([4, 4], 0.5)),
    "poisson": lambda: paddle.poisson(paddle.full([4, 4], 2.0)),
    "randperm": lambda: paddle.randperm(4).astype("float32"),
}


def written(layer: paddle.nn.Layer, folder: Path) -> Path:
    plugin = Onnx()
    (folder / "pir").mkdir()
    (folder / "onnx").mkdir()
    with plugin.session(None):
        traced = trace(layer.eval(), [X], None, {})
        Pir().write(traced, None, folder / "pir", Wish())
        plugin.write(traced, folder / "pir", folder / "onnx", Wish(inputs=(X,)))
    return folder / "onnx" / "model.onnx"


@pytest.mark.parametrize("network", [FixedPoints, Eigenvalues])
def test_what_no_input_decides_is_stored_as_its_value(network: type[paddle.nn.Layer], tmp_path: Path) -> None:
    layer = network()
    path = written(layer, tmp_path)
    assert {node.op_type for node in onnx.load(path).graph.node} <= {"MatMul", "Mul", "Cast", "Identity"}
    x = np.random.default_rng(0).standard_normal([3, 4]).astype("float32")
    (answer,) = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    np.testing.assert_allclose(answer, layer(paddle.to_tensor(x)).numpy(), rtol=1e-6)


class Masked(paddle.nn.Layer):
    """As Bloom's causal mask: slices of a bool tensor are set, by a tensor and by a number."""

    def forward(self, x):
        mask = paddle.zeros([4, 6], dtype="bool")
        mask[:, 2:] = x[:4] > 0
        mask[1] = True
        return paddle.where(mask, 1.0, x[0, 0])


def test_a_slice_of_a_bool_tensor_is_set(tmp_path: Path) -> None:
    layer = Masked()
    path = written(layer, tmp_path)
    x = np.random.default_rng(0).standard_normal([4, 4]).astype("float32")
    (answer,) = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    expected = layer(paddle.to_tensor(x)).numpy()
    assert 0 < (expected == 1).mean() < 1
    np.testing.assert_array_equal(answer, expected)


@pytest.mark.parametrize("network", [OfTheInput, OfAWeight])
def test_what_an_input_or_a_weight_decides_is_refused(network: type[paddle.nn.Layer], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"operator eigvals \(number \d+\): has no conversion"):
        written(network(), tmp_path)


@pytest.mark.parametrize("name", DRAWS)
def test_what_is_drawn_is_refused_and_moves_no_generator(name: str, tmp_path: Path) -> None:
    paddle.seed(5)
    expected = paddle.rand([2]).numpy()
    paddle.seed(5)
    with pytest.raises(ModelError, match=r"operator \w+ \(number \d+\): has no conversion"):
        written(of_a_draw(DRAWS[name])(), tmp_path)
    np.testing.assert_array_equal(paddle.rand([2]).numpy(), expected)
