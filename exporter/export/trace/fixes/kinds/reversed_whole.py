"""`7 // x`, `7 % x` and `7 ** x` of whole numbers in a legacy program."""

from __future__ import annotations

from collections.abc import Callable

from exporter.export.trace.fixes.base import Example, Fix, Refuse, Value
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches


def _forward(self: Value, x: Value) -> Value:
    whole = x.astype("int32").abs() + 1
    return 7 // whole, 7 % whole, 2**whole


class ReversedWhole(Fix):
    """Stock makes a float32 of the number on the left, which no operator of whole numbers takes; eager keeps them."""

    apis = tuple(f"paddle.Tensor.{name}" for name in ("__rfloordiv__", "__rmod__", "__rpow__"))
    formats = ("pdmodel",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        from exporter.paddle.private import Variable

        functions = (paddle.floor_divide, paddle.remainder, paddle.pow)
        for api, function in zip(self.apis, functions, strict=True):
            name = api.rpartition(".")[2]
            stock = vars(Variable).get(name)
            if stock is not None:
                patches.attribute(Variable, name, method(_reversed(stock, function)))


def _reversed(stock: Callable[..., Value], function: Callable[..., Value]) -> Callable[..., Value]:
    def of_numbers(self: Value, other: Value) -> Value:
        import paddle

        if type(other) is not int or not self.dtype.name.startswith(("INT", "UINT")):
            return stock(self, other)
        return function(paddle.full([], other, self.dtype), self)

    return of_numbers


plugin: Fix = ReversedWhole()
