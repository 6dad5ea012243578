"""`zip(a, b, strict=True)`: what dy2static puts in its place takes no names."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _forward(self: Layer, x: Tensor) -> Tensor:
    for column, number in zip(x.unbind(1), (1.0, 2.0), strict=True):
        x = x + column.unsqueeze(1) * number
    return x


class Zip(Fix):
    """dy2static calls `convert_zip(*args)` with the names too (`jit/dy2static/convert_operators.py`)."""

    apis = ("zip",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 2),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import convert_call_func

        stock = convert_call_func.convert_zip

        def zipped(*iterables: Value, **named: Value) -> Value:
            made = stock(*iterables)  # refuses a tensor whose length varies
            return zip(*iterables, **named) if named else made  # noqa: B905 - `strict` is the caller's

        patches.attribute(convert_call_func, "convert_zip", zipped)


plugin: Fix = Zip()
