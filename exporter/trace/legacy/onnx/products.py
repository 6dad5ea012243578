"""Products, and numbers that float32 cannot hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from exporter.trace.legacy.onnx.common import constant, number, reshaped_like, sizes
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite, dtype_name
from exporter.trace.legacy.onnx.pooling import first, last
from exporter.trace.legacy.statistics import normalised, of_batch


def _dot(entry: Entry, call: Arguments) -> Any:
    import paddle

    product = paddle.multiply(call["x"], call["y"])
    kept = paddle.sum(product, axis=-1, keepdim=True, dtype=product.dtype)
    return paddle.squeeze(kept, -1)


def _scaled_sum(multiply: str) -> Any:
    def rewrite(entry: Entry, call: Arguments) -> Any:
        import paddle

        product = getattr(paddle, multiply)(call["x"], call["y"])
        return paddle.add(call["input"] * float(call["beta"]), product * float(call["alpha"]))

    return rewrite


def _kron(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, y = call["x"], call["y"]
    rank = max(len(x.shape), len(y.shape))
    left = [1] * (rank - len(x.shape)) + sizes(x, "kron", *range(len(x.shape)))
    right = [1] * (rank - len(y.shape)) + sizes(y, "kron", *range(len(y.shape)))
    spread = paddle.reshape(x, [size for one in left for size in (one, 1)])
    times = paddle.reshape(y, [size for one in right for size in (1, one)])
    return paddle.reshape(paddle.multiply(spread, times), [a * b for a, b in zip(left, right, strict=True)])


def _trace(entry: Entry, call: Arguments) -> Any:
    import paddle

    return paddle.sum(paddle.diagonal(call["x"], call["offset"], call["axis1"], call["axis2"]), axis=-1)


def _cross(entry: Entry, call: Arguments) -> Any:
    """Element i of the product is a[i+1] b[i+2] - a[i+2] b[i+1]."""
    import paddle

    x, y, axis = call["x"], call["y"], call["axis"]
    at = next(i for i, size in enumerate(x.shape) if size == 3) if axis in (None, 9) else int(axis) % len(x.shape)
    one, two = constant(np.array([1, 2, 0])), constant(np.array([2, 0, 1]))
    pick = paddle.index_select
    return paddle.subtract(pick(x, one, at) * pick(y, two, at), pick(x, two, at) * pick(y, one, at))


def _bilinear(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, y, weight, bias = call["x"], call["y"], call["weight"], call["bias"]
    outs, left, right = (int(size) for size in weight.shape)
    flat = paddle.reshape(paddle.transpose(weight, [1, 0, 2]), [left, outs * right])
    inner = paddle.reshape(paddle.matmul(x, flat), [-1, outs, right])
    result = paddle.sum(paddle.multiply(inner, paddle.unsqueeze(y, 1)), axis=-1)
    return result if bias is None else paddle.add(result, bias)


def _group_norm(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx knows four dims, channels second."""
    x, channels_last = call["x"], call["data_format"] not in ("NCHW", "NCL", "NCDHW")
    if len(x.shape) == 4 and not channels_last:
        return None
    import paddle

    x = first(x) if channels_last else x
    flat = paddle.reshape(x, [-1 if x.shape[0] < 0 else x.shape[0], int(x.shape[1]), -1 if x.shape[0] >= 0 else 1, 1])
    if x.shape[0] < 0:
        flat = paddle.reshape(x, [0, int(x.shape[1]), -1, 1])
    made = entry(flat, call["scale"], call["bias"], call["epsilon"], call["groups"], "NCHW")
    made = reshaped_like(made, x)
    return last(made) if channels_last else made


def _layer_norm(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx 2.1.0 writes the scale of a norm over several axes flat, and ONNX Runtime 1.31 refuses its shape."""
    x, begin = call["x"], int(call["begin_norm_axis"])
    if len(x.shape) - begin == 1:
        return None
    flat = x.flatten(begin)
    return reshaped_like(entry(flat, call["scale"], call["bias"], call["epsilon"], begin), x)


def _channels_first(entry: Entry, call: Arguments) -> Any:
    """An operator on channels that are last: paddle2onnx refuses it, or takes them for the second dim."""
    arguments = list(call["rest"])
    at = next((at for at, one in enumerate(arguments) if isinstance(one, str) and one in _CHANNELS_FIRST), None)
    if at is None:
        return None
    arguments[at] = _CHANNELS_FIRST[arguments[at]]
    found = entry(first(call["x"]), *arguments)
    return (last(found[0]), *found[1:]) if isinstance(found, (list, tuple)) else last(found)


def _batch_norm(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx takes the running statistics, whatever the call says; the five other outputs are for training."""
    if not of_batch(call["is_test"], call["use_global_stats"], call["trainable_statistics"]):
        return _channels_first(entry, {"x": call["x"], "rest": tuple(call.values())[1:]})
    channels_last = call["data_format"][1] != "C"
    made = normalised(call["x"], call["weight"], call["bias"], call["epsilon"], channels_last)
    return made, None, None, None, None, None


def _scale(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx computes x * scale + bias of integers, and its numbers for float64, in float32; 0-D becomes [1]."""
    import paddle

    x, scale, bias = call["x"], call["scale"], float(call["bias"])
    if x.shape and dtype_name(x) not in ("int32", "int64", "float64"):
        return None
    factor = scale.astype(x.dtype) if isinstance(scale, paddle.pir.Value) else number(scale, x)
    offset = number(bias, x)
    times = x if not isinstance(scale, paddle.pir.Value) and float(scale) == 1 else paddle.multiply(x, factor)
    if call["bias_after_scale"]:
        return times if bias == 0 and times is not x else paddle.add(times, offset)
    return paddle.multiply(paddle.add(x, offset), factor)


def _full(entry: Entry, call: Arguments) -> Any:
    """A number that float32 does not hold is written as an array; one that is not finite is computed."""
    import paddle

    shape, value, name = call["shape"], call["value"], str(call["dtype"]).rpartition(".")[2].lower()
    if isinstance(value, (int, float)) and not math.isfinite(value):
        return paddle.add(entry(shape, 0.0, call["dtype"], call["place"]), _endless(value).astype(name))
    plain = isinstance(shape, (list, tuple)) and all(isinstance(one, int) and one >= 0 for one in shape)
    if name not in ("int32", "int64", "float64") or not plain or not isinstance(value, (int, float)):
        return None
    if float(np.float32(value)) == value:
        return None
    whole = constant(np.full([1] * max(len(shape), 1), value, name))
    return paddle.expand(whole, shape) if shape else whole.reshape([])


def _endless(value: float) -> Any:
    """An infinity or NaN, as a 0-D float32: paddle2onnx cannot read PIR's JSON of them."""
    import paddle

    below = paddle.log(paddle.zeros([], "float32"))
    return below - below if math.isnan(value) else below if value < 0 else 0.0 - below


def _transposed(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx ignores `output_size`: as much as it can be is computed, and cut to size."""
    import paddle

    wanted = call["output_size"]
    known_size = isinstance(wanted, paddle.pir.Value) or len(wanted) > 0
    if call["data_format"] not in _CHANNELS_FIRST and not known_size:
        return None
    x = first(call["x"]) if call["data_format"] in _CHANNELS_FIRST else call["x"]
    layout = _CHANNELS_FIRST.get(call["data_format"], call["data_format"])
    padding = [int(step) - 1 for step in call["strides"]] if known_size else call["output_padding"]
    kept = [call[name] for name in ("padding_algorithm", "groups", "dilations")]
    made = entry(x, call["filter"], call["strides"], call["paddings"], padding, [], *kept, layout)
    if known_size:
        made = made[:, :, : wanted[0], : wanted[1]]
    return last(made) if layout != call["data_format"] else made


def _full_like(entry: Entry, call: Arguments) -> Any:
    """What is like a 0-D tensor gets the shape [1]."""
    import paddle

    value = call["value"]
    if not isinstance(value, paddle.pir.Value) and not math.isfinite(value):
        like = entry(call["x"], 0.0, call["dtype"], call["place"])
        return paddle.add(like, _endless(value).astype(like.dtype))
    if call["x"].shape or isinstance(value, paddle.pir.Value):
        return None
    return paddle.full([], call["value"], call["x"].dtype if call["dtype"] is None else call["dtype"])


def _deformable(entry: Entry, call: Arguments) -> Any:
    """The first version has no mask, which paddle2onnx reads all the same: a mask of ones says that."""
    import paddle

    if call["mask"] is not None:
        return None
    ones = paddle.ones_like(call["offset"][:, ::2])
    return entry(call["x"], call["offset"], call["filter"], ones, *call["rest"])


_CHANNELS_FIRST = {"NHWC": "NCHW", "NDHWC": "NCDHW", "NLC": "NCL", "NWC": "NCW"}
_WITH_LAYOUT = (
    "conv2d conv3d depthwise_conv2d conv3d_transpose "
    "linear_interp nearest_interp bilinear_interp bicubic_interp trilinear_interp"
).split()
_TRANSPOSED = (
    "x, filter, strides, paddings, output_padding, output_size, padding_algorithm, groups, dilations, data_format"
)
_BATCH_NORM = (
    "x, mean, variance, weight, bias, is_test, momentum, epsilon, data_format, use_global_stats, trainable_statistics"
)
PRODUCTS: Mapping[str, Rewrite] = {
    "dot": Rewrite(_dot),
    "addmm": Rewrite(_scaled_sum("matmul"), "input, x, y, beta=1.0, alpha=1.0"),
    "baddbmm": Rewrite(_scaled_sum("bmm"), "input, x, y, beta=1.0, alpha=1.0"),
    "kron": Rewrite(_kron, "x, y"),
    "trace": Rewrite(_trace, "x, offset=0, axis1=0, axis2=1"),
    "cross": Rewrite(_cross, "x, y, axis=None"),
    "bilinear": Rewrite(_bilinear, "x, y, weight, bias=None"),
    "layer_norm": Rewrite(_layer_norm, "x, scale, bias, epsilon, begin_norm_axis"),
    "group_norm": Rewrite(_group_norm, "x, scale, bias, epsilon, groups, data_format"),
    **dict.fromkeys(_WITH_LAYOUT, Rewrite(_channels_first, "x, *rest")),
    **dict.fromkeys(("conv2d_transpose", "depthwise_conv2d_transpose"), Rewrite(_transposed, _TRANSPOSED)),
    "batch_norm_": Rewrite(_batch_norm, _BATCH_NORM),
    "deformable_conv": Rewrite(_deformable, "x, offset, filter, mask, *rest"),
    "full_like": Rewrite(_full_like, "x, value, dtype=None, place=None"),
    "scale": Rewrite(_scale, "x, scale, bias, bias_after_scale"),
    "full": Rewrite(_full, "shape, value, dtype, place=None", creates=True),
}
