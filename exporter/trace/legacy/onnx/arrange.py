"""Moving, choosing and repeating elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exporter.trace.legacy import composed
from exporter.trace.legacy.onnx.common import as_float, constant, known, number, sizes
from exporter.trace.legacy.onnx.dispatch import Arguments, Entry, Rewrite, dtype_name
from exporter.trace.legacy.refusal import cannot_lower

#: What paddle2onnx writes as a constant; others are written as the nearest of them, and cast.
_CONSTANTS = ("float32", "float64", "int32", "int64")


def _diagonal(entry: Entry, call: Arguments) -> Any:
    """The two axes last and flat, and a gather of positions that are known while tracing."""
    import paddle

    x, offset, rank = call["x"], int(call["offset"]), len(call["x"].shape)
    if x.dtype == paddle.bool:  # paddle2onnx moves numbers only
        x = x.astype("int32")
    first, second = int(call["axis1"]) % rank, int(call["axis2"]) % rank
    rest = [axis for axis in range(rank) if axis not in (first, second)]
    flat = paddle.transpose(x, [*rest, first, second])
    rows, columns = x.shape[first], x.shape[second]
    if columns < 0:
        (columns,) = sizes(call["x"], "diagonal", second)
    if rows < 0:  # one row's place in the other axis, for as many rows as there are
        return _restored(_diagonal_of_dynamic_rows(flat, columns, offset), call["x"])
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    start = offset if offset >= 0 else -offset * columns
    positions = constant(np.arange(length, dtype="int64") * (columns + 1) + start)
    flat = paddle.flatten(flat, len(rest), len(rest) + 1)
    return _restored(paddle.index_select(flat, positions, axis=len(rest)), call["x"])


def _diagonal_of_dynamic_rows(x: Any, columns: int, offset: int) -> Any:
    """The rows' number in each column picks at most `columns` elements: row i has its element in column i + offset."""
    import paddle

    rank = len(x.shape)
    rows = paddle.shape(x)[rank - 2].astype("int64")
    begin, end = max(0, -offset), columns - offset
    last = paddle.minimum(rows, paddle.full([], end, "int64"))
    at = paddle.arange(begin, paddle.maximum(last, paddle.full([], begin, "int64")), 1, "int64")
    flat = paddle.flatten(x, rank - 2, rank - 1)
    return paddle.index_select(flat, at * (columns + 1) + offset, axis=rank - 2)


def _restored(picked: Any, like: Any) -> Any:
    import paddle

    return picked.astype("bool") if like.dtype == paddle.bool else picked


def _expand_as(entry: Entry, call: Arguments) -> Any:
    """Broadcasting does it; the Expand that paddle2onnx writes has a shape of its own idea where dims are dynamic."""
    import paddle

    x, y = call["x"], call["y"]
    if not y.shape:
        return paddle.where(y == y, x, x)  # x, by an operator that reads y
    if all(size >= 0 for size in y.shape) and dtype_name(x) != "bool":
        return None
    return _spread(x, paddle.zeros_like(y))


def _spread(x: Any, zeros: Any) -> Any:
    """`x` broadcast to the shape of `zeros`."""
    import paddle

    if x.dtype == paddle.bool:
        return paddle.add(x.astype("int32"), zeros.astype("int32")).astype("bool")
    return paddle.add(x, zeros.astype(x.dtype))


def _broadcast_tensors(entry: Entry, call: Arguments) -> Any:
    import paddle

    tensors = list(call["input"])
    zeros = paddle.zeros_like(as_float(tensors[0]))
    for one in tensors[1:]:
        zeros = paddle.add(zeros, paddle.zeros_like(as_float(one)).astype(zeros.dtype))
    return [
        one if list(one.shape) == list(zeros.shape) and -1 not in one.shape else _spread(one, zeros) for one in tensors
    ]


def _flip(entry: Entry, call: Arguments) -> Any:
    import paddle

    given = [call["axis"]] if isinstance(call["axis"], int) else call["axis"]
    axes = [int(axis) % len(call["x"].shape) for axis in given]  # stock's slice takes no negative one
    count = len(axes)
    return paddle.strided_slice(call["x"], axes, [-1] * count, [-(2**31)] * count, [-1] * count)


def _repeat(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, axis, times = call["x"], int(call["axis"] or 0) % max(len(call["x"].shape), 1), int(call["repeats"])
    if x.shape[axis] >= 0:
        return paddle.index_select(x, constant(np.repeat(np.arange(x.shape[axis]), times)), axis)
    places = paddle.arange(0, paddle.shape(x)[axis].astype("int64") * times, 1, "int64")
    return paddle.index_select(x, paddle.floor_divide(places, paddle.full([], times, "int64")), axis)


def _repeat_each(entry: Entry, call: Arguments) -> Any:
    """A number for each element: an index for each place, which is how many runs have ended before it."""
    import paddle

    ends = paddle.cumsum(call["repeats"].astype("int64"))
    places = paddle.arange(0, paddle.sum(call["repeats"].astype("int64")), 1, "int64")
    ended = paddle.unsqueeze(places, 1) >= paddle.unsqueeze(ends, 0)
    return paddle.index_select(call["x"], paddle.sum(ended.astype("int64"), 1), call["axis"])


def _pixel_unshuffle(entry: Entry, call: Arguments) -> Any:
    """Every `by`-th row and column from each of the first, side by side; then all of one channel together."""
    import paddle

    if call["data_format"] != "NCHW":
        raise cannot_lower("paddle.nn.PixelUnshuffle", "ONNX has channels first", "use data_format='NCHW'")
    x, by = call["x"], int(call["downscale_factor"])
    (channels,) = sizes(x, "nn.PixelUnshuffle", 1)
    parts = [x[:, :, row::by, column::by] for row in range(by) for column in range(by)]
    order = np.arange(by * by * channels).reshape(by * by, channels).T.reshape(-1)
    return paddle.index_select(paddle.concat(parts, 1), constant(order), 1)


def _channel_shuffle(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, groups, axis = call["x"], int(call["groups"]), 1 if call["data_format"] == "NCHW" else 3
    (channels,) = sizes(x, "nn.ChannelShuffle", axis)
    order = np.arange(channels).reshape(groups, -1).T.reshape(-1)
    return paddle.index_select(x, constant(order), axis)


def _maxout(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, groups = call["x"], int(call["groups"])
    axis = int(call["axis"]) % len(x.shape)
    (channels,) = sizes(x, "nn.Maxout", axis)
    parts = [
        paddle.index_select(x, constant(np.arange(channels // groups) * groups + at), axis) for at in range(groups)
    ]
    largest = parts[0]
    for one in parts[1:]:
        largest = paddle.maximum(largest, one)
    return largest


def _fold(entry: Entry, call: Arguments) -> Any:
    """A transposed convolution with kernels that hold one 1 each: columns are added up where they overlap."""
    import paddle
    from paddle.nn import functional

    x = call["x"]
    height, width = (int(one) for one in call["output_sizes"])
    kernel, strides = [int(one) for one in call["kernel_sizes"]], [int(one) for one in call["strides"]]
    dilations, pads = [int(one) for one in call["dilations"]], [int(one) for one in call["paddings"]]
    area = kernel[0] * kernel[1]
    channels = int(x.shape[1]) // area
    spans = [dilations[at] * (kernel[at] - 1) + 1 for at in (0, 1)]
    padded = [height + pads[0] + pads[2], width + pads[1] + pads[3]]
    grid = [(padded[at] - spans[at]) // strides[at] + 1 for at in (0, 1)]
    left = [padded[at] - (grid[at] - 1) * strides[at] - spans[at] for at in (0, 1)]
    ones = constant(np.eye(area, dtype=dtype_name(x)).reshape(area, 1, *kernel))
    columns = paddle.reshape(x, [-1, area, *grid])
    whole = functional.conv2d_transpose(columns, ones, stride=strides, dilation=dilations)
    whole = functional.pad(whole, [0, left[1], 0, left[0]])
    inner = whole[:, :, pads[0] : pads[0] + height, pads[1] : pads[1] + width]
    return paddle.reshape(inner, [-1, channels, height, width])


def _unpool(entry: Entry, call: Arguments) -> Any:
    """A scatter into planes of zeros."""
    import paddle

    x, rank = call["x"], len(call["x"].shape)
    wanted = [int(size) for size in known(call["output_size"], "max_unpool", "output_size")][-(rank - 2) :]
    (channels,) = sizes(x, "max_unpool", 1)
    area = int(np.prod(wanted))
    values = paddle.reshape(x, [0, channels, -1])
    places = paddle.reshape(call["indices"], [0, channels, -1]).astype("int64")
    zeros = paddle.add(paddle.zeros([1, channels, area], x.dtype), paddle.zeros_like(values[:, :, :1]))
    return paddle.reshape(paddle.put_along_axis(zeros, places, values, 2), [-1, channels, *wanted])


def _affine_grid(entry: Entry, call: Arguments) -> Any:
    """Points between -1 and 1, times the transposed matrices."""
    import paddle

    theta = call["input"]
    wanted = call["output_shape"]
    if isinstance(wanted, (list, tuple)):  # the matrices say how many grids there are
        wanted = [1, 1, *wanted[2:]]
    shape = [int(size) for size in known(wanted, "nn.functional.affine_grid", "out_shape")[2:]]
    ticks = []
    for size in shape:
        edge = 1.0 if call["align_corners"] else 1.0 - 1.0 / size
        ticks.append(np.linspace(-edge, edge, size) if size > 1 else np.zeros(1))
    mesh = np.meshgrid(*ticks, indexing="ij")[::-1]
    points = np.stack([*mesh, np.ones(shape)], axis=-1).reshape(-1, len(shape) + 1).astype(dtype_name(theta))
    grid = paddle.matmul(constant(points), paddle.transpose(theta, [0, 2, 1]))
    return paddle.reshape(grid, [-1, *shape, len(shape)])


def _diag(entry: Entry, call: Arguments) -> Any:
    import paddle

    x, offset = call["x"], int(call["offset"])
    if len(x.shape) == 2:
        return paddle.diagonal(x, offset)
    return _diagonal_matrix(x, offset, float(call["padding_value"]))


def _diagonal_matrix(x: Any, offset: int, padding: float = 0.0) -> Any:
    """The last axis along the diagonal of a matrix."""
    import paddle

    (length,) = sizes(x, "diag", -1)
    size = length + abs(offset)
    place = np.arange(length)
    rows, columns = (place, place + offset) if offset >= 0 else (place - offset, place)
    which = np.zeros([size, size], "int64")
    which[rows, columns] = place
    there = np.zeros([size, size], bool)
    there[rows, columns] = True
    spread = paddle.index_select(x, constant(which.reshape(-1)), len(x.shape) - 1)
    shaped = paddle.reshape(spread, [-1, *x.shape[1:-1], size, size] if len(x.shape) > 1 else [size, size])
    return paddle.where(constant(there.astype("int32")).astype("bool"), shaped, number(padding, x))


def _diag_embed(entry: Entry, call: Arguments) -> Any:
    import paddle

    x = call["input"]
    rank = len(x.shape) + 1
    first, second = int(call["dim1"]) % rank, int(call["dim2"]) % rank
    if first > second:
        first, second, call["offset"] = second, first, -int(call["offset"])
    made = _diagonal_matrix(x, int(call["offset"]))
    order = list(range(rank - 2))
    order.insert(first, rank - 2)
    order.insert(second, rank - 1)
    return paddle.transpose(made, order)


def _assign_value(entry: Entry, call: Arguments) -> Any:
    """Dtypes that are no constants are cast; what is not finite is put in its places."""
    import paddle

    name = str(call["dtype"]).rpartition(".")[2].lower()
    if "complex" in name:
        return None
    wider = name if name in _CONSTANTS else "float32" if "float" in name else "int32"
    values = np.asarray(call["values"], wider).reshape(call["shape"])
    if np.isfinite(values).all():
        return None if wider == name else constant(values).astype(name)
    made = constant(np.where(np.isfinite(values), values, 0).astype(wider))
    for number_, there in ((np.inf, values == np.inf), (-np.inf, values == -np.inf), (np.nan, np.isnan(values))):
        if there.any():
            made = paddle.where(constant(there), paddle.full([], number_, wider), made)
    return made.astype(name)


def _index_put(entry: Entry, call: Arguments) -> Any:
    """Booleans are moved as numbers; a mask with a value for each place that it holds is written as those places."""
    import paddle

    x, indices, value = call["x"], list(call["indices"]), call["value"]
    masked = any(one.dtype == paddle.bool for one in indices) and list(value.shape) not in ([], [1])
    if x.dtype != paddle.bool and not masked:
        return None
    if masked:
        indices = [place for one in indices for place in (_places(one) if one.dtype == paddle.bool else [one])]
    if x.dtype != paddle.bool:
        return entry(x, indices, value, call["accumulate"])
    return entry(x.astype("int32"), indices, value.astype("int32"), call["accumulate"]).astype("bool")


def _places(mask: Any) -> list[Any]:
    """The indices of what a mask holds, axis by axis."""
    import paddle

    found = paddle.nonzero(mask)
    return [found[:, axis] for axis in range(len(mask.shape))]


def _one_image(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx takes the batch for 1 without a look."""
    if call["bboxes"].shape[0] != 1:
        raise cannot_lower(
            "multiclass_nms3 (non-maximum suppression)",
            "paddle2onnx suppresses in one image, and the batch is larger or varies",
            "fix the batch at 1 for onnx, or put out boxes and scores and suppress afterwards",
        )


def _unique(entry: Entry, call: Arguments) -> Any:
    """paddle2onnx declares the result as float32 whatever it is."""
    if dtype_name(call["x"]) != "float32":
        raise cannot_lower("paddle.unique", "paddle2onnx knows float32 only", "cast the tensor to float32")


def _triangle(entry: Entry, call: Arguments) -> Any:
    diagonal = known(call["diagonal"], entry.__name__, "diagonal")
    return None if diagonal is call["diagonal"] else entry(call["x"], int(np.reshape(diagonal, -1)[0]))


def _median(entry: Entry, call: Arguments) -> Any:
    return composed.median(call["x"], list(call["axis"]), call["keepdim"], call["mode"])


ARRANGE: Mapping[str, Rewrite] = {
    "diagonal": Rewrite(_diagonal),
    "expand_as": Rewrite(_expand_as),
    "broadcast_tensors": Rewrite(_broadcast_tensors, "input"),
    "flip": Rewrite(_flip, "x, axis"),
    "repeat_interleave": Rewrite(_repeat, "x, repeats, axis=0, output_size=-1"),
    "repeat_interleave_with_tensor_index": Rewrite(_repeat_each, "x, repeats, axis=0, output_size=-1"),
    "pixel_unshuffle": Rewrite(_pixel_unshuffle, "x, downscale_factor=1, data_format='NCHW'"),
    "channel_shuffle": Rewrite(_channel_shuffle, "x, groups, data_format='NCHW'"),
    "maxout": Rewrite(_maxout, "x, groups, axis=1"),
    "fold": Rewrite(_fold, "x, output_sizes, kernel_sizes, strides, paddings, dilations"),
    "unpool": Rewrite(_unpool, "x, indices, ksize, strides, padding, output_size, data_format"),
    "unpool3d": Rewrite(_unpool, "x, indices, ksize, strides, padding, output_size, data_format"),
    "affine_grid": Rewrite(_affine_grid, "input, output_shape, align_corners=True"),
    "diag": Rewrite(_diag, "x, offset=0, padding_value=0.0"),
    "diag_embed": Rewrite(_diag_embed, "input, offset=0, dim1=-2, dim2=-1"),
    "assign_value_": Rewrite(_assign_value, "output, shape, dtype, values, place=None"),
    "index_put": Rewrite(_index_put),
    "multiclass_nms3": Rewrite(_one_image, "bboxes, *rest"),
    "unique": Rewrite(_unique, "x, *rest"),
    **dict.fromkeys(("tril", "triu"), Rewrite(_triangle)),
    "median": Rewrite(_median, "x, axis, keepdim, mode"),
}
