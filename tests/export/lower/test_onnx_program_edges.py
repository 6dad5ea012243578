"""Attributes at their edges, each a call whose ONNX must equal eager: rounding, padding, steps, ties of a half.

A fifth of them run in CI, all with `-m slow`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import paddle
import paddle.nn.functional as F
import pytest

from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace
from tests.sampling import some

Body = Callable[[Any], Any]


def kernel(*shape: int) -> Any:
    return paddle.to_tensor(np.random.default_rng(7).standard_normal(shape).astype("float32"))


def written_over(x: Any, place: Any, value: Any) -> Any:
    y = x * 1.0
    y[place] = value
    return y


def nested_loops(x: Any) -> Any:
    outer = paddle.zeros([1], "int64")
    while outer < 2:
        inner = paddle.zeros([1], "int64")
        while inner < 3:
            x = x * 0.5 + 1.0
            inner = inner + 1
        outer = outer + 1
    return x


def branch_in_a_loop(x: Any) -> Any:
    turn = paddle.zeros([1], "int64")
    while turn < 4:
        if turn % 2 == 0:
            x = x + 1.0
        else:
            x = x * 2.0
        turn = turn + 1
    return x


def name_of_a_loop(x: Any) -> Any:
    turn = paddle.zeros([1], "int64")
    while turn < 3:
        both = paddle.concat([x, x * 0.5], axis=3)
        x = both[:, :, :, 3:12] + 1.0
        turn = turn + 1
    return x


#: An image [2, 4, 7, 9]; what is a half, negative, or not divided by the step is in each.
CASES: dict[str, Body] = {
    "round, ties of a half": lambda x: paddle.round(paddle.floor(x * 4) / 2),
    "round, decimals": lambda x: paddle.round(x, decimals=1),
    "floor_divide of negative floats": lambda x: paddle.floor_divide(x * 5, paddle.full_like(x, -1.5)),
    "remainder of negative integers": lambda x: (x * 9).astype("int32") % -4,
    "floor_divide of integers": lambda x: (x * 9).astype("int64") // -4,
    "integers divided": lambda x: (x * 9).astype("int32") / 4,
    "uint8 wraps": lambda x: ((x.abs() * 90).astype("uint8") * 3).astype("int32"),
    "int16 wraps": lambda x: ((x * 9000).astype("int16") * 7).astype("int32"),
    "conv SAME, stride 2": lambda x: F.conv2d(x, kernel(3, 4, 3, 2), stride=2, padding="SAME"),
    "conv SAME, dilation 2": lambda x: F.conv2d(x, kernel(3, 4, 3, 3), dilation=2, padding="SAME"),
    "conv, four paddings": lambda x: F.conv2d(x, kernel(3, 4, 3, 3), padding=[1, 0, 2, 1]),
    "conv, groups, stride, dilation": lambda x: F.conv2d(x, kernel(6, 2, 2, 3), None, [2, 1], [1, 2], [1, 2], 2),
    "conv, channels last": lambda x: F.conv2d(x, kernel(3, 9, 3, 3), padding=[1, 2, 0, 1], data_format="NHWC"),
    "conv_transpose, output_size": lambda x: F.conv2d_transpose(x, kernel(4, 3, 3, 3), stride=2, output_size=[16, 19]),
    "conv_transpose, groups, padding": lambda x: F.conv2d_transpose(x, kernel(4, 3, 3, 3), None, 2, [1, 0], 1, 2),
    "max_pool, ceil": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "max_pool SAME": lambda x: F.max_pool2d(x, 3, 2, "SAME"),
    "avg_pool, ceil, exclusive": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "avg_pool, padding counts": lambda x: F.avg_pool2d(x, 3, 2, 1, exclusive=False),
    "avg_pool, padding counts, ceil": lambda x: F.avg_pool2d(x, 3, 2, [1, 0], ceil_mode=True, exclusive=False),
    "avg_pool, nothing to count, ceil": lambda x: F.avg_pool2d(x, [2, 4], 3, ceil_mode=True, exclusive=False),
    "avg_pool, channels last, ceil": lambda x: F.avg_pool2d(
        x, 4, 3, [1, 2, 0, 1], ceil_mode=True, exclusive=False, data_format="NHWC"
    ),
    "avg_pool, padding counts, more of it at the end": lambda x: F.avg_pool2d(x, 3, 1, [0, 1, 2, 1], exclusive=False),
    "avg_pool SAME, padding counts": lambda x: F.avg_pool2d(x, [2, 4], [2, 1], "SAME", exclusive=False),
    "avg_pool, adaptive": lambda x: F.adaptive_avg_pool2d(x, [3, 4]),
    "max_pool, adaptive": lambda x: F.adaptive_max_pool2d(x, [3, 4]),
    "nearest, corners": lambda x: F.interpolate(x, [10, 5], mode="nearest", align_corners=False),
    "bilinear, corners": lambda x: F.interpolate(x, [10, 5], mode="bilinear", align_corners=True),
    "bilinear, align_mode 1": lambda x: F.interpolate(x, [10, 5], mode="bilinear", align_mode=1),
    "bicubic": lambda x: F.interpolate(x, [10, 5], mode="bicubic"),
    "a grid of the input's sizes": lambda x: F.grid_sample(x, F.affine_grid(x[:, 0, :2, :3] * 0.5, x.shape)),
    "a grid, no corners": lambda x: F.affine_grid(x[:, 0, :2, :3], x.shape, align_corners=False),
    "matmul, outer dims broadcast": lambda x: x[:, :1] @ x[0].transpose([0, 2, 1]),
    "pad, reflect": lambda x: F.pad(x, [1, 2, 3, 0], "reflect"),
    "pad, circular": lambda x: F.pad(x, [1, 2, 3, 0], "circular"),
    "pad, value": lambda x: F.pad(x, [1, 2, 3, 0], "constant", 2.5),
    "slice, negative step": lambda x: x[:, ::-2, 5:1:-1],
    "slice, last, new dim": lambda x: x[:, -1, None, 1:-1],
    "setitem, negative step": lambda x: written_over(x, (slice(None), slice(None, None, -2)), 3.0),
    "setitem, broadcast": lambda x: written_over(x, (slice(None), 1, slice(2, 5)), x[0, 0, 0]),
    "setitem, tensor index": lambda x: written_over(x, paddle.to_tensor([1, 0]), x[:, :, ::-1]),
    "setitem, mask": lambda x: written_over(x, x > 0.5, 0.0),
    "take_along_axis": lambda x: paddle.take_along_axis(x, paddle.full([2, 4, 2, 9], 3, "int64"), 2),
    "put_along_axis, add": lambda x: paddle.put_along_axis(x, paddle.zeros([2, 4, 2, 9], "int64"), 1.5, 2, "add"),
    "scatter, add": lambda x: paddle.scatter(x, paddle.to_tensor([1, 1]), x, overwrite=False),
    "topk, smallest": lambda x: paddle.topk(x, 3, axis=1, largest=False)[0],
    "cumsum, flat": lambda x: paddle.cumsum(x),
    "logsumexp, two axes": lambda x: paddle.logsumexp(x, [1, -1], keepdim=True),
    "p_norm of order 3": lambda x: paddle.norm(x, 3, 1),
    "norm of infinity": lambda x: paddle.norm(x, float("inf"), 2),
    "layer_norm, two dims": lambda x: F.layer_norm(x, [7, 9], kernel(63), kernel(63), 1e-3),
    "group_norm": lambda x: F.group_norm(x, 2, 1e-2, kernel(4), kernel(4)),
    "instance_norm": lambda x: F.instance_norm(x, weight=kernel(4), bias=kernel(4), eps=1e-2),
    "prelu, channels": lambda x: F.prelu(x, kernel(4)),
    "softplus, beta and threshold": lambda x: F.softplus(x, 3.0, 1.0),
    "gelu, tanh": lambda x: F.gelu(x, True),
    "hardswish at its ends": lambda x: F.hardswish(x * 4),
    "logit, eps": lambda x: paddle.logit(x, 0.1),
    "clip, one end": lambda x: paddle.clip(x, max=0.25),
    "roll, two axes": lambda x: paddle.roll(x, [3, -2], [2, 3]),
    "dropout, scaled in inference": lambda x: F.dropout(x, 0.3, training=False, mode="downscale_in_infer"),
    "nested loops": nested_loops,
    "a name that a loop creates": name_of_a_loop,
    "a branch in a loop": branch_in_a_loop,
    "bilinear, a scale that rounding makes whole": lambda x: F.interpolate(
        paddle.tile(x, [1, 1, 2, 2])[:, :, :10, :10], scale_factor=[0.7, 1.3], mode="bilinear"
    ),
    "nearest, where ONNX Runtime chooses others": lambda x: F.interpolate(
        paddle.tile(x[..., :7], [1, 1, 1, 2]), [5, 4], mode="nearest"
    ),
    "setitem, a new dim behind an index": lambda x: written_over(
        x, (slice(None), 1, slice(None, None, 2), None, slice(1, None)), x[:, 0, ::2, None, 1:]
    ),
    "setitem, new dims at both ends": lambda x: written_over(
        x, (None, slice(None), 1, ..., None), x[None, :, 2, ..., None]
    ),
    "setitem, a new dim before an index": lambda x: written_over(x, (slice(None), None, 1), x[:, None, 0] * 2),
}  # fmt: skip


class Calling(paddle.nn.Layer):
    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Any) -> Any:
        return self.body(x)


#: ONNX Runtime 1.31.1 fused the transpose with the product, and computed another one. They always run.
OF_VECTORS: dict[str, Body] = {
    "matmul, a transpose and a vector": lambda x: paddle.matmul(x.transpose([0, 1, 3, 2]), x[0, 0, :, 0]),
    "matmul, transpose_x and a vector": lambda x: paddle.matmul(x[:, 0], x[0, 0, :, 0], transpose_x=True),
    "mv of a transpose": lambda x: paddle.mv(x[0, 0].t(), x[0, 0, :, 0]),
}  # fmt: skip
SAMPLED = [*some(CASES, 5), *OF_VECTORS]


@pytest.mark.parametrize("name", SAMPLED)
def test_onnx_equals_eager(name: str, tmp_path: Path) -> None:
    body = {**CASES, **OF_VECTORS}[name]
    layer = Calling(body)
    layer.eval()
    spec = (TensorSpec("x", "float32", ("batch", 4, 7, 9)),)
    with pir_format.session(None):
        pir_format.write(trace(layer, spec, None, {}), None, tmp_path, Wish())
    wish = Wish(inputs=spec)
    (tmp_path / "onnx").mkdir()
    onnx_format.write(None, tmp_path, tmp_path / "onnx", wish)
    x = np.random.default_rng(1).standard_normal([2, 4, 7, 9]).astype("float32")
    want = body(paddle.to_tensor(x)).numpy()  # the layer itself is no longer eager, once it is traced
    session = onnxruntime.InferenceSession(tmp_path / "onnx/model.onnx", providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {"x": x})
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got, want, rtol=0, atol=4e-6 * max(float(np.abs(want).max()), 1.0))
