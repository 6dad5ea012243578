"""Factors in float64 beside a product of matrices: ONNX Runtime's fusions keep their digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from tests.export.lower.as_onnx import AsOnnx

MATRIX = np.random.default_rng(0).standard_normal((3, 4))
SHAPES = {"x": ("float64", ("n", 4)), "y": ("float64", (4, 5))}
FEED = {"x": MATRIX, "y": np.random.default_rng(1).standard_normal((4, 5))}


def test_a_scaled_product_in_float64_keeps_its_digits(tmp_path: Path) -> None:
    both = AsOnnx(lambda x, y: ((x / 7.0) @ y, (x @ y) * 0.1, x * 0.5 @ y), SHAPES, tmp_path)
    both.must_equal_eager(FEED)
    constants = onnx.load(tmp_path / "onnx/model.onnx").graph.initializer
    assert sorted(tuple(constant.dims) for constant in constants) == [(), (4,), (5,)]


def test_factors_of_float32_stay_scalars(tmp_path: Path) -> None:
    shapes = {name: ("float32", shape) for name, (_, shape) in SHAPES.items()}
    AsOnnx(lambda x, y: (x / 7.0) @ y, shapes, tmp_path)
    assert [tuple(constant.dims) for constant in onnx.load(tmp_path / "onnx/model.onnx").graph.initializer] == [()]
