"""Pools that ONNX does not have.

ONNX knows no adaptive pool. paddle2onnx 2.1.0 writes an ordinary one, which is right where the output's size divides
the input's and silently wrong where it does not (PSPNet at 65 pixels). A window of `out` over `size` elements is
[floor(i * size / out), ceil((i + 1) * size / out)) (paddle/phi/kernels/funcs/pooling.h, 3.3.1). The average is a
product with a matrix that holds 1 / length, the largest is taken over gathered elements: both also where the sizes are
dynamic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exporter.trace.legacy.onnx.common import constant, known
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite


def _adaptive_average(entry: Entry, call: Arguments) -> Any:
    made = _adaptive(call, list(range(2, len(call["x"].shape)))) if call["adaptive"] else None
    return _ordinary(entry, call) if made is None else made


def _ordinary(entry: Entry, call: Arguments) -> Any:
    """Channels last is refused by paddle2onnx."""
    if call["data_format"] not in ("NHWC", "NDHWC"):
        return None
    first_format = {"NHWC": "NCHW", "NDHWC": "NCDHW"}[call["data_format"]]
    changed = {**call, "x": first(call["x"]), "data_format": first_format}
    del changed["out"]
    return last(entry(*changed.values()))


def first(x: Any) -> Any:
    """Channels from the last place to the second."""
    import paddle

    rank = len(x.shape)
    return paddle.transpose(x, [0, rank - 1, *range(1, rank - 1)])


def last(x: Any) -> Any:
    """Channels from the second place to the last."""
    import paddle

    rank = len(x.shape)
    return paddle.transpose(x, [0, *range(2, rank), 1])


def _adaptive(call: Arguments, axes: list[int]) -> Any:
    x, channels_last = call["x"], call["data_format"] in ("NHWC", "NDHWC")
    x = first(x) if channels_last else x
    wanted = [int(size) for size in known(call["kernel_size"], "adaptive_pool", "output_size")]
    if all(_plain(x.shape[axis], out) for axis, out in zip(axes, wanted, strict=True)):
        return None
    for axis, out in zip(axes, wanted, strict=True):
        if out not in (-1, x.shape[axis]):
            x = _averaged(x, axis, out) if call["pooling_type"] == "avg" else _largest(x, axis, out)
    return last(x) if channels_last else x


def _plain(size: int, out: int) -> bool:
    """What an ordinary pool does rightly."""
    return out == 1 or (size > 0 and size % out == 0)


def _averaged(x: Any, axis: int, out: int) -> Any:
    import paddle

    rank = len(x.shape)
    order = [one for one in range(rank) if one != axis] + [axis]
    back = [order.index(one) for one in range(rank)]
    return paddle.transpose(paddle.matmul(paddle.transpose(x, order), _shares(x, axis, out)), back)


def _shares(x: Any, axis: int, out: int) -> Any:
    """The matrix [size, out] that averages."""
    import paddle

    size = x.shape[axis]
    if size >= 0:
        starts, ends = _windows(np.arange(out), size, out)
        places = np.arange(size)[:, None]
        within = (places >= starts) & (places < ends)
        return constant((within / (ends - starts)).astype(str(x.dtype).rpartition(".")[2].lower()))
    size = paddle.shape(x)[axis].astype("int64")
    starts, ends = _windows(constant(np.arange(out)), size, out)
    places = paddle.arange(0, size, 1, "int64").unsqueeze(1)
    within = paddle.logical_and(places >= starts, places < ends)
    return within.astype(x.dtype) / (ends - starts).astype(x.dtype)


def _windows(at: Any, size: Any, out: int) -> tuple[Any, Any]:
    return at * size // out, ((at + 1) * size + (out - 1)) // out


def _largest(x: Any, axis: int, out: int) -> Any:
    """Each window's elements side by side, its last one repeated up to the longest window's length."""
    import paddle

    size = x.shape[axis]
    if size >= 0:
        starts, ends = _windows(np.arange(out), size, out)
        steps = np.arange(max(ends - starts))
        index = constant(np.minimum(starts[:, None] + steps, ends[:, None] - 1).reshape(-1))
    else:
        size = paddle.shape(x)[axis].astype("int64")
        starts, ends = _windows(constant(np.arange(out)), size, out)
        steps = paddle.arange(0, paddle.max(ends - starts), 1, "int64")
        index = paddle.minimum(starts.unsqueeze(1) + steps, ends.unsqueeze(1) - 1).reshape([-1])
    gathered = paddle.index_select(x, index, axis)
    shape = [0] * axis + [out, -1]
    rest = list(gathered.shape[axis + 1 :])
    if any(one < 0 for one in rest):  # reshape takes one unknown only: the axis goes last
        rank = len(x.shape)
        order = [one for one in range(rank) if one != axis] + [axis]
        back = [order.index(one) for one in range(rank)]
        split = paddle.reshape(paddle.transpose(gathered, order), [0] * (rank - 1) + [out, -1])
        return paddle.transpose(paddle.max(split, -1), back)
    return paddle.max(paddle.reshape(gathered, shape + rest), axis + 1)


def _with_index(entry: Entry, call: Arguments) -> Any:
    """The largest of each window and its place in its own plane, the first of equal ones.

    Elements that a window shares with the padding are its nearest own ones, so that they change nothing.
    """
    import paddle

    x, rank = call["x"], len(call["x"].shape) - 2
    planes = [int(size) for size in x.shape[2:]]
    if -1 in planes:
        return _without_places(entry, call)
    rows = [_reach(call, at, size) for at, size in enumerate(planes)]
    wanted = [row.shape[0] for row in rows]
    for at, row in enumerate(rows):
        x = paddle.index_select(x, constant(row.reshape(-1)), 2 + at)
    x = paddle.reshape(x, [0, 0, *(size for row in rows for size in row.shape)])
    x = paddle.transpose(x, [0, 1, *range(2, 2 + 2 * rank, 2), *range(3, 3 + 2 * rank, 2)])
    x = paddle.reshape(x, [0, 0, *wanted, -1])
    flat = np.zeros([1] * (2 * rank), "int64")
    for at, (row, size) in enumerate(zip(rows, planes, strict=True)):
        shape = [1] * (2 * rank)
        shape[at], shape[rank + at] = row.shape
        flat = flat * size + row.reshape(shape)
    reach = int(np.prod([row.shape[1] for row in rows]))
    starts = constant(np.arange(int(np.prod(wanted))).reshape(wanted) * reach)
    picked = paddle.add(paddle.argmax(x, -1), starts)
    places = paddle.gather(constant(flat.reshape(-1)), paddle.reshape(picked, [-1]))
    values = paddle.max(x, -1)
    return values, paddle.reshape(places, [-1, *values.shape[1:]]).astype("int32")


def _without_places(entry: Entry, call: Arguments) -> Any:
    """Where sizes are dynamic. The places are the entry's own; if they are used, the check of the program refuses."""
    if not call["adaptive"]:
        return None
    values = _adaptive({**call, "data_format": "NCHW", "pooling_type": "max"}, list(range(2, len(call["x"].shape))))
    return None if values is None else (values, entry(*(call[name] for name in _WINDOW))[1])


def _reach(call: Arguments, at: int, size: int) -> Any:
    """The elements of each window along one axis, [windows, longest window]."""
    kernel = int(known(call["kernel_size"], "max_pool", "kernel_size")[at])
    if call["adaptive"]:
        starts, ends = _windows(np.arange(kernel), size, kernel)
    else:
        step, pad = int(call["strides"][at]), int(call["paddings"][at])
        spare = step - 1 if call["ceil_mode"] else 0
        starts = np.arange((size + 2 * pad - kernel + spare) // step + 1) * step - pad
        ends = np.minimum(starts + kernel, size)
        starts = np.maximum(starts, 0)
    steps = np.arange(max(ends - starts))
    return np.minimum(starts[:, None] + steps, ends[:, None] - 1)


_WINDOW = ("x", "kernel_size", "strides", "paddings", "global_pooling", "adaptive", "ceil_mode")
_POOL = (
    "x, kernel_size, strides, paddings, ceil_mode, exclusive, data_format, pooling_type, global_pooling, adaptive, "
    "padding_algorithm"
)
POOLING: Mapping[str, Rewrite] = {
    "pool2d": Rewrite(_adaptive_average, _POOL),
    "pool3d": Rewrite(_adaptive_average, _POOL),
    "max_pool2d_with_index": Rewrite(_with_index, ", ".join(_WINDOW)),
    "max_pool3d_with_index": Rewrite(_with_index, ", ".join(_WINDOW)),
}
