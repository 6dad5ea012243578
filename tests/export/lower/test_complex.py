"""Complex values as networks compute with them: ONNX equals eager mode at two batch sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import paddle
import paddle.nn.functional as F
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace


class FourierLayer(paddle.nn.Layer):
    """FNO's in two dims, with the low frequencies of both signs in the first."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(3)
        self.re, self.im = self.create_parameter([3, 5, 2, 2]), self.create_parameter([3, 5, 2, 2])

    def forward(self, x: Any) -> Any:
        z = paddle.fft.rfft2(x)
        out = paddle.zeros([x.shape[0], 5, 6, 5], dtype="complex64")
        out[:, :, :2, :2] = paddle.einsum("bixy,ioxy->boxy", z[:, :, :2, :2], paddle.complex(self.re, self.im))
        out[:, :, -2:, :2] = paddle.einsum("bixy,ioxy->boxy", z[:, :, -2:, :2], paddle.complex(self.im, self.re))
        return paddle.fft.irfft2(out, s=(6, 8))


class Created(paddle.nn.Layer):
    """What is created complex, and what is put into it."""

    def forward(self, x: Any) -> Any:
        z = paddle.fft.rfft(x)
        o = paddle.zeros_like(z)
        o[:, :, :2] = z[:, :, :2] * 2
        o[:, :, 2] = 1 + 2j
        numbers = paddle.to_tensor([1 + 2j, 2 - 1j, 0.5j, 3, 0], dtype="complex64")
        made = o * numbers + paddle.ones_like(z) @ paddle.eye(5, dtype="complex64")
        return paddle.as_real(made), paddle.full_like(z, 2.5, dtype="float32")


class Chosen(paddle.nn.Layer):
    """The imaginary part of each choice is of the same tensor as the real one."""

    def forward(self, x: Any) -> Any:
        z = paddle.fft.rfft(x)
        chosen = paddle.where(paddle.abs(z) > 1, z, z * 0.5)
        padded = F.pad(paddle.masked_fill(z, paddle.abs(z) > 2, 0.0), [0, 0, 1, 0, 0, 0, 2, 1])
        return paddle.as_real(chosen), paddle.as_real(padded), paddle.angle(z[..., 1:]), paddle.as_real(z**3)


class Raised(paddle.nn.Layer):
    """Powers by what is no whole number, by what the program computes, and by a complex number; of zero, too."""

    def forward(self, x: Any) -> Any:
        z = paddle.fft.rfft(x)
        z = paddle.where(paddle.abs(z) > 1, z, paddle.zeros_like(z))
        computed = paddle.complex(x.mean().abs() + 0.5, paddle.zeros([]))
        sums = z**0.7 + z ** paddle.full_like(z, 1.5) + z**computed
        return (
            paddle.as_real(sums),
            paddle.as_real(z**2.5),
            paddle.as_real((z + 9) ** paddle.full([], 2 + 1j, "complex64")),
        )


class Controlled(paddle.nn.Layer):
    """Complex values that a branch gives and a loop carries."""

    def forward(self, x: Any) -> Any:
        z, turn = paddle.fft.rfft(x), paddle.zeros([], "int64")
        if x.sum() > 0:
            z = z * 2
        else:
            z = z.conj()
        while turn < 3:
            z = z * 0.5 + 1
            turn = turn + 1
        return paddle.as_real(z)


class Moved(paddle.nn.Layer):
    """Copies to a device, of complex and of whole numbers: a file has no devices."""

    def forward(self, x: Any) -> Any:
        z = paddle.fft.rfft(x).cpu()
        return paddle.as_real(z * 2), x.to("cpu").cpu(), (x * 9).astype("int32").cpu() + 1, (x > 0).cpu()


class Product(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        return paddle.as_real(paddle.fft.rfft(x).prod(1))


class Spectrum(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        return paddle.fft.rfft(x)


def onnx_of(layer: Any, folder: Path) -> onnxruntime.InferenceSession:
    layer.eval()
    spec = (TensorSpec("x", "float32", ("batch", 3, 6, 8)),)
    with pir_format.session(None):
        pir_format.write(trace(layer, spec, None, {}), None, folder, Wish())
    (folder / "onnx").mkdir()
    onnx_format.write(None, folder, folder / "onnx", Wish(inputs=spec))
    return onnxruntime.InferenceSession(folder / "onnx/model.onnx", providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("kind", [FourierLayer, Created, Chosen, Raised, Controlled, Moved])
def test_onnx_equals_eager(kind: type[Any], tmp_path: Path) -> None:
    layer = kind()
    session = onnx_of(layer, tmp_path)
    for batch in (2, 3):
        x = np.random.default_rng(batch).standard_normal([batch, 3, 6, 8]).astype("float32")
        wanted = paddle.utils.flatten([layer(paddle.to_tensor(x))])
        for want, got in zip([one.numpy() for one in wanted], session.run(None, {"x": x}), strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=0, atol=4e-6 * max(float(np.abs(want).max()), 1.0))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Product, r"operator prod \(number \d+\): has no conversion of complex values"),
        (Spectrum, "an output is of complex values, .* put out as_real of it"),
    ],
)
def test_what_is_refused_says_that_the_values_are_complex(kind: type[Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=said):
        onnx_of(kind(), tmp_path)
