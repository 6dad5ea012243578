"""Linear resizing in ONNX: between the elements that Paddle chooses, where ONNX Runtime's `Resize` chooses others."""

from __future__ import annotations

from collections.abc import Mapping
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
    return written_with(layer, {"x": (dtype, shape)}, into)


def written_with(layer: paddle.nn.Layer, inputs: Mapping[str, tuple[str, tuple[int | str, ...]]], into: Path) -> str:
    spec = tuple(TensorSpec(name, dtype, shape) for name, (dtype, shape) in inputs.items())
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


class ToSizeOf(paddle.nn.Layer):
    """Resizes a picture to the height and width of another."""

    def __init__(self, **how: Any) -> None:
        super().__init__()
        self.how = how

    def forward(self, x: Any, other: Any) -> Any:
        return F.interpolate(x, paddle.shape(other)[2:], **self.how)


@pytest.mark.parametrize(("mode", "dtype"), [("bilinear", "float32"), ("bilinear", "float64"), ("bicubic", "float32")])
@pytest.mark.parametrize("size", [(1, 1), (1, 3), (4, 1), (6, 2)])
@pytest.mark.parametrize("shape", [IMAGE, (2, 3, 6, 6)], ids=["open", "fixed"])
def test_one_element_of_several_is_where_paddle_puts_it(
    mode: str, size: tuple[int, int], shape: tuple[int | str, ...], dtype: str, tmp_path: Path
) -> None:
    """Not in the middle, as `half_pixel` has it: wrong by half the picture, and only where a size happens to be 1."""
    layer, other = ToSizeOf(mode=mode), ("batch", 1, "rows", "columns")
    x = np.random.default_rng(1).standard_normal([2, 2 if shape is IMAGE else 3, 6, 6]).astype(dtype)
    feed = {"x": x, "other": np.zeros([2, 1, *size], dtype)}
    path = written_with(layer, {"x": (dtype, shape), "other": (dtype, other)}, tmp_path)
    (got,) = onnxruntime.InferenceSession(path).run(None, feed)
    want = layer(*map(paddle.to_tensor, feed.values())).numpy()
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-6)


SAID = (
    {"size": [1, 1]},
    {"size": [1, 4]},
    {"scale_factor": 1 / 6},
    {"scale_factor": [0.2, 0.5]},
    {"size": [1, 1], "align_mode": 1},
)
CORNERS = {"size": [1, 1], "align_corners": True}
BETWEEN = ("linear", "bilinear", "trilinear", "bicubic")


@pytest.mark.parametrize(
    ("mode", "how"),
    [*((mode, how) for mode in (*BETWEEN, "nearest") for how in SAID), *((mode, CORNERS) for mode in BETWEEN)],
    ids=str,
)
@pytest.mark.parametrize("open_sizes", [True, False])
def test_sizes_of_one_that_are_said(mode: str, how: dict[str, Any], open_sizes: bool, tmp_path: Path) -> None:
    dims = {"linear": 1, "trilinear": 3}.get(mode, 2)
    how = {name: ([value[0]] * dims if isinstance(value, list) and dims != 2 else value) for name, value in how.items()}
    layout = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[dims]
    layer = Resized(**{**how, "mode": mode, "data_format": layout})
    sizes: tuple[int | str, ...] = ("depth", "height", "width")[3 - dims :] if open_sizes else (6,) * dims
    shape = ("batch", 2, *sizes)
    x = np.random.default_rng(1).standard_normal([2, 2, *[6] * dims]).astype("float32")
    (got,) = onnxruntime.InferenceSession(written(layer, shape, tmp_path)).run(None, {"x": x})
    np.testing.assert_allclose(got, layer(paddle.to_tensor(x)).numpy(), rtol=0, atol=2e-6)


def test_what_only_grows_needs_no_way_of_its_own_for_one_element(tmp_path: Path) -> None:
    path = written(Resized(scale_factor=2), IMAGE, tmp_path)
    (node,) = [node for node in onnx.load(path).graph.node if node.op_type == "Resize"]
    (mode,) = [entry.s for entry in node.attribute if entry.name == "coordinate_transformation_mode"]
    assert mode == b"half_pixel"
