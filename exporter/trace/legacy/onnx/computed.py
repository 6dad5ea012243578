"""Sizes, shifts and steps that the program computes from its inputs' shapes, where paddle2onnx knows numbers only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exporter.trace.in_place import remember
from exporter.trace.legacy import composed
from exporter.trace.legacy.onnx.common import constant, known
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite
from exporter.trace.legacy.refusal import CannotLower


def _arange(entry: Entry, call: Arguments) -> Any:
    """Of a negative step to an end that is computed paddle2onnx makes nothing: the same numbers, counted upwards."""
    import paddle

    name = str(call["dtype"]).rpartition(".")[2].lower()
    step = _number(call["step"])
    if step is None or step >= 0 or "int" not in name:
        return None
    start, end = (_whole(call[one]) for one in ("start", "end"))
    count = paddle.floor_divide(start - end + (-step - 1), paddle.full([], -step, "int64"))
    return (start + paddle.arange(0, count, 1, "int64") * step).astype(name)


def _linspace(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx divides by the number of steps, which is 0 where there is one place: Paddle gives the start.

    In double, from both ends to the middle, as the kernel computes it (`phi/kernels/cpu/linspace_kernel.cc`).
    """
    import paddle

    known_count = _number(call["num"])
    if known_count is not None and known_count > 1:
        return None
    dtype, count = call["dtype"], _whole(call["num"])
    start, stop = (paddle.reshape(call[name], []).astype(dtype).astype("float64") for name in ("start", "stop"))
    one = paddle.full([], 1, "int64")
    steps = paddle.maximum(count - one, one)
    step = (stop - start) / steps.astype("float64")
    places = paddle.arange(0, count, 1, "int64")
    upwards = start + places.astype("float64") * step
    downwards = stop - (count - one - places).astype("float64") * step
    first_half = paddle.logical_or(places < paddle.floor_divide(count, one + one), places < one)
    return paddle.where(first_half, upwards, downwards).astype(dtype)


def _frame(entry: Entry, call: Arguments) -> Any:
    """Overlapping windows of a signal (`paddle.signal.stft`), by a gather; the windows come before or after places."""
    import paddle

    x, length, first = call["x"], int(call["frame_length"]), int(call["axis"]) == 0
    axis = 0 if first else len(x.shape) - 1
    others = [int(size) for size in (x.shape[1:] if first else x.shape[:-1])]
    hop, size = int(call["hop_length"]), int(x.shape[axis])
    if first and -1 in others:
        return None
    if size >= 0:
        count = (size - length) // hop + 1
        starts, inside = constant(np.arange(count) * hop), constant(np.arange(length))
    else:
        count, last_start = -1, paddle.shape(x)[axis].astype("int64") - length
        starts = paddle.arange(0, paddle.floor_divide(last_start, paddle.full([], hop, "int64")) + 1, 1, "int64") * hop
        inside = paddle.arange(0, length, 1, "int64")
    if first:
        picked = paddle.gather(x, paddle.flatten(starts.unsqueeze(1) + inside), axis=axis)
        return paddle.reshape(picked, [count, length, *others])
    picked = paddle.gather(x, paddle.flatten(inside.unsqueeze(1) + starts), axis=axis)
    return paddle.reshape(picked, [*[0] * len(others), length, count])


def _roll(entry: Entry, call: Arguments) -> Any:
    """By a gather, where it is computed how far."""
    import paddle

    x, shifts, axis = call["x"], call["shifts"], known(call["axis"], "roll", "axis")
    axes = [axis] if isinstance(axis, int) else list(axis or ())
    if not isinstance(shifts, paddle.pir.Value) or not axes:
        return None if axis is call["axis"] else entry(x, shifts, axes)
    far = paddle.expand(paddle.reshape(shifts, [-1]).astype("int64"), [len(axes)])
    for at, one in enumerate(axes):
        size = paddle.shape(x)[one].astype("int64")
        places = paddle.mod(paddle.arange(0, size, 1, "int64") - far[at], size)
        x = paddle.index_select(x, places, one)
    return x


def _eye(entry: Entry, call: Arguments) -> Any:
    """Where row and column have one number. paddle2onnx takes its process down at a computed one."""
    import paddle

    sizes = [call["num_rows"], call["num_columns"]]
    if all(_number(size) is not None for size in sizes):
        return None
    rows, columns = (paddle.arange(0, _whole(size), 1, "int64") for size in sizes)
    return paddle.equal(paddle.unsqueeze(rows, 1), columns).astype(call["dtype"])


def _sequence_mask(entry: Entry, call: Arguments) -> Any:
    """Places compared with lengths; without a longest, up to the largest of them."""
    import paddle

    lengths, longest = call["x"], _number(call["maxlen"])
    if longest is None:
        longest = call["maxlen"]
    elif longest < 0:
        longest = paddle.max(lengths)
    return composed.sequence_mask(lengths, longest, call["dtype"])


def _set_truth(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx ends the process where a slice of a bool tensor is set: set in int32, and cast back."""
    import paddle

    x, values = call["x"], call["values"]
    if x.dtype != paddle.bool:
        return None
    values = values.astype("int32") if isinstance(values, paddle.pir.Value) else [int(value) for value in values]
    rest = [value for name, value in call.items() if name not in ("x", "values", "out")]
    wide = x.astype("int32")
    result = (entry(wide, *rest, values) if "shape" in call else entry(wide, values, *rest)).astype("bool")
    remember(x, result)
    return result


def _number(value: Any) -> int | None:
    """A whole number that is known while tracing."""
    try:
        return int(np.reshape(known(value, "", ""), -1)[0])
    except CannotLower:
        return None


def _whole(value: Any) -> Any:
    """A 0-D int64 of the program."""
    import paddle

    if isinstance(value, paddle.pir.Value):
        return paddle.reshape(value, []).astype("int64")
    return paddle.full([], int(value), "int64")


_SLICE = "starts, ends, steps, axes, decrease_axes, none_axes"
COMPUTED: Mapping[str, Rewrite] = {
    "arange": Rewrite(_arange, "start, end, step, dtype, place=None"),
    "linspace": Rewrite(_linspace, "start, stop, num, dtype, place=None"),
    "frame": Rewrite(_frame, "x, frame_length, hop_length, axis"),
    "roll": Rewrite(_roll),
    "eye": Rewrite(_eye, "num_rows, num_columns, dtype, place=None"),
    "sequence_mask": Rewrite(_sequence_mask, "x, maxlen, dtype"),
    "set_value_": Rewrite(_set_truth, f"x, {_SLICE}, shape, values"),
    "set_value_with_tensor_": Rewrite(_set_truth, f"x, values, {_SLICE}"),
}
