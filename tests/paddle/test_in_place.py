"""Functions that write into their first argument, in files of both kinds that come from PIR."""

import numpy as np
import onnxruntime
import paddle
import pytest

from exporter.lower.base import Wish
from exporter.lower.onnx import plugin as onnx
from exporter.lower.pir import plugin as pir
from exporter.tensors import TensorSpec
from exporter.trace.traced import trace


class Twice(paddle.nn.Layer):
    def forward(self, x):
        y = x * 1
        before = y + 1
        y.tanh_()
        y.add_(x)
        return y * 2, before, y


class AfterABranch(paddle.nn.Layer):
    def forward(self, x):
        y = x * 1
        if x.sum() > 0:
            y = y + 1
        y.exp_()
        return y


class Put(paddle.nn.Layer):
    def forward(self, x):
        y = x + 0
        y.index_put_((paddle.to_tensor([0, 1]),), x[2])
        return y


@pytest.mark.parametrize("kind", [Twice, AfterABranch, Put])
def test_what_is_written_is_what_is_read_afterwards(kind, tmp_path):
    x = np.random.default_rng(0).standard_normal([3, 4]).astype("float32")
    layer = kind()
    layer.eval()
    expected = paddle.utils.flatten(layer(paddle.to_tensor(x)))
    for name in ("pir", "onnx"):
        (tmp_path / name).mkdir()
    inputs = (TensorSpec("x", "float32", (3, 4)),)
    with pir.session(None):
        pir.write(trace(kind(), inputs, None, {}), None, tmp_path / "pir", Wish())
    with onnx.session(None):
        traced = trace(kind(), inputs, None, {})
        (tmp_path / "again").mkdir()
        pir.write(traced, None, tmp_path / "again", Wish())
        onnx.write(traced, tmp_path / "again", tmp_path / "onnx", Wish(inputs=inputs))
    found = paddle.utils.flatten(paddle.jit.load(str(tmp_path / "pir" / "model"))(paddle.to_tensor(x)))
    session = onnxruntime.InferenceSession(tmp_path / "onnx" / "model.onnx", providers=["CPUExecutionProvider"])
    also = session.run([one.name for one in traced.outputs], {"x": x})
    for want, one, other in zip(expected, found, also, strict=True):
        np.testing.assert_array_equal(want.numpy(), one.numpy())
        np.testing.assert_allclose(want.numpy(), other, rtol=1e-5, atol=1e-6)
