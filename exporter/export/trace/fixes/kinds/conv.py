"""Convolutions with a number, such as `groups`, that the program computes."""

from __future__ import annotations

import inspect

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.paddle.refusal import cannot_lower
from exporter.paddle.values import meets_program

_NUMBERS = ("groups", "stride", "padding", "dilation")


def _groups(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    rows = x.shape[0]
    kernels = self.kernel.expand([rows, 1, 3, 3])
    return F.conv2d(x.reshape([1, rows, 8, 8]), kernels, padding=1, groups=rows)


def _padding(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.conv2d(x.unsqueeze(1), self.kernel, padding=x.shape[0])


def _kernel() -> Value:
    import paddle

    return paddle.rand([1, 1, 3, 3])


class Conv(Fix):
    """Stock compares such a number in Python ("bool(Tensor) is not supported"), or takes it for 0."""

    apis = tuple(f"paddle.nn.functional.conv{dims}d{kind}" for kind in ("", "_transpose") for dims in (1, 2, 3))
    seen = ("3.0.0", "3.3.1")
    examples = tuple(
        Example(forward, (("n", 8, 8),), {"kernel": _kernel}, refused=f"`{name}` has to be known while tracing")
        for forward, name in ((_groups, "groups"), (_padding, "padding"))
    )

    def instead(self, stock: Value, *args: Value, **kwargs: Value) -> Value:
        given = inspect.signature(stock).bind(*args, **kwargs).arguments
        for name in _NUMBERS:
            if meets_program([given.get(name)]):
                raise cannot_lower(
                    f"paddle.nn.functional.{stock.__name__}",
                    f"`{name}` has to be known while tracing, and is computed from a dim that varies or a tensor",
                    f"pass `{name}` as a number, or give those dims one size (min and max alike)",
                )
        return stock(*args, **kwargs)


plugin: Fix = Conv()
