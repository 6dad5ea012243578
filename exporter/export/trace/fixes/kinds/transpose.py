"""paddle.transpose by fewer axes than there are."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    return x.transpose([1, 0])


class Transpose(Fix):
    """Eagerly the axes that are not named stay behind; a legacy trace refuses, and a PIR program fails when it runs."""

    apis = ("paddle.transpose",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_forward, (("n", 3, 4),)),)

    def instead(self, stock: Value, x: Value, perm: Value, name: Value = None) -> Value:
        axes = list(perm)
        if sorted(axes) == list(range(len(axes))):
            axes += range(len(axes), len(x.shape))
        return stock(x, axes)


plugin: Fix = Transpose()
