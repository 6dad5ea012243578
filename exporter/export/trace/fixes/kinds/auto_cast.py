"""paddle.amp.auto_cast within `forward`, on a processor."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    with paddle.amp.auto_cast():
        return paddle.matmul(x, x, transpose_y=True)


class AutoCast(Fix):
    """Eagerly it has no effect on a CPU and says so; a PIR trace writes float16 there (`amp/auto_cast.py`)."""

    apis = ("paddle.amp.auto_cast",)
    formats = ("pir",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        def guarded(stock: Value, enable: Value = True, *args: Value, **kwargs: Value) -> Value:
            return stock(enable and paddle.get_device() != "cpu", *args, **kwargs)

        patches.body(paddle.amp.auto_cast, guarded)


plugin: Fix = AutoCast()
