"""paddle.signal.stft and istft with a window that is a tensor of the layer."""

from __future__ import annotations

import builtins

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches
from exporter.paddle.values import in_program


def _forth(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.signal.stft(x, 16, 8, window=self.window).abs()


def _back(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.signal.istft(paddle.signal.stft(x, 16, 8), 16, 8, window=self.window)


def _window() -> Value:
    import paddle

    return paddle.audio.functional.get_window("hann", 16, dtype="float32")


class Stft(Fix):
    """Stock asks `len(window)`, which a tensor of a program does not have; its shape says it."""

    apis = ("paddle.signal.stft", "paddle.signal.istft")
    seen = ("3.0.0", "3.3.1")
    examples = tuple(Example(forward, (("n", 48),), {"window": _window}) for forward in (_forth, _back))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from paddle import signal

        patches.attribute(signal, "len", lambda value: value.shape[0] if in_program(value) else builtins.len(value))


plugin: Fix = Stft()
