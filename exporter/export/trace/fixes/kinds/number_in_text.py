"""`paddle.full([n, m], "-inf")`: the number as a text, as masks of older code give it."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches
from exporter.paddle.private import found


def _masked(self: Layer, x: Tensor) -> Tensor:
    import paddle

    below = paddle.full([x.shape[0], 4], "-inf", dtype="float32")
    return paddle.maximum(x, below) + paddle.full([x.shape[0], 1], "2")


def _like(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return x + paddle.full_like(x, "0.5") + paddle.full([4], "3.7", "int64").astype(x.dtype)


class NumberInText(Fix):
    """Eager mode reads the text as a number, and a program's `full` takes numbers alone (3.3.1)."""

    apis = ("paddle.full", "paddle.full_like")
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_masked, (("n", 4),), formats=("pir",)), Example(_like, (("n", 4),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        for function in filter(None, map(found, self.apis)):
            patches.body(function, self.instead)

    def instead(self, stock: Value, *args: Value, **kwargs: Value) -> Value:
        text = args[1] if len(args) > 1 else kwargs.get("fill_value")
        if not isinstance(text, str):
            return stock(*args, **kwargs)
        if len(args) > 1:
            return stock(args[0], float(text), *args[2:], **kwargs)
        return stock(*args, **{**kwargs, "fill_value": float(text)})


plugin: Fix = NumberInText()
