"""Windows of a signal added up again as ONNX: equal to eager at numbers of samples and windows that vary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.errors import ModelError
from tests.export.lower.as_onnx import AsOnnx

Shape = tuple[int | str, ...]


@pytest.mark.parametrize(
    ("shape", "hop", "axis"),
    [(("b", 5, "f"), 2, -1), (("f", 5), 2, 0), (("b", "g", "l", "f"), 3, -1), (("f", 5, "b"), 5, 0), ((5, 4), 1, -1)],
)
def test_windows_are_added_up(shape: Shape, hop: int, axis: int, tmp_path: Path) -> None:
    both = AsOnnx(lambda x: paddle.signal.overlap_add(x, hop, axis), {"x": ("float32", shape)}, tmp_path)
    for seed, varying in enumerate(((1, 4, 1, 1), (2, 3, 7, 2), (3, 5, 4, 9))):
        sizes = dict(zip("blfg", varying, strict=True))
        drawn = np.random.default_rng(seed).normal(0, 9, [sizes.get(str(size), size) for size in shape])
        both.must_equal_eager({"x": drawn.astype("float32")})


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_windows_of_another_dtype_are_refused(dtype: str, tmp_path: Path) -> None:
    """Paddle 3.3.1 declares float32 there, so that what reads the sum is declared wrong as well."""
    with pytest.raises(ModelError, match="declares float32"):
        AsOnnx(lambda x: paddle.signal.overlap_add(x, 2), {"x": (dtype, (5, "f"))}, tmp_path)


@pytest.mark.parametrize("settings", [{}, {"length": 60}, {"center": False}, {"normalized": True}], ids=str)
def test_a_spectrogram_becomes_a_signal(settings: dict[str, Any], tmp_path: Path) -> None:
    told = {name: value for name, value in settings.items() if name != "length"}

    def body(x: Any) -> Any:
        window = paddle.arange(1, 17, dtype="float32") / 16
        return paddle.signal.istft(
            paddle.signal.stft(x, 16, 4, window=window, **told), 16, 4, window=window, **settings
        )

    both = AsOnnx(body, {"x": ("float32", ("b", 64))}, tmp_path)
    for batch in (1, 3):
        both.must_equal_eager({"x": np.random.default_rng(batch).standard_normal((batch, 64)).astype("float32")})
