"""Constants that the form of Paddle 2.6 has no place for."""

from pathlib import Path

import numpy as np
import paddle
from legacy_judge import load, run

from exporter.export.lower.pdmodel.files import finish
from exporter.export.lower.pdmodel.session import legacy_export


class Constants(paddle.nn.Layer):
    """Numbers of float64 that float32 has not, and some that it has."""

    def forward(self, x):
        return x * paddle.to_tensor(np.array([0.1, 1 / 3, 3.0])) + paddle.to_tensor(
            np.array(0.5)
        ), x * paddle.to_tensor(np.array(0.3))


def test_constants_of_float64_are_not_rounded(tmp_path: Path) -> None:
    x = np.linspace(0.1, 1.3, 6).reshape(2, 3)
    layer = Constants()
    layer.eval()
    expected = [value.numpy() for value in layer(paddle.to_tensor(x))]
    spec = [paddle.static.InputSpec([None, 3], "float64", "x")]
    with legacy_export():
        paddle.jit.save(paddle.jit.to_static(layer, input_spec=spec, full_graph=True), str(tmp_path / "m"))
    finish(tmp_path / "m.pdmodel", tmp_path / "m.pdiparams")
    for want, got in zip(expected, run(load(tmp_path), [x]), strict=True):
        assert np.allclose(got, want, rtol=1e-15, atol=0)
