"""Functions of `_C_ops` without any legacy operator, put together from ones that have it.

They are what Paddle's Python functions call; the arguments are those that its Python passes (Paddle 3.3.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from exporter.paddle.in_place import now_means

#: A variable of a legacy program, or a number; Paddle has no types.
Value: TypeAlias = Any


def median(x: Value, axis: list[int], keepdim: bool, mode: str, out: Value = None) -> tuple[Value, Value]:
    """paddle.median: the middle of the sorted elements ("min": the lower of two), NaN where any element is NaN."""
    import paddle

    rank = len(x.shape)
    if rank == 0:
        return paddle.assign(x), paddle.zeros([], "int64")
    along = axis[0] if axis else 0
    data = x if axis else paddle.flatten(x)
    length: Value = data.shape[along]
    if length < 0:
        length = paddle.shape(data)[along].reshape([1])
    ordered, order = paddle.sort(data, axis=along), paddle.argsort(data, axis=along)
    lower, upper = (length - 1) // 2, length // 2
    value = _at(ordered, lower, along)
    index = _at(order, lower, along)
    if mode == "avg":
        value = (value + _at(ordered, upper, along)) / 2.0
    if data.dtype.name in ("FP16", "FP32", "FP64", "BF16"):
        missing = paddle.isnan(data)
        some = paddle.any(missing, axis=along, keepdim=True)
        value = paddle.where(some, paddle.full_like(value, math.nan), value)
        index = paddle.where(some, paddle.argmax(missing.astype("int32"), axis=along, keepdim=True), index)
    if axis:
        return (value, index) if keepdim else (paddle.squeeze(value, along), paddle.squeeze(index, along))
    shape = [1] * rank if keepdim else []
    return paddle.reshape(value, shape), paddle.reshape(index, shape)


def nansum(x: Value, axis: Value = None, dtype: Value = None, keepdim: bool = False) -> Value:
    """paddle.nansum: on GPU builds Paddle calls C++ for it."""
    import paddle

    return paddle.sum(paddle.where(paddle.isnan(x), paddle.zeros_like(x), x), axis, dtype, keepdim)


def view_shape(x: Value, shape: Value) -> Value:
    """Tensor.view(shape): a legacy program has no memory to share, so a reshape says the same."""
    import paddle

    return paddle.reshape(x, list(shape))


def as_strided(x: Value, shape: Value, stride: Value, offset: int = 0) -> Value:
    """paddle.as_strided of a contiguous tensor: a gather with positions known while tracing. PIR export fails on it."""
    import paddle

    steps = [np.arange(size) * step for size, step in zip(shape, stride, strict=True)]
    positions = sum(np.ix_(*steps), start=np.array(offset // _itemsize(x)))
    flat = paddle.gather(paddle.flatten(x), paddle.to_tensor(np.asarray(positions).reshape(-1).astype("int64")))
    return paddle.reshape(flat, list(shape))


def svdvals(x: Value) -> Value:
    """paddle.linalg.svdvals: the singular values alone."""
    import paddle

    return paddle.linalg.svd(x)[1]


def fill_(x: Value, value: Value) -> Value:
    """Tensor.fill_ and Tensor.zero_."""
    import paddle

    filled = paddle.full_like(x, value)
    now_means(x, filled)
    return filled


def _at(x: Value, index: Value, axis: int) -> Value:
    """The elements at a place of an axis, which stays; the place is a number, or computed by the program."""
    import paddle

    if not isinstance(index, int):
        return paddle.index_select(x, index, axis)
    return paddle.slice(x, [axis], [index], [index + 1])


def _itemsize(x: Value) -> int:
    """as_strided counts its offset in bytes (phi/kernels/stride/as_strided_kernel.cc)."""
    from exporter.paddle.private import convert_dtype

    return int(np.dtype(convert_dtype(x.dtype)).itemsize)


COMPOSED: Mapping[str, Callable[..., Value]] = {
    function.__name__: function for function in (median, nansum, view_shape, as_strided, svdvals, fill_)
}
