"""Sizes that the program computes (`x.shape[0]` of a dynamic dim), where Paddle expects Python's numbers."""

from __future__ import annotations

import math
from typing import Any

from exporter.paddle.patches import Patches
from exporter.paddle.values import joined
from exporter.trace.mends.program import Refuse, in_program, known, mend

#: Behind the last element of any axis.
_END = 2**31 - 1


def install(patches: Patches, refuse: Refuse) -> None:
    """Each fails in stock while it is traced, or makes a program that does not run (3.0 to 3.3)."""
    import paddle

    mend(patches, paddle.crop, _crop, refuse)
    mend(patches, paddle.repeat_interleave, _repeat_interleave, refuse)
    mend(patches, paddle.isin, _isin, refuse)
    mend(patches, paddle.nn.functional.pad, _pad, refuse)
    mend(patches, paddle.roll, _roll, refuse)
    mend(patches, paddle.unflatten, _unflatten, refuse)
    mend(patches, paddle.inner, _inner, refuse)


def _crop(stock: Any, x: Any, shape: Any = None, offsets: Any = None, name: str | None = None) -> Any:
    """Stock puts int32 of one shape beside int64 of another, which no program may; a slice says the same."""
    import paddle

    if not (_computed(shape) or _computed(offsets)):
        return stock(x, shape, offsets)
    rank = len(x.shape)
    starts = list(offsets) if offsets is not None else [0] * rank
    sizes = list(shape) if shape is not None else [-1] * rank
    ends = [
        _END if isinstance(size, int) and size == -1 else start + size
        for start, size in zip(starts, sizes, strict=True)
    ]
    return paddle.slice(x, list(range(rank)), starts, ends)


def _repeat_interleave(stock: Any, x: Any, repeats: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    """One number for all is written as one for each, of which there are too few when it runs.

    A negative axis takes the process of a legacy program down, and paddle2onnx refuses it.
    """
    import paddle

    axis = axis if axis is None else axis % len(x.shape)
    if not in_program(repeats) or list(repeats.shape) not in ([], [1]):
        return stock(x, repeats, axis, *args, **kwargs)
    if axis is None:
        x, axis = paddle.flatten(x), 0
    ones = [paddle.ones([count], "int32") for count in (axis + 1, len(x.shape) - axis - 1) if count]
    times = paddle.concat([ones[0], paddle.reshape(repeats, [1]).astype("int32"), *ones[1:]])
    repeated = paddle.tile(paddle.unsqueeze(x, axis + 1), times)
    return paddle.flatten(repeated, axis, axis + 1)


def _roll(stock: Any, x: Any, shifts: Any, *args: Any, **kwargs: Any) -> Any:
    """A legacy program takes one tensor of numbers, and no list with tensors in it."""
    return stock(x, joined(shifts, "int64") if _computed(shifts) else shifts, *args, **kwargs)


def _isin(
    stock: Any, x: Any, test_x: Any, assume_unique: bool = False, invert: bool = False, name: str | None = None
) -> Any:
    """Stock takes the logarithm of the number of elements, which is negative, to choose its way."""
    import paddle

    found = paddle.any(paddle.equal(paddle.unsqueeze(x, -1), paddle.reshape(test_x, [-1])), axis=-1)
    return paddle.logical_not(found) if invert else found


def _pad(  # noqa: PLR0913 - the signature of paddle.nn.functional.pad
    stock: Any,
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: Any = 0.0,
    data_format: Any = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Any:
    """A list for all axes is an attribute; with a computed size in it, blocks of `value` are set beside x instead."""
    rank = len(x.shape)
    if mode != "constant" or not _computed(pad) or len(pad) == 2 * (rank - 2):
        return stock(x, pad, mode, value, data_format, pad_from_left_axis)
    pairs = list(zip(pad[::2], pad[1::2], strict=True))
    order = range(rank) if len(pairs) == rank and pad_from_left_axis else range(rank - 1, -1, -1)
    for axis, (before, after) in zip(order, pairs, strict=False):
        x = _beside(x, axis, before, after, value)
    return x


def _beside(x: Any, axis: int, before: Any, after: Any, value: Any) -> Any:
    """`x` between two blocks of `value`, as many rows of which as are asked for."""
    import paddle

    parts = [x]
    for place, count in ((0, before), (2, after)):
        if isinstance(count, int) and count == 0:
            continue
        sizes = _sizes(x)
        sizes[axis] = count
        parts.insert(place, paddle.full(sizes, value, x.dtype))
    return paddle.concat(parts, axis) if len(parts) > 1 else x


def _unflatten(stock: Any, x: Any, axis: Any, shape: Any, name: str | None = None) -> Any:
    """A size that is dynamic and one that is left to be found are both -1 in stock."""
    import paddle

    if not isinstance(shape, (list, tuple)) or not isinstance(axis, int):
        return stock(x, axis, shape)
    axis, wanted = axis % len(x.shape), list(shape)
    if x.shape[axis] >= 0 and known([size for size in wanted if size != -1]):
        whole = math.prod(size for size in wanted if size != -1)
        wanted = [x.shape[axis] // whole if size == -1 else size for size in wanted]
    return paddle.reshape(x, [*_sizes(x)[:axis], *wanted, *_sizes(x)[axis + 1 :]])


def _inner(stock: Any, x: Any, y: Any, name: str | None = None) -> Any:
    """As above, of both tensors."""
    import paddle

    if not x.shape or not y.shape:
        return stock(x, y)
    flat = [paddle.reshape(one, [-1, one.shape[-1]]) for one in (x, y)]
    return paddle.reshape(paddle.matmul(*flat, transpose_y=True), [*_sizes(x)[:-1], *_sizes(y)[:-1]])


def _sizes(x: Any) -> list[Any]:
    """Numbers where they are known, else what the program finds."""
    import paddle

    return [size if size >= 0 else paddle.shape(x)[at] for at, size in enumerate(x.shape)]


def _computed(sizes: Any) -> bool:
    return isinstance(sizes, (list, tuple)) and any(map(in_program, sizes))
