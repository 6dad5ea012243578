"""paddle.signal.istft of a number of frames that varies."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _sound(self: Layer, x: Tensor) -> Tensor:
    import paddle

    frames = paddle.complex(x, x * 0.5).transpose([1, 0])
    return paddle.signal.istft(frames, 16, 4) * 2.0


class Istft(Fix):
    """Stock asks the shape for the number of frames, and repeats the squared window that often: -1 times."""

    apis = ("paddle.signal.istft",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_sound, (("n", 9),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle
        from paddle import signal

        frames: list[Value] = []

        class Within:
            """Paddle as istft sees it."""

            def __getattr__(self, name: str) -> Value:
                return getattr(paddle, name)

            def tile(self, x: Value, repeat_times: list[int]) -> Value:
                return paddle.tile(x, [frames[-1] if times == -1 and frames else times for times in repeat_times])

        def counted(stock: Value, x: Value, *args: Value, **kwargs: Value) -> Value:
            frames.append(paddle.shape(x)[-1])
            try:
                return stock(x, *args, **kwargs)
            finally:
                frames.pop()

        patches.attribute(signal, "paddle", Within())
        patches.body(signal.istft, self.within_programs(counted, refuse))


plugin: Fix = Istft()
