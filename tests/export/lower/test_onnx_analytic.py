"""Functions of complex values as ONNX: part by part as near to what Paddle has in float64 as Paddle's float32 is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

from exporter.base.tensors import Array
from tests.export.lower.as_onnx import AsOnnx

#: Of a part: nothing, tiny, ordinary, large, and where exp overflows a float32.
SIZES = [0.0, 1e-30, 1e-20, 1e-8, 1e-3, 0.5, 1.0, 2.0, 9.0, 30.0, 80.0, 1e3]
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(paddle, name) for name in ("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sign")},
    **{name: getattr(paddle, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan")},
    **{name: getattr(paddle, name) for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{"sigmoid": F.sigmoid, "silu": F.silu, "reciprocal": paddle.reciprocal},
    "quotient": lambda z: (2.0 - 1e-9j) / z,
}
#: Paddle's exp of complex128, and what it makes of it, has the digits of float32 (3.3.1).
TRUE: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "silu": lambda z: z / (1 + np.exp(-z)),
}


def parts(dtype: str) -> Array:
    """The four numbers of each pair of sizes with both signs, of zero too; and some drawn."""
    signs = [(one, two) for one in (1, -1) for two in (1, -1)]
    grid = [(a * one, b * two) for a in SIZES for b in SIZES for one, two in signs]
    drawn = np.random.default_rng(0).standard_normal((300, 2))
    return np.concatenate([np.array(grid), drawn]).astype(dtype)


def both(name: str, dtype: str, folder: Path) -> tuple[Array, Array, Array]:
    """What ONNX Runtime gives, what eager gives, and what is true: eager's complex128."""
    function: Callable[[Any], Any] = lambda x: paddle.as_real(FUNCTIONS[name](paddle.as_complex(x)))  # noqa: E731
    x = parts(dtype)
    session = AsOnnx(function, {"x": (dtype, ("n", 2))}, folder).session
    (got,) = session.run(None, {"x": x})
    wide = x.astype("float64")
    true = function(paddle.to_tensor(wide)).numpy()
    if name in TRUE:
        with np.errstate(all="ignore"):
            true = TRUE[name](wide.view("complex128")[:, 0])[:, None].view("float64")
    return got, function(paddle.to_tensor(x)).numpy(), true


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_part_of_complex64(name: str, tmp_path: Path) -> None:
    got, eager, true = both(name, "float32", tmp_path)
    finite = np.isfinite(eager)
    np.testing.assert_array_equal(got[~finite], eager[~finite])
    epsilon, least = np.finfo("float32").eps, 4 * np.finfo("float32").tiny
    size = np.maximum(np.abs(true[finite]), least)
    off = np.abs(got[finite] - true[finite]) / size
    allowed = 4 * np.abs(eager[finite] - true[finite]) / size + 10 * epsilon
    assert (off <= allowed).all(), (np.broadcast_to(parts("float32"), got.shape)[finite][off > allowed], off.max())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_complex128_is_true(name: str, tmp_path: Path) -> None:
    """As a whole: next to the zeros of sine and cosine ONNX Runtime has fewer digits than the C++ library."""
    got, eager, true = both(name, "float64", tmp_path)
    finite = np.isfinite(eager).all(1) & np.isfinite(true).all(1)
    off = np.abs(got[finite] - true[finite]).max(1) / np.maximum(np.abs(true[finite]).max(1), 1e-300)
    assert np.quantile(off, 0.97) <= 32 * np.finfo("float64").eps and off.max() <= 1e-9


@pytest.mark.parametrize("name", ["abs", "angle"])
def test_size_and_angle(name: str, tmp_path: Path) -> None:
    function: Callable[[Any], Any] = lambda x: getattr(paddle, name)(paddle.as_complex(x))  # noqa: E731
    x = parts("float32")
    (got,) = AsOnnx(function, {"x": ("float32", ("n", 2))}, tmp_path).session.run(None, {"x": x})
    np.testing.assert_allclose(got, function(paddle.to_tensor(x)).numpy(), rtol=4e-7, atol=0)
