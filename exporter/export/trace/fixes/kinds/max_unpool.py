"""F.max_unpool1d, 2d and 3d with sizes that vary."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.sizes import known, listed
from exporter.paddle.patches import Patches
from exporter.paddle.private import found


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    y, places = F.max_pool1d(x, 2, 2, return_mask=True)
    return F.max_unpool1d(y, places, 2, 2)


class MaxUnpool(Fix):
    """Stock computes with -1 where a size is dynamic, and then writes outside its output, or refuses."""

    apis = tuple(f"paddle.nn.functional.max_unpool{rank}d" for rank in (1, 2, 3))
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 3, "w"),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        for rank, function in enumerate(map(found, self.apis), 1):
            if function is not None:
                patches.body(function, self.within_programs(partial(_unpool, rank), refuse))


def _unpool(  # noqa: PLR0913 - the signature of paddle.nn.functional.max_unpool2d
    rank: int,
    stock: Callable[..., Value],
    x: Value,
    indices: Value,
    kernel_size: Value,
    stride: Value = None,
    padding: Value = 0,
    data_format: str = "",
    output_size: Value = None,
    name: str | None = None,
) -> Value:
    """Stock where height and width are known; else a scatter."""
    wanted = None if output_size is None else list(output_size)[-rank:]
    if known(x.shape[2:]) and known(wanted or ()):
        more = {"data_format": data_format} if data_format else {}
        return stock(x, indices, kernel_size, stride, padding, output_size=output_size, **more)
    return _scattered(x, indices, wanted or _sizes(x, rank, kernel_size, stride, padding))


def _sizes(x: Value, rank: int, kernel_size: Value, stride: Value, padding: Value) -> list[Value]:
    import paddle

    kernels, paddings = listed(kernel_size, rank), listed(padding, rank)
    strides = kernels if stride is None else listed(stride, rank)
    shape = paddle.shape(x)
    numbers = zip(range(2, rank + 2), kernels, strides, paddings, strict=True)
    return [(shape[at] - 1) * step + kernel - 2 * margin for at, kernel, step, margin in numbers]


def _scattered(x: Value, indices: Value, sizes: list[Value]) -> Value:
    """Each maximum at the place where it was found, and zeros."""
    import paddle

    rows, channels = paddle.shape(x)[0], x.shape[1]
    zeros = paddle.zeros([rows, channels, math.prod(sizes[1:], start=sizes[0])], x.dtype)
    flat = [paddle.reshape(tensor, [0, 0, -1]) for tensor in (x, indices.astype("int64"))]
    filled = paddle.put_along_axis(zeros, flat[1], flat[0], 2, broadcast=False)
    return paddle.reshape(filled, [rows, channels, *sizes])


plugin: Fix = MaxUnpool()
