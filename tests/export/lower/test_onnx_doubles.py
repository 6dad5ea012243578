"""What ONNX Runtime computes in float32 alone, in float64 by others: equal to eager at known and at open sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

from tests.export.lower.as_onnx import AsOnnx


def weight(*shape: int) -> Any:
    return paddle.to_tensor(np.random.default_rng(7).standard_normal(shape))


#: Of an image [n, 4, h, w].
PLANES: dict[str, Callable[[Any], Any]] = {
    "global average": lambda x: F.adaptive_avg_pool2d(x, 1),
    "global largest": lambda x: F.adaptive_max_pool2d(x, 1),
    "average": lambda x: F.avg_pool2d(x, 3, 2),
    "average, padded": lambda x: F.avg_pool2d(x, 3, 2, [1, 0]),
    "average, padding counts": lambda x: F.avg_pool2d(x, [2, 4], 2, [1, 0, 2, 1], exclusive=False),
    "average, rounded up": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "average, rounded up, padding counts": lambda x: F.avg_pool2d(x, 3, 2, [1, 0], ceil_mode=True, exclusive=False),
    "average, SAME": lambda x: F.avg_pool2d(x, 3, 1, "SAME"),
    "average, channels last": lambda x: F.avg_pool2d(x, 2, data_format="NHWC"),
    "largest": lambda x: F.max_pool2d(x, 3, 2, 1),
    "nearest": lambda x: F.interpolate(x, [14, 13]),
    "nearest, by a factor": lambda x: F.interpolate(x, scale_factor=[1.3, 2.0]),
    "nearest, aligned": lambda x: paddle._C_ops.nearest_interp(
        x, None, None, None, "NCHW", -1, 5, 12, [], "nearest", True, 1
    ),
    "linear, aligned": lambda x: F.interpolate(x, [14, 18], mode="bilinear", align_corners=True),
    "linear": lambda x: F.interpolate(x, [5, 18], mode="bilinear"),
    "shifted in time": lambda x: F.temporal_shift(x, 1),
    "places": paddle.nonzero,
    "convolution": lambda x: F.conv2d(x, weight(6, 4, 3, 2), weight(6)),
    "convolution, padded, steps, dilations": lambda x: F.conv2d(x, weight(3, 4, 3, 3), None, 2, [1, 0, 2, 1], [1, 2]),
    "convolution, groups": lambda x: F.conv2d(x, weight(6, 2, 2, 3), None, [2, 1], 1, 1, 2),
    "convolution, depthwise": lambda x: F.conv2d(x, weight(4, 1, 3, 3), None, 1, 1, 1, 4),
    "convolution, SAME": lambda x: F.conv2d(x, weight(3, 4, 3, 4), padding="SAME"),
    "convolution, channels last": lambda x: F.conv2d(x.transpose([0, 2, 3, 1]), weight(3, 4, 2, 2), data_format="NHWC"),
    "transposed": lambda x: F.conv2d_transpose(x, weight(4, 3, 3, 2)),
    "transposed, steps, padded": lambda x: F.conv2d_transpose(x, weight(4, 3, 3, 3), None, [2, 3], [1, 0], 1),
    "transposed, groups, dilations": lambda x: F.conv2d_transpose(x, weight(4, 3, 2, 3), None, 1, 1, 0, [2, 1], 2),
    "transposed, depthwise": lambda x: F.conv2d_transpose(x, weight(4, 1, 3, 3), None, 2, groups=4),
    "transposed, to a size": lambda x: F.conv2d_transpose(x, weight(4, 3, 3, 3), stride=2, output_size=[16, 19]),
    "unfolded": lambda x: F.unfold(x, [3, 2], 2, [1, 0], [1, 2]),
    "folded": lambda x: F.fold(F.unfold(x, 3, 2, 1), [7, 9], 3, 2, 1),
    "norm of instances": lambda x: F.instance_norm(x, weight=weight(4), bias=weight(4)),
    "norm of groups": lambda x: F.group_norm(x, 2, 1e-5, weight(4), weight(4)),
}
#: Their planes are of one size.
KNOWN = ("transposed, to a size", "folded")


@pytest.mark.parametrize("name", PLANES)
def test_planes(name: str, tmp_path: Path) -> None:
    for number, shape in enumerate((("n", 4, 7, 9), ("n", 4, "h", "w"))[: 1 if name in KNOWN else 2]):
        (tmp_path / f"{number}").mkdir()
        both = AsOnnx(PLANES[name], {"x": ("float64", shape)}, tmp_path / f"{number}")
        for count, size in enumerate(((7, 9), (8, 6))[: number + 1], 1):
            both.must_equal_eager({"x": np.random.default_rng(count).standard_normal((count, 4, *size))})


def test_one_dim_and_three(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "three").mkdir()
    row = AsOnnx(
        lambda x: F.conv1d(F.adaptive_avg_pool1d(F.avg_pool1d(x, 2, 1), 4), weight(3, 4, 3)),
        {"x": ("float64", ("n", 4, "w"))},
        tmp_path / "one",
    )
    row.must_equal_eager({"x": np.random.default_rng(0).standard_normal((2, 4, 9))})
    cube = AsOnnx(
        lambda x: (
            F.conv3d(x, weight(2, 4, 2, 3, 1), padding=1),
            F.avg_pool3d(x, 2, 2, 1),
            F.adaptive_avg_pool3d(x, 1),
        ),
        {"x": ("float64", ("n", 4, "d", "h", "w"))},
        tmp_path / "three",
    )
    cube.must_equal_eager({"x": np.random.default_rng(0).standard_normal((2, 4, 4, 5, 6))})


@pytest.mark.parametrize(
    "function",
    [paddle.erf, F.gelu, F.selu, F.elu, F.leaky_relu, F.hardswish, F.hardsigmoid, lambda x: F.hardsigmoid(x, 0.3, 0.1)],
    ids=["erf", "gelu", "selu", "elu", "leaky_relu", "hardswish", "hardsigmoid", "hardsigmoid of another slope"],
)
def test_each_element(function: Callable[[Any], Any], tmp_path: Path) -> None:
    both = AsOnnx(function, {"x": ("float64", ("n",))}, tmp_path)
    draw = np.random.default_rng(3)
    for low, high in ((-0.01, 0.01), (-1.2, 1.2), (0.9, 1.1), (-7, 7), (-50, 50)):
        x = np.append(draw.uniform(low, high, 4000), 1.0)  # below 0 eager's selu rounds exp(x), too
        both.must_equal_eager({"x": x})
    edges = np.array([0.0, -0.0, 1.0, -1.0, 6.0, -6.0, 3.0, -3.0, np.inf, np.nan, 1e-300, 1e300])
    (got,) = both.session.run(None, {"x": edges})
    np.testing.assert_allclose(got, function(paddle.to_tensor(edges)).numpy(), rtol=4e-16, atol=0)


def test_erf_keeps_the_digits_of_each_number(tmp_path: Path) -> None:
    both = AsOnnx(paddle.erf, {"x": ("float64", ("n",))}, tmp_path)
    x = np.concatenate([10.0 ** -np.linspace(0, 300, 2000), np.linspace(0.5, 7, 20000)])
    (got,) = both.session.run(None, {"x": x})
    np.testing.assert_allclose(got, paddle.erf(paddle.to_tensor(x)).numpy(), rtol=4 * np.finfo("float64").eps, atol=0)
