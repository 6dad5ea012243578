"""Interpolation of float64 at exact positions: the same function as Paddle's, without its rounding of positions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest
from paddle import nn

from exporter.base.tensors import Array
from exporter.paddle.private import c_ops
from exporter.prove.goldens.oracle import make_oracle
from exporter.prove.goldens.positions import exact_positions

#: Sizes of x but for batch and channels, and how it is interpolated. In each a position is no number of float32.
CASES: dict[str, tuple[list[int], dict[str, Any]]] = {
    "linear": ([33], {"size": [7], "mode": "linear", "data_format": "NCW"}),
    "bilinear": ([33, 13], {"size": [50, 7], "mode": "bilinear"}),
    "bilinear, corners": ([9, 13], {"size": [14, 8], "mode": "bilinear", "align_corners": True}),
    "bilinear, mode 1": ([9, 13], {"size": [14, 3], "mode": "bilinear", "align_mode": 1}),
    "bilinear, scales": ([9, 13], {"scale_factor": [1.7, 0.6], "mode": "bilinear"}),
    "bilinear, channels last": ([9, 13], {"size": [14, 5], "mode": "bilinear", "data_format": "NHWC"}),
    "bilinear, scales, channels last": (
        [9, 13],
        {"scale_factor": [1.7, 0.6], "mode": "bilinear", "data_format": "NHWC"},
    ),
    "bilinear, of one and to one": ([1, 13], {"size": [4, 1], "mode": "bilinear"}),
    "trilinear": ([5, 6, 7], {"size": [7, 11, 3], "mode": "trilinear", "data_format": "NCDHW"}),
    "bicubic": ([9, 13], {"size": [14, 5], "mode": "bicubic"}),
    "bicubic, mode 1": ([9, 13], {"size": [14, 5], "mode": "bicubic", "align_mode": 1}),
    "bicubic, to one and two": ([9, 13], {"size": [1, 2], "mode": "bicubic"}),
    "bicubic, corners": ([9, 13], {"size": [14, 5], "mode": "bicubic", "align_corners": True}),
}


def drawn(name: str) -> tuple[Array, dict[str, Any]]:
    sizes, how = CASES[name]
    shape = [2, *sizes, 3] if how.get("data_format") == "NHWC" else [2, 3, *sizes]
    return np.random.default_rng(1).standard_normal(shape), how


@pytest.mark.parametrize("name", CASES)
def test_it_is_paddles_function_but_for_the_rounding_of_positions(name: str) -> None:
    x, how = drawn(name)
    stock = F.interpolate(paddle.to_tensor(x), **how).numpy()
    with exact_positions():
        exact = F.interpolate(paddle.to_tensor(x), **how).numpy()
    assert (exact.dtype, exact.shape) == (stock.dtype, stock.shape)
    away = np.abs(exact - stock).max()
    assert away < 1e-4
    if "one" not in name:
        assert away > 1e-9, "Paddle computes positions in float64: delete positions.py"


def test_a_line_is_met_at_the_fractions_that_the_formula_gives() -> None:
    """Of x[i] = i, an interpolation of the inside is the position itself."""
    line = paddle.arange(33, dtype="float64").reshape([1, 1, 33, 1])
    positions = [(Fraction(33, 50) * (Fraction(at) + Fraction(1, 2)) - Fraction(1, 2)) for at in range(50)]
    inside = [min(max(place, Fraction(0)), Fraction(32)) for place in positions]
    with exact_positions():
        found = F.interpolate(line, size=[50, 1], mode="bilinear").numpy().ravel()
    np.testing.assert_allclose(found, [float(place) for place in inside], rtol=1e-14, atol=1e-14)


def test_whole_steps_change_nothing() -> None:
    x = paddle.to_tensor(np.random.default_rng(2).standard_normal([1, 2, 5, 6]))
    stock = F.interpolate(x, scale_factor=2, mode="bilinear").numpy()
    with exact_positions():
        np.testing.assert_allclose(F.interpolate(x, scale_factor=2, mode="bilinear").numpy(), stock, rtol=1e-14)


def test_float32_and_what_comes_after_it_stay_paddles() -> None:
    x = paddle.to_tensor(drawn("bilinear")[0].astype("float32"))
    before, entry = F.interpolate(x, size=[50, 7], mode="bilinear").numpy(), c_ops.bilinear_interp
    with exact_positions():
        within = F.interpolate(x, size=[50, 7], mode="bilinear").numpy()
    assert within.tobytes() == before.tobytes() and c_ops.bilinear_interp is entry


class Smaller(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3, padding=1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return F.interpolate(self.conv(x), size=[33, 21], mode="bilinear")


def test_eager_errs_by_its_rounding_of_positions() -> None:
    paddle.seed(0)
    layer = Smaller()
    layer.eval()
    x = np.random.default_rng(0).standard_normal([1, 3, 65, 65]).astype("float32")
    _, truths, gate = make_oracle(layer, ("x",), ("y",), 0).ask({"x": x})
    assert (truths["y"].method, gate) == ("float64", "")
    assert truths["y"].e_ref_max > 2.0**-22, "more than the rounding of values alone, which is a tenth of it"
