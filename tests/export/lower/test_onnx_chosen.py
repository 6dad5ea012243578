"""What sorts, counts and chooses along an axis: values and places in ONNX are eager's, ties and NaN included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import paddle
import pytest

from exporter.base.tensors import Array, TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace

NAN, INFINITY = float("nan"), float("inf")


def runs(axis: int | None = None, dtype: str = "int64") -> Callable[[Any], Any]:
    return lambda x: paddle.unique_consecutive(x, True, True, axis, dtype)


#: Name: the call, the sizes of its input ("n" varies), its dtype, and the sizes that it is asked at.
Case = tuple[Callable[[Any], Any], tuple[Any, ...], str, list[tuple[int, ...]]]
CASES: dict[str, Case] = {
    "cummax, last axis": (lambda x: paddle.cummax(x, -1), ("n", "m"), "float32", [(3, 9), (1, 1), (2, 0), (0, 2)]),
    "cummax, first axis, int32": (lambda x: paddle.cummax(x, 0, "int32"), ("n", 3, 2), "int32", [(7, 3, 2)]),
    "cummin, middle axis": (lambda x: paddle.cummin(x, 1), ("n", "m", 2), "float64", [(2, 9, 2), (1, 1, 2)]),
    "cummin, flat": (lambda x: paddle.cummin(x), ("n", 3), "int64", [(4, 3), (1, 3)]),
    "cummax of a number": (lambda x: paddle.cummax(x), (), "float32", [()]),
    "mode, last axis": (lambda x: paddle.mode(x, -1), ("n", "m"), "float32", [(9, 11), (40, 3), (1, 1), (0, 2)]),
    "mode, first axis kept": (lambda x: paddle.mode(x, 0, True), ("n", 5), "int64", [(4, 5), (16, 5)]),
    "mode, middle axis": (lambda x: paddle.mode(x, 1), (2, "n", 3), "float64", [(2, 7, 3)]),
    "median": (lambda x: (paddle.median(x, 1), paddle.median(x)), ("n", "m"), "float32", [(3, 4), (2, 5), (3, 0)]),
    "median of axes kept": (
        lambda x: (paddle.median(x, 0, True), paddle.median(x, -1, True, "min")[0]), (5, 4), "float64", [(5, 4)]
    ),
    "medians of rows whose number varies": (
        lambda x: (paddle.median(x, -1), paddle.nanmedian(x, 2)), ("n", "m", 6), "float32", [(2, 3, 6), (1, 1, 6)]
    ),
    "median, the lower": (lambda x: paddle.median(x, 1, mode="min")[0], ("n", "m"), "int64", [(3, 4), (2, 5)]),
    "nanmedian": (lambda x: (paddle.nanmedian(x, 1), paddle.nanmedian(x)), ("n", "m"), "float32", [(9, 4), (3, 0)]),
    "nanmedian of two axes": (
        lambda x: (paddle.nanmedian(x, [0, 2]), paddle.nanmedian(x, [1, 2], True, "min")),
        ("n", 3, "m"), "float64", [(2, 3, 2), (1, 3, 1), (0, 3, 2)],
    ),
    "histogram": (lambda x: paddle.histogram(x, 5, -1.5, 2), ("n", 3), "float32", [(7, 3), (1, 3)]),
    "histogram of the data's range": (lambda x: paddle.histogram(x * 0.3, 7), ("n",), "int64", [(1,), (40,)]),
    "histogram, a density of integers": (
        lambda x: (paddle.histogram(x, 4, density=True), paddle.histogram(x, 3, -0.9, 2.9)), ("n",), "int32", [(9,)]
    ),
    "histogram of weights": (
        lambda x: [paddle.histogram(x, 4, -2, 2, x.abs() * 0.7, density) for density in (False, True)],
        ("n", 2), "float32", [(9, 2)],
    ),
    "unique_consecutive": (runs(), ("n", 3), "int64", [(4, 3), (1, 3), (0, 3)]),
    "unique_consecutive of one output": (lambda x: paddle.unique_consecutive(x), ("n",), "int32", [(9,), (1,)]),
    "unique_consecutive of rows": (runs(0, "int32"), ("n", 1), "float32", [(9, 1), (1, 1)]),
    "unique_consecutive of columns": (runs(-1), (1, 2, 30), "float64", [(1, 2, 30)]),
    "unique, int32": (lambda x: paddle.unique(x, True, True, True), ("n",), "int32", [(9,), (1,)]),
    "unique of rows, int32": (lambda x: paddle.unique(x, axis=0), ("n", 1), "int32", [(9, 1), (1, 1)]),
    "nanmedian of integers": (lambda x: paddle.nanmedian(x, 0), ("n", 6), "int32", [(4, 6), (2, 6)]),
}  # fmt: skip


class Calling(paddle.nn.Layer):
    def __init__(self, body: Callable[[Any], Any]) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Any) -> Any:
        return self.body(x)


def drawn(shape: tuple[int, ...], dtype: str, seed: int) -> Array:
    """Few values, so that many are equal; of floats some draws hold NaN, infinities and -0."""
    generator = np.random.default_rng(seed)
    found = np.asarray(generator.integers(-2, 3, shape)).astype(dtype)
    if dtype.startswith("float") and seed % 2:
        odd = generator.choice(np.array([NAN, INFINITY, -INFINITY, -0.0], dtype), shape)
        found = np.where(generator.random(shape) < 0.2, odd, found)
    return found


def written(body: Callable[[Any], Any], sizes: tuple[Any, ...], dtype: str, place: Path) -> Any:
    """What is eager, since a traced layer is no longer, and ONNX Runtime with the file that was written."""
    layer = Calling(body)
    layer.eval()
    spec = (TensorSpec("x", dtype, sizes),)
    with pir_format.session(None):
        pir_format.write(trace(layer, spec, None, {}), None, place, Wish())
    (place / "onnx").mkdir()
    onnx_format.write(None, place, place / "onnx", Wish(inputs=spec))
    return body, onnxruntime.InferenceSession(place / "onnx/model.onnx", providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", CASES)
def test_values_and_places_are_eagers(name: str, tmp_path: Path) -> None:
    body, sizes, dtype, asked = CASES[name]
    eager, session = written(body, sizes, dtype, tmp_path)
    for shape in asked:
        for seed in range(6):
            x = drawn(shape, dtype, seed)
            given = eager(paddle.to_tensor(x))
            expected = [one.numpy() for one in (given if isinstance(given, (list, tuple)) else [given])]
            for want, got in zip(expected, session.run(None, {"x": x}), strict=True):
                assert (got.dtype, got.shape) == (want.dtype, want.shape)
                if want.dtype.kind != "f":
                    np.testing.assert_array_equal(got, want)
                else:
                    np.testing.assert_allclose(got, want, rtol=16 * np.finfo(want.dtype).eps, atol=0)


@pytest.mark.parametrize("call", [paddle.median, paddle.nanmedian])
def test_the_place_of_the_lower_median_is_eagers_without_ties(call: Callable[..., Any], tmp_path: Path) -> None:
    eager, session = written(lambda x: call(x, -1, mode="min"), ("n", "m"), "float32", tmp_path)
    generator = np.random.default_rng(0)
    for size in (1, 2, 6, 7):
        x = generator.permuted(np.arange(5 * size).reshape(5, size) - 3.0, axis=1).astype("float32")
        x[0, size // 2], x[1] = NAN, NAN
        for want, got in zip(eager(paddle.to_tensor(x)), session.run(None, {"x": x}), strict=True):
            np.testing.assert_array_equal(got, want.numpy())


@pytest.mark.parametrize("power", [0.0, 0.5, 2.0, 3.0, INFINITY, -1.0])
def test_renorm_is_eagers(power: float, tmp_path: Path) -> None:
    eager, session = written(lambda x: paddle.renorm(x, power, 1, 0.7), ("n", 3, "m"), "float32", tmp_path)
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal([2, 3, 4]).astype("float32")
        x[:, 0] *= 0.01
        if seed == 3:
            x[0, 1, 0], x[0, 2, 0], x[1] = NAN, INFINITY, 0.0
        want, (got,) = eager(paddle.to_tensor(x)).numpy(), session.run(None, {"x": x})
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=1e-30)
