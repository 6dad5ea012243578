"""F.max_unpool1d, 2d and 3d with dynamic sizes."""

from __future__ import annotations

import functools
import math
from typing import Any

from exporter.paddle.patches import Patches
from exporter.trace.fixes._program import Refuse, known, listed, mend


def install(patches: Patches, refuse: Refuse) -> None:
    """Stock reckons with -1 where a size is dynamic, and then writes outside its output, or refuses (3.0 to 3.3)."""
    import paddle

    functional = paddle.nn.functional
    for rank, function in enumerate((functional.max_unpool1d, functional.max_unpool2d, functional.max_unpool3d), 1):
        mend(patches, function, functools.partial(_unpool, rank), refuse)


def _unpool(  # noqa: PLR0913 - the signature of paddle.nn.functional.max_unpool2d
    rank: int,
    stock: Any,
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """Stock where height and width are known, for which the batch among the sizes must go; else a scatter."""
    wanted = None if output_size is None else list(output_size)[-rank:]
    if known(x.shape[2:]) and known(wanted or ()):
        more = {"data_format": data_format} if data_format else {}
        sizes = None if wanted is None else [1, 1, *wanted]  # stock drops the first two
        return stock(x, indices, kernel_size, stride, padding, output_size=sizes, **more)
    return _scattered(x, indices, wanted or _sizes(x, rank, kernel_size, stride, padding))


def _sizes(x: Any, rank: int, kernel_size: Any, stride: Any, padding: Any) -> list[Any]:
    import paddle

    kernels, paddings = listed(kernel_size, rank), listed(padding, rank)
    strides = kernels if stride is None else listed(stride, rank)
    shape = paddle.shape(x)
    numbers = zip(range(2, rank + 2), kernels, strides, paddings, strict=True)
    return [(shape[at] - 1) * step + kernel - 2 * margin for at, kernel, step, margin in numbers]


def _scattered(x: Any, indices: Any, sizes: list[Any]) -> Any:
    """Each maximum at the place where it was found, and zeros."""
    import paddle

    rows, channels = paddle.shape(x)[0], x.shape[1]
    zeros = paddle.zeros([rows, channels, math.prod(sizes[1:], start=sizes[0])], x.dtype)
    flat = [paddle.reshape(one, [0, 0, -1]) for one in (x, indices.astype("int64"))]
    filled = paddle.put_along_axis(zeros, flat[1], flat[0], 2, broadcast=False)
    return paddle.reshape(filled, [rows, channels, *sizes])
