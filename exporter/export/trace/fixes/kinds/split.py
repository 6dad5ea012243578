"""`split` and `chunk` in a legacy program: their parts may be written in place."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Value
from exporter.paddle.values import is_variable


def _forward(self: Value, x: Value) -> Value:
    import paddle

    first, second = paddle.split(x * 2, 2, axis=1)
    first.add_(second)
    return paddle.concat([first, second], axis=1)


def _chunks(self: Value, x: Value) -> Value:
    y = x * 2
    first, second = y.chunk(2, axis=1)
    first.scale_(3.0)
    second.tanh_()
    return y.sum() + first * second


class Split(Fix):
    """Stock takes the parts for views of the whole, and refuses an operator in place on one.

    Eager's parts are copies: what is written into one shows nowhere else, as measured of `split`, `chunk` and
    `tensor_split` on 3.3.1, and not of `unbind` and slices (base/framework.py, `record_is_view_var`). PIR has no such
    refusal.
    """

    apis = ("paddle.split",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)), Example(_chunks, (("n", 4),)))

    def instead(self, stock: Value, x: Value, *args: Value, **kwargs: Value) -> Value:
        was = getattr(x, "is_view_var", False)
        parts = stock(x, *args, **kwargs)
        for value, view in [(x, was), *((part, False) for part in parts)]:
            if is_variable(value):
                value.is_view_var = view
        return parts


plugin: Fix = Split()
