"""`detach()` and `clone()` of a buffer in a legacy program."""

from __future__ import annotations

from collections.abc import Callable

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches


def _detach(self: Layer, x: Tensor) -> Tensor:
    return x + self.buffer.detach()


def _clone(self: Layer, x: Tensor) -> Tensor:
    return x + self.buffer.clone()


def _buffer() -> Value:
    import paddle

    return paddle.ones([4])


class Detach(Fix):
    """Stock calls the copy of a buffer persistable too, and then saves a tensor that has no value."""

    apis = ("paddle.Tensor.detach", "paddle.Tensor.clone")
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = tuple(Example(forward, (("n", 4),), {"buffer": _buffer}) for forward in (_detach, _clone))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import Variable

        for name in ("detach", "clone"):
            patches.attribute(Variable, name, method(_computed_by(vars(Variable)[name])))


def _computed_by(stock: Callable[[Value], Value]) -> Callable[[Value], Value]:
    def copied(self: Value) -> Value:
        output = stock(self)
        output.persistable = False
        return output

    return copied


plugin: Fix = Detach()
