"""paddle.fft, and signal.stft and istft, which call it, in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.rebound import Rebound


def _one_axis(self: Layer, x: Tensor) -> Tensor:
    import paddle

    spectrum = paddle.fft.fft(paddle.fft.rfft(x))
    return paddle.fft.irfft(spectrum)


def _several_axes(self: Layer, x: Tensor) -> Tensor:
    import paddle

    spectrum = paddle.fft.fft2(paddle.fft.rfft2(x))
    return paddle.fft.irfft2(spectrum)


class Fft(Rebound):
    """The legacy branch of the six functions behind them returns an unset name."""

    apis = ("paddle.fft",)
    examples = (Example(_one_axis, (("n", 4),)), Example(_several_axes, (("n", 4, 4),)))

    def functions(self) -> list[Value]:
        from exporter.paddle.private import NAMES, fft

        return [getattr(fft, name) for name in NAMES["fft"].members]


plugin: Fix = Fft()
