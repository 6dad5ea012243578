"""Linear resizing in ONNX: between the elements that Paddle chooses, where ONNX Runtime's `Resize` chooses others."""

from __future__ import annotations

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

IMAGE = ("batch", 2, "height", "width")
FIXED = ("batch", 2, 120, 90)


class Resized(paddle.nn.Layer):
    def __init__(self, **how: Any) -> None:
        super().__init__()
        self.how = {"mode": "bilinear", **how}

    def forward(self, x: Any) -> Any:
        return F.interpolate(x, **self.how)


def written(layer: Resized, shape: tuple[int | str, ...], into: Path, dtype: str = "float32") -> str:
    spec = (TensorSpec("x", dtype, shape),)
    layer.eval()
    with pir_format.session(None):
        pir_format.write(trace(layer, spec, None, {}), None, into, Wish())
    (into / "onnx").mkdir()
    onnx_format.write(None, into, into / "onnx", Wish(inputs=spec))
    return str(into / "onnx" / "model.onnx")


def kinds_of_nodes(path: str) -> set[str]:
    return {node.op_type for node in onnx.load(path).graph.node}


@pytest.mark.parametrize("shape", [IMAGE, FIXED])
@pytest.mark.parametrize(
    "how",
    [
        {"align_corners": True, "size": [170, 131]},
        {"align_corners": True, "size": [1, 40]},
        {"size": [170, 131]},
        {"scale_factor": 1.5},
    ],
    ids=["corners", "one row", "half a pixel", "a scale"],
)
def test_a_linear_resize_is_as_near_to_float64_as_eager(
    shape: tuple[int | str, ...], how: dict[str, Any], tmp_path: Path
) -> None:
    path = written(Resized(**how), shape, tmp_path)
    x = np.random.default_rng(1).standard_normal([2, 2, 120, 90])
    truth = F.interpolate(paddle.to_tensor(x), mode="bilinear", **how).numpy()
    (got,) = onnxruntime.InferenceSession(path).run(None, {"x": x.astype("float32")})
    if shape is FIXED or "align_corners" in how:
        assert "Resize" not in kinds_of_nodes(path)
        assert np.abs(got - truth).max() < 4e-7 * np.abs(truth).max()
    else:  # a size that varies is mostly doubled, and there its places are exact
        assert "Resize" in kinds_of_nodes(path)


@pytest.mark.parametrize(
    ("mode", "shape", "size"), [("linear", (1, 2, 90), [131]), ("trilinear", (1, 2, 5, 6, 7), [7, 9, 11])]
)
@pytest.mark.parametrize("corners", [True, False])
def test_one_and_three_axes_are_resized_alike(
    mode: str, shape: tuple[int, ...], size: list[int], corners: bool, tmp_path: Path
) -> None:
    layout = "NCW" if mode == "linear" else "NCDHW"
    how = {"mode": mode, "data_format": layout, "align_corners": corners, "size": size}
    path = written(Resized(**how), shape, tmp_path)
    x = np.random.default_rng(1).standard_normal(shape)
    truth = F.interpolate(paddle.to_tensor(x), **how).numpy()
    (got,) = onnxruntime.InferenceSession(path).run(None, {"x": x.astype("float32")})
    assert np.abs(got - truth).max() < 4e-7 * np.abs(truth).max()


def test_what_is_exact_in_onnx_runtime_stays_one_node(tmp_path: Path) -> None:
    assert "Resize" in kinds_of_nodes(written(Resized(scale_factor=2), FIXED, tmp_path))


def test_doubles_are_resized_linearly(tmp_path: Path) -> None:
    path = written(Resized(size=[33, 47]), IMAGE, tmp_path, "float64")
    x = np.random.default_rng(1).standard_normal([2, 2, 12, 9])
    truth = F.interpolate(paddle.to_tensor(x), size=[33, 47], mode="bilinear").numpy()
    (got,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
    np.testing.assert_allclose(got, truth, rtol=0, atol=1e-7)
