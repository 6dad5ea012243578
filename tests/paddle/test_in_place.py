"""Functions that write into their first argument, in files of both kinds that come from PIR."""

import numpy as np
import onnxruntime
import paddle
import pytest

from exporter.base.tensors import TensorSpec
from exporter.engines.base import Runnable, SourceModel
from exporter.engines.kinds.static import plugin as static
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.export.trace.traced import trace


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


class WithinALoop(paddle.nn.Layer):
    """The body assigns the counter only."""

    def forward(self, x):
        y, turn = x * 2, paddle.zeros([1])
        while turn < 3:
            y.add_(x)
            y.tanh_()
            turn = turn + 1
        return y, turn


class OfWhatALoopCarries(paddle.nn.Layer):
    def forward(self, x):
        y = x * 2
        while y.mean() < 9:
            y = y + 2
            y.add_(x * x)
            if y.max() > 4:
                y.scale_(1.5)
        return y * 1


class WithinBranches(paddle.nn.Layer):
    def forward(self, x):
        y, z = x * 2, x * 3
        if x.sum() > 1e3:
            y.add_(x)
        else:
            if x.max() > 0:
                z.subtract_(y)
            y.exp_()
        return y, z


class WithoutAnOperand(paddle.nn.Layer):
    """An operator may have an optional operand that is not there, as the sizes of `interpolate`."""

    def forward(self, x):
        y = paddle.nn.functional.interpolate(x.reshape([1, 1, 3, 4]), size=[6, 8], mode="nearest")
        y.tanh_()
        if x.sum() > 1e3:
            y.add_(paddle.nn.functional.interpolate(y, size=[6, 8], mode="nearest"))
        return y


class ReadBehindALoop(paddle.nn.Layer):
    """A loop of PIR takes the memory of what it starts from."""

    def forward(self, x):
        before = y = x * 2
        while y.mean() < 9:
            y = y + x * x
        return before, y


class OfAnotherShape(paddle.nn.Layer):
    """What is put out has the rank that it has afterwards."""

    def forward(self, x):
        y, z = x * 2, x * 3
        y.reshape_([-1, 2])
        z.unsqueeze_(0)
        return y, z, z.sum(0)


KINDS = (
    *(Twice, AfterABranch, Put, WithinALoop, OfWhatALoopCarries, WithinBranches, WithoutAnOperand, ReadBehindALoop),
    OfAnotherShape,
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
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
    names = tuple(spec.name for spec in traced.outputs)
    assert [spec.shape for spec in traced.outputs] == [tuple(want.shape) for want in expected]
    source = SourceModel(f"{__name__}:{kind.__name__}", None, 0, inputs, names, {})
    with static.open(Runnable("source", None, "", ("x",), names, source), "cpu") as running:
        unsaved = running.run({"x": x})
    for want, one, other, name in zip(expected, found, also, names, strict=True):
        np.testing.assert_array_equal(want.numpy(), one.numpy())
        np.testing.assert_array_equal(want.numpy(), unsaved[name])
        np.testing.assert_allclose(want.numpy(), other, rtol=1e-5, atol=1e-6)
