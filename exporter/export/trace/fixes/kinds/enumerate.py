"""`enumerate(x, start=1)`: what dy2static puts in its place takes no names."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _forward(self: Layer, x: Tensor) -> Tensor:
    for number, row in enumerate(x.unbind(1), start=1):
        x = x + row.unsqueeze(1) * number
    return x


class Enumerate(Fix):
    """dy2static calls `convert_enumerate(*args)` with the names too (`jit/dy2static/convert_operators.py`)."""

    apis = ("enumerate",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 2),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import convert_call_func

        stock = convert_call_func.convert_enumerate

        def enumerated(*given: Value, **named: Value) -> Value:
            order = [named[name] for name in ("iterable", "start") if name in named]
            return stock(*given, *order)

        patches.attribute(convert_call_func, "convert_enumerate", enumerated)


plugin: Fix = Enumerate()
