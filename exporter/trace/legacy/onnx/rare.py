"""Losses, searches and sums along an axis, which a network seldom exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from exporter.trace.legacy.onnx.common import constant, known, number
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite
from exporter.trace.legacy.refusal import cannot_lower


def _binary_cross_entropy(entry: Entry, call: Arguments) -> Any:
    """The logarithms stop at 1e-12 (phi/kernels/cpu/bce_loss_kernel.cc, 3.3.1)."""
    import paddle

    x, label = call["x"], call["label"]
    least = number(1e-12, x)
    inside, outside = (paddle.log(paddle.maximum(one, least)) for one in (x, 1.0 - x))
    return 0.0 - (label * inside + (1.0 - label) * outside)


def _with_logits(entry: Entry, call: Arguments) -> Any:
    """max(x, 0) - x * label + log(1 + exp(-|x|)); `pos_weight` is one for each element, made of the label's before."""
    import paddle

    x, label, weight = call["x"], call["label"], call["pos_weight"]
    if call["normalize"]:
        raise cannot_lower(
            "paddle.nn.functional.binary_cross_entropy_with_logits", "normalize has no rewrite", "leave it out"
        )
    zero = number(0, x)
    tail = paddle.log(1.0 + paddle.exp(0.0 - paddle.abs(x)))
    if weight is None:
        loss = paddle.maximum(x, zero) - x * label + tail
    else:
        loss = (1.0 - label) * x + weight * (tail + paddle.maximum(0.0 - x, zero))
    return paddle.where(label == number(call["ignore_index"], label), paddle.zeros_like(loss), loss)


def _divergence(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, label = call["x"], call["label"]
    if call["reduction"] != "none":
        return None
    if call["log_target"]:
        return paddle.exp(label) * (label - x)
    loss = label * (paddle.log(label) - x)
    return paddle.where(label > number(0, label), loss, paddle.zeros_like(loss))


def _huber(entry: Entry, call: Arguments) -> Any:
    import paddle

    delta = float(call["delta"])
    far = paddle.subtract(call["label"], call["input"])
    size = paddle.abs(far)
    near = size <= number(delta, size)
    return paddle.where(near, far * far * 0.5, (size - 0.5 * delta) * delta)


def _log_loss(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, label, eps = call["input"], call["label"], float(call["epsilon"])
    return 0.0 - label * paddle.log(x + eps) - (1.0 - label) * paddle.log(1.0 - x + eps)


def _label_smooth(entry: Entry, call: Arguments) -> Any:
    label, prior, eps = call["label"], call["prior_dist"], float(call["epsilon"])
    return label * (1.0 - eps) + (prior * eps if prior is not None else eps / int(label.shape[-1]))


def _searchsorted(entry: Entry, call: Arguments) -> Any:
    """How many of the sorted are smaller (`right`: or equal); NaN is behind all."""
    import paddle

    row, values = paddle.unsqueeze(call["sorted_sequence"], -2), paddle.unsqueeze(call["values"], -1)
    after = paddle.greater_than(row, values) if call["right"] else paddle.greater_equal(row, values)
    count = paddle.sum(paddle.logical_not(after).astype("int32"), axis=-1)
    return count.astype("int32" if call["out_int32"] else "int64")


def _rrelu(entry: Entry, call: Arguments) -> Any:
    import paddle

    x = call["x"]
    if not call["is_test"]:
        return None
    slope = (float(call["lower"]) + float(call["upper"])) / 2.0
    return paddle.where(x >= number(0, x), x, x * slope)


def _log_cumulated(entry: Entry, call: Arguments) -> Any:
    import paddle

    x = paddle.flatten(call["x"]) if call["flatten"] else call["x"]
    axis = 0 if call["flatten"] else int(known(call["axis"], "logcumsumexp", "axis"))
    if call["exclusive"] or call["reverse"]:
        return None
    top = paddle.max(x, axis=axis, keepdim=True)
    return paddle.log(paddle.cumsum(paddle.exp(x - top), axis=axis)) + top


def _shifted(left: bool) -> Callable[[Entry, Arguments], Any]:
    def rewrite(entry: Entry, call: Arguments) -> Any:
        """By a factor; to the right the quotient is rounded down, as the arithmetic shift does."""
        import paddle

        x, y = call["x"], call["y"]
        if not call["is_arithmetic"]:
            return None
        factor = paddle.round(paddle.exp(y.astype("float32") * float(np.log(2.0)))).astype(x.dtype)
        return paddle.multiply(x, factor) if left else paddle.floor_divide(x, factor)

    return rewrite


def _index_add(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, axis = call["x"], int(call["axis"]) % len(call["x"].shape)
    order = [axis, *(one for one in range(len(x.shape)) if one != axis)]
    back = [order.index(one) for one in range(len(order))]
    moved = [paddle.transpose(one, order) for one in (x, call["add_value"])]
    return paddle.transpose(paddle.scatter_nd_add(moved[0], paddle.unsqueeze(call["index"], -1), moved[1]), back)


def _kth(entry: Entry, call: Arguments) -> Any:
    import paddle

    k, axis = int(call["k"]), int(call["axis"])
    values, places = paddle.topk(call["x"], k, axis, largest=False)
    found = [paddle.slice(one, [axis % len(one.shape)], [k - 1], [k]) for one in (values, places)]
    return tuple(found if call["keepdim"] else (paddle.squeeze(one, axis) for one in found))


def _full_as_batch(entry: Entry, call: Arguments) -> Any:
    """`2 ** x` makes a 2 in the shape of x."""
    import paddle

    if list(call["shape"]) != list(call["input"].shape):
        return None
    return paddle.full_like(call["input"], call["value"], call["dtype"])


def _mean_of_all(entry: Entry, call: Arguments) -> Any:
    import paddle

    return paddle.mean(call["x"])


def _triangle_places(find: Callable[..., Any]) -> Callable[[Entry, Arguments], Any]:
    def rewrite(entry: Entry, call: Arguments) -> Any:
        places = np.stack(find(int(call["rows"]), int(call["offset"]), int(call["columns"])))
        return constant(places.astype("int64")).astype(call["dtype"])

    return rewrite


RARE: Mapping[str, Rewrite] = {
    "bce_loss": Rewrite(_binary_cross_entropy, "x, label"),
    "sigmoid_cross_entropy_with_logits": Rewrite(_with_logits, "x, label, pos_weight, normalize, ignore_index"),
    "kldiv_loss": Rewrite(_divergence, "x, label, reduction, log_target"),
    "huber_loss": Rewrite(_huber, "input, label, delta"),
    "log_loss": Rewrite(_log_loss, "input, label, epsilon"),
    "label_smooth": Rewrite(_label_smooth, "label, prior_dist, epsilon"),
    "searchsorted": Rewrite(_searchsorted, "sorted_sequence, values, out_int32, right"),
    "rrelu": Rewrite(_rrelu, "x, lower, upper, is_test"),
    "logcumsumexp": Rewrite(_log_cumulated, "x, axis, flatten, exclusive, reverse"),
    "bitwise_left_shift": Rewrite(_shifted(left=True), "x, y, is_arithmetic=True"),
    "bitwise_right_shift": Rewrite(_shifted(left=False), "x, y, is_arithmetic=True"),
    "index_add": Rewrite(_index_add, "x, index, add_value, axis"),
    "full_batch_size_like": Rewrite(_full_as_batch, "input, shape, dtype, value, *rest"),
    "mean_all": Rewrite(_mean_of_all, "x"),
    "kthvalue": Rewrite(_kth, "x, k, axis, keepdim"),
    "tril_indices": Rewrite(_triangle_places(np.tril_indices), "rows, columns, offset, dtype, place", creates=True),
    "triu_indices": Rewrite(_triangle_places(np.triu_indices), "rows, columns, offset, dtype, place", creates=True),
}
