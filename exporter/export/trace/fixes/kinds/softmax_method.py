"""Tensor.softmax in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches
from exporter.paddle.private import NAMES, found


def _forward(self: Layer, x: Tensor) -> Tensor:
    return x.softmax() + x.softmax(-1)


class SoftmaxMethod(Fix):
    """Since 3.3 it is PyTorch's, which has no legacy branch and gives None (`tensor/compat_softmax.py`)."""

    apis = ("paddle.Tensor.softmax",)
    formats = ("pdmodel",)
    seen = ("3.3.0", "3.3.1")
    examples = (Example(_forward, (("n", 3, 4),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        """Mend it where it is written: packages put `F.softmax` at `paddle.Tensor.softmax` (ppdiffusers does)."""
        if (function := found(NAMES["compat_softmax"].path)) is not None:
            patches.body(function, self.within_programs(self.instead, refuse))

    def instead(
        self, stock: Value, input: Value, dim: Value = None, dtype: Value = None, *, out: Value = None
    ) -> Value:
        """Choose without `dim` as PyTorch does: the first axis of one or three, the second of others."""
        import paddle

        if dim is None:
            dim = 0 if input.ndim in (0, 1, 3) else 1
        return paddle.nn.functional.softmax(input, dim, dtype)


plugin: Fix = SoftmaxMethod()
