"""`self.checkpoints.append(x.name)`: the name of a tensor that the program computes."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _kept(self: Layer, x: Tensor) -> Tensor:
    y = x * 2.0
    names = [y.name, (y + 1.0).name]
    return y * len(set(names))


class ValueName(Fix):
    """In PIR only inputs and parameters have a name, and asking another value for it raises; eager tensors all have.

    It gets one of its own: models note names for a training that recomputes, and compute nothing with them.
    """

    apis = ("paddle.Tensor.name",)
    formats = ("pir",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_kept, (("n", 4),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import Value as Traced

        stock = vars(Traced)["name"]

        def name(self: Value) -> str:
            try:
                return str(stock.__get__(self))
            except ValueError:
                return f"generated_value_{self.id}"

        patches.attribute(Traced, "name", property(name, stock.__set__))


plugin: Fix = ValueName()
