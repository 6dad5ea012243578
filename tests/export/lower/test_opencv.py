"""Readers that infer little, such as OpenCV's DNN module: what they want is written, and there they agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import paddle
import pytest
from paddle import nn

from exporter.base.tensors import Array, TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace

#: Nodes whose window OpenCV reads from `kernel_shape` alone; the global pools have none.
WINDOWS = ("Conv", "ConvTranspose", "DeformConv", "MaxPool", "AveragePool", "LpPool")


class Plane(nn.Layer):
    """Convolutions, transposed ones and pools over planes: strided, dilated, in groups, channels last, folded norms."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2D(3, 8, 3, 2, 1)
        self.norm = nn.BatchNorm2D(8)
        self.depthwise = nn.Conv2D(8, 8, 3, padding=2, dilation=2, groups=8)
        self.behind = nn.Conv2D(8, 8, (1, 3), padding="SAME", data_format="NHWC")
        self.up = nn.Conv2DTranspose(8, 8, 3, 2, 1, 1)
        self.grouped = nn.Conv2DTranspose(8, 8, 2, 2, groups=2)
        self.head = nn.Conv2D(8, 2, 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        y = nn.functional.relu(self.norm(self.first(x)))
        y = nn.functional.max_pool2d(self.depthwise(y), 3, 1, 1)
        y = self.behind(y.transpose([0, 2, 3, 1])).transpose([0, 3, 1, 2])
        y = self.grouped(nn.functional.avg_pool2d(nn.functional.relu(self.up(y)), 2))
        y = nn.functional.interpolate(y, scale_factor=2, mode="bilinear")
        return nn.functional.softmax(self.head(y), axis=1)


class Row(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.up = nn.Conv1D(3, 8, 3, padding=1), nn.BatchNorm1D(8), nn.Conv1DTranspose(8, 4, 3, 2)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.up(nn.functional.relu(self.norm(self.conv(x))))


class Volume(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv3D(3, 8, 3, padding=1), nn.BatchNorm3D(8)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return nn.functional.max_pool3d(nn.functional.relu(self.norm(self.conv(x))), 2)


class Pooled(nn.Layer):
    """An adaptive pool whose windows differ in length, as VGG has it: of a known size no comparison stays."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2D(3, 4, 3), nn.Linear(4 * 9, 5)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.head(nn.functional.adaptive_avg_pool2d(self.conv(x), 3).flatten(1))


class Squeezed(nn.Layer):
    """A global pool, and both of its axes gone at once."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return paddle.squeeze(nn.functional.adaptive_avg_pool2d(self.conv(x), 1), axis=[2, 3])


#: With a shape of input: of a 1-D convolution OpenCV 4.14 keeps the one row that it assumes when it loads the file.
NETWORKS = {
    "plane": (Plane, (2, 3, 32, 32)),
    "row": (Row, (1, 3, 17)),
    "volume": (Volume, (2, 3, 8, 8, 8)),
    "pooled": (Pooled, (2, 3, 12, 9)),
    "squeezed": (Squeezed, (2, 3, 12, 9)),
}


def written(name: str, folder: Path) -> tuple[Path, Array]:
    """The ONNX file of a network, and an input."""
    paddle.seed(0)
    kind, shape = NETWORKS[name]
    layer = kind()
    layer.eval()
    specs = (TensorSpec("x", "float32", ("batch", *shape[1:])),)
    with pir_format.session(None):
        pir_format.write(trace(layer, specs, None, {}), None, folder, Wish())
    (folder / "onnx").mkdir()
    onnx_format.write(None, folder, folder / "onnx", Wish(inputs=specs))
    value = np.random.default_rng(0).standard_normal(shape).astype("float32")
    return folder / "onnx/model.onnx", value


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_every_window_has_its_size(name: str, tmp_path: Path) -> None:
    file, _ = written(name, tmp_path)
    nodes = [node for node in onnx.load(file).graph.node if node.op_type in WINDOWS]
    assert nodes
    for node in nodes:
        assert any(attribute.name == "kernel_shape" for attribute in node.attribute), node


def test_shares_of_windows_of_known_sizes_are_constants(tmp_path: Path) -> None:
    file, _ = written("pooled", tmp_path)
    kinds = {node.op_type for node in onnx.load(file).graph.node}
    assert kinds <= {"Conv", "Transpose", "MatMul", "Flatten", "Gemm"}


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_opencv_computes_the_same(name: str, tmp_path: Path) -> None:
    """Without the sizes OpenCV 4.14 refuses the file; 5.0 takes it."""
    opencv = pytest.importorskip("cv2", reason="opencv-python-headless is not installed here")
    file, value = written(name, tmp_path)
    (want,) = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(None, {"x": value})
    network = opencv.dnn.readNetFromONNX(str(file))
    network.setInput(value)
    np.testing.assert_allclose(network.forward(), want, rtol=0, atol=1e-5 * float(np.abs(want).max()))
