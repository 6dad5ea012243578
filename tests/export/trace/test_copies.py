"""What `forward` returns twice, or returns untouched, comes out of each file as eager gives it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import paddle
import pytest

from exporter.base.tensors import TensorSpec
from exporter.engines.base import Runnable
from exporter.engines.kinds.paddle_inference import plugin as predictor
from exporter.export.lower.base import Wish
from exporter.export.trace.traced import trace
from tests.export.trace.test_fixes import FORMATS


class Twice(paddle.nn.Layer):
    def forward(self, x: paddle.Tensor) -> object:
        y = x * 2.0
        return y, y + 1.0, y, [y]


class Untouched(paddle.nn.Layer):
    def forward(self, x: paddle.Tensor) -> object:
        return {"last": x, "first": paddle.tanh(x), "again": x}


class Scaled(paddle.nn.Layer):
    """Both are the input in a program to which `x + 0` is no operator."""

    def forward(self, x: paddle.Tensor) -> object:
        return x, x + 0.0, x * 1.0


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("make", [Twice, Untouched, Scaled])
def test_each_output_is_a_tensor_of_its_own(make: type[paddle.nn.Layer], name: str, tmp_path: Path) -> None:
    plugin = FORMATS[name]
    with plugin.session(None):
        traced = trace(make(), [TensorSpec("x", "float32", ("n", 3))], None, {})
        plugin.write(traced, None, tmp_path, Wish())
    names = traced.native_outputs
    with predictor.open(Runnable(name, tmp_path, plugin.model, ("x",), names, None, 1), "cpu") as session:
        for rows in (2, 3):
            value = np.random.default_rng(rows).standard_normal((rows, 3)).astype("float32")
            found = session.run({"x": value})
            expected = paddle.utils.flatten(make()(paddle.to_tensor(value)))
            assert len(found) == len(expected) == len(traced.outputs)
            for output, tensor in zip(names, expected, strict=True):
                np.testing.assert_array_equal(found[output], tensor.numpy())
