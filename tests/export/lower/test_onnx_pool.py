"""Adaptive pools as ONNX whose number of windows the program computes: equal to eager at any sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

from tests.export.lower.as_onnx import AsOnnx


def sizes_of(x: paddle.Tensor) -> list[paddle.Tensor]:
    """The sizes as the program computes them: Paddle does not convert a lambda, whose `x.shape` would be numbers."""
    return list(paddle.shape(x))


POOLS: dict[str, Callable[..., Any]] = {
    "both": lambda x, y: F.adaptive_avg_pool2d(x, sizes_of(y)[2:]) + y.sum(),
    "halved": lambda x, y: F.adaptive_avg_pool2d(x, [size // 2 for size in sizes_of(x)[2:]]) + y.sum(),
    "a vector": lambda x, y: F.adaptive_avg_pool2d(x, paddle.shape(y)[2:]) + y.sum(),
    "channels last": lambda x, y: F.adaptive_avg_pool2d(x, sizes_of(y)[2:], data_format="NHWC") + y.sum(),
}


@pytest.mark.parametrize("sizes", [("h", "w"), (9, 7)], ids=str)
@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_windows_that_are_computed(pool: Callable[..., Any], sizes: tuple[int | str, ...], tmp_path: Path) -> None:
    both = AsOnnx(
        pool, {"x": ("float32", ("n", 2, *sizes)), "y": ("float32", ("n", 3, "windows", "further"))}, tmp_path
    )
    draw = np.random.default_rng(1)
    for batch, windows in ((1, (4, 3)), (2, (9, 7)), (3, (1, 1)), (2, (11, 5))):
        drawn = draw.integers(5, 13, 2)
        own = [size if isinstance(size, int) else int(other) for size, other in zip(sizes, drawn, strict=True)]
        x = draw.standard_normal((batch, 2, *own)).astype("float32")
        both.must_equal_eager({"x": x, "y": draw.standard_normal((batch, 3, *windows)).astype("float32")})


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0])
def test_powers_are_of_the_numbers_as_they_are(order: float, tmp_path: Path) -> None:
    """A root of a sum below zero is NaN."""
    pool: Callable[..., Any] = lambda x: F.lp_pool2d(x, order, [2, 3], 2, [1, 0])  # noqa: E731
    both = AsOnnx(pool, {"x": ("float32", ("n", 2, "h", "w"))}, tmp_path)
    for batch, sizes in ((1, (4, 6)), (3, (7, 5))):
        x = np.random.default_rng(batch).standard_normal((batch, 2, *sizes)).astype("float32")
        (got,), want = both.session.run(None, {"x": x}), pool(paddle.to_tensor(x)).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
        both.must_equal_eager({"x": np.abs(x)})
