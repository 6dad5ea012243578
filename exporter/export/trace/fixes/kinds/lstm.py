"""paddle.nn.LSTM, GRU and SimpleRNN in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _forward(self: Layer, x: Tensor) -> Tensor:
    return self.gru(x)[0]


def _gru() -> Value:
    import paddle

    return paddle.nn.GRU(4, 3)


class Lstm(Fix):
    """Variable(**every attribute of the tensor) is how dy2static copies a tensor into a program.

    The dropout state of these layers has no memory, so that its `device` raises "Unknown place type:
    Place(undefined:0)" (`base/dygraph/tensor_patch_methods.py`). Here it is None.
    """

    apis = ("paddle.nn.LSTM", "paddle.nn.GRU", "paddle.nn.SimpleRNN")
    formats = ("pdmodel",)
    seen = ("3.3.0", "3.3.1")
    examples = (Example(_forward, (("n", 3, 4),), {"gru": _gru}),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import core

        stock = vars(core.eager.Tensor).get("device")
        if stock is None:
            return

        def device(self: Value) -> Value:
            return stock.__get__(self) if self._is_initialized() else None

        patches.attribute(core.eager.Tensor, "device", property(device))


plugin: Fix = Lstm()
