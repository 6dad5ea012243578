"""Inverses, systems, determinants and factors of matrices: ONNX against eager, sizes that vary, singular matrices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import paddle
import pytest
from paddle import linalg

from exporter.base.errors import ModelError
from exporter.base.tensors import Array, TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace

Body = Callable[..., Any]
Run = Callable[..., list[Array]]
RANDOM = np.random.default_rng(11)
VARIES = ("batch", "n", "n")
UNDER_NAN = np.where(np.tri(3, k=-1) > 0, np.nan, 0)


class Calling(paddle.nn.Layer):
    def __init__(self, body: Body) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: Any, y: Any = None) -> Any:
        return self.body(x) if y is None else self.body(x, y)


def written(body: Body, shapes: list[tuple[Any, ...]], folder: Path, dtype: str = "float32") -> tuple[Body, Run]:
    """What is eager, since a traced layer is no longer, and what runs the ONNX."""
    layer = Calling(body)
    layer.eval()
    specs = tuple(TensorSpec(name, dtype, shape) for name, shape in zip("xy", shapes, strict=False))
    with pir_format.session(None):
        pir_format.write(trace(layer, specs, None, {}), None, folder, Wish())
    (folder / "onnx").mkdir()
    onnx_format.write(None, folder, folder / "onnx", Wish(inputs=specs))
    session = onnxruntime.InferenceSession(folder / "onnx/model.onnx", providers=["CPUExecutionProvider"])
    return body, lambda *inputs: session.run(None, dict(zip("xy", inputs, strict=False)))


def sound(*shape: int) -> Array:
    """Matrices whose singular values lie between 0.5 and 2."""
    left, right = (np.linalg.qr(RANDOM.standard_normal(shape))[0] for _ in range(2))
    return left * RANDOM.uniform(0.5, 2, shape[-1]) @ right


def positive(*shape: int) -> Array:
    x = sound(*shape)
    return x @ np.swapaxes(x, -1, -2)


def heavy(*shape: int) -> Array:
    """Both triangles of such a matrix are well conditioned."""
    return RANDOM.standard_normal(shape) + 4 * np.eye(shape[-1])


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape)


def triangular(upper: bool, transpose: bool, unit: bool) -> Body:
    return lambda x, y: linalg.triangular_solve(x, y, upper, transpose, unit)


Draws = list[tuple[Array, ...]]
#: The call, its declared shapes, and what it is asked at.
CASES: dict[str, tuple[Body, list[tuple[Any, ...]], Draws]] = {
    "inverse": (linalg.inv, [VARIES], [(sound(3, 4, 4),), (sound(1, 9, 9),), (np.zeros([0, 3, 3]),)]),
    "inverse, rows far apart": (
        linalg.inv,
        [(2, 2)],
        [(np.array([[1e20, 1e20], [1e-10, 2e-10]]),), (np.array([[1, 1], [1, 1 + 2.0**-23]]),)],
    ),
    "solve, a matrix": (linalg.solve, [VARIES, ("batch", "n", 2)], [(sound(3, 4, 4), normal(3, 4, 2))]),
    "solve, one vector": (linalg.solve, [("batch", 3, 3), (3,)], [(sound(4, 3, 3), normal(3))]),
    "solve, a vector of each": (linalg.solve, [("batch", 3, 3), ("batch", 3)], [(sound(4, 3, 3), normal(4, 3))]),
    "solve, outer dims broadcast": (
        linalg.solve,
        [(2, 1, 3, 3), ("batch", 3, 2)],
        [(sound(2, 1, 3, 3), normal(5, 3, 2))],
    ),
    "det": (linalg.det, [VARIES], [(sound(6, 3, 3),), (sound(2, 6, 6),), (np.zeros([2, 3, 3]),)]),
    "slogdet": (
        linalg.slogdet,
        [("batch", 3, 3)],
        [(sound(6, 3, 3),), (np.zeros([1, 3, 3]),), (np.eye(3)[None] * -1e20,), (np.eye(3)[None] * 1e-30,)],
    ),
    **{
        f"triangular_solve {flags}": (
            triangular(*flags),
            [VARIES, ("batch", "n", 2)],
            [(heavy(3, 4, 4), normal(3, 4, 2)), (np.triu(heavy(1, 3, 3)) + UNDER_NAN, normal(1, 3, 2))],
        )
        for flags in ((True, False, False), (False, True, False), (True, True, True), (False, False, True))
    },
    "cholesky": (linalg.cholesky, [VARIES], [(positive(3, 4, 4),), (np.array([[[4.0, 100], [2, 3]]]),)]),
    "cholesky, upper": (
        lambda x: linalg.cholesky(x, True),
        [VARIES],
        [(positive(3, 4, 4),), (np.array([[[4.0, 2], [100, 3]]]),)],
    ),
    "cholesky_solve": (linalg.cholesky_solve, [("batch", 4, 2), (4, 4)], [(normal(3, 4, 2), heavy(4, 4))]),
    "cholesky_solve, upper": (
        lambda x, y: linalg.cholesky_solve(x, y, True),
        [(4, 2), ("batch", 4, 4)],
        [(normal(4, 2), heavy(3, 4, 4))],
    ),
    "lu, wide": (lambda x: linalg.lu(x, get_infos=True), [("batch", 3, 5)], [(normal(4, 3, 5),)]),
    "lu, singular": (
        lambda x: linalg.lu(x, get_infos=True),
        [("n", "m")],
        [(normal(5, 3),), (np.arange(1.0, 10).reshape(3, 3),), (np.ones([2, 2]),), (np.array([[1, np.nan], [2, 1]]),)],
    ),
    "lu_unpack": (lambda x: linalg.lu_unpack(*linalg.lu(x)), [("batch", 5, 3)], [(normal(4, 5, 3),)]),
    "matrix_power": (lambda x: linalg.matrix_power(x, 5), [(2, 3, 3)], [(sound(2, 3, 3),)]),
    "matrix_power, negative": (lambda x: linalg.matrix_power(x, -3), [(2, 3, 3)], [(sound(2, 3, 3),)]),
    "matrix_exp": (linalg.matrix_exp, [(2, 3, 3)], [(normal(2, 3, 3) * scale,) for scale in (0.01, 0.3, 2)]),
    "qr": (linalg.qr, [("batch", "n", "m")], [(normal(2, 5, 3),), (normal(2, 3, 5),), (normal(3, 4, 4),)]),
    "qr, complete": (lambda x: linalg.qr(x, "complete"), [("n", "m")], [(normal(5, 3),), (np.zeros([3, 2]),)]),
    "qr, R alone, of a triangle": (lambda x: linalg.qr(x, "r"), [(3, 3)], [(np.triu(heavy(3, 3)),)]),
    "cond of order 1": (lambda x: linalg.cond(x, 1), [(3, 3)], [(sound(3, 3),)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_onnx_equals_eager(name: str, tmp_path: Path) -> None:
    body, shapes, draws = CASES[name]
    for dtype in ("float32", "float64"):
        (tmp_path / dtype).mkdir()
        eager, run = written(body, shapes, tmp_path / dtype, dtype)
        for draw in draws:
            given = [np.asarray(value, dtype) for value in draw]
            expected = eager(*map(paddle.to_tensor, given))
            listed = expected if isinstance(expected, (list, tuple)) else [expected]
            for got, want in zip(run(*given), [value.numpy() for value in listed], strict=True):
                assert (got.dtype, got.shape) == (want.dtype, want.shape)
                if want.dtype.kind == "i":
                    np.testing.assert_array_equal(got, want)
                    continue
                finite = np.abs(want[np.isfinite(want)])
                most = float(finite.max()) if finite.size else 1.0
                np.testing.assert_allclose(got, want, rtol=0, atol=16 * np.finfo(dtype).eps * most)


@pytest.mark.parametrize("dim", [0, 1])
def test_spectral_norm_is_that_of_the_stored_vectors(dim: int, tmp_path: Path) -> None:
    eager, run = written(paddle.nn.SpectralNorm((4, 3, 2), dim=dim, power_iters=2), [(4, 3, 2)], tmp_path)
    x = normal(4, 3, 2).astype("float32")
    np.testing.assert_allclose(run(x)[0], eager(paddle.to_tensor(x)).numpy(), rtol=2e-6)


SINGULAR = np.array([[[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[2, 1, 0], [0, 2, 1], [1, 0, 2]]], "float32")
IMPOSSIBLE: dict[str, Body] = {
    "inverse": linalg.inv,
    "solve": lambda x: linalg.solve(x, paddle.ones([3])),
    "cholesky": lambda x: linalg.cholesky(x + x.transpose([0, 2, 1])),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_matrix_without_inverse_gives_nan_and_the_others_of_its_batch_their_numbers(
    name: str, tmp_path: Path
) -> None:
    eager, run = written(IMPOSSIBLE[name], [("batch", 3, 3)], tmp_path)
    with pytest.raises((ValueError, RuntimeError)):
        eager(paddle.to_tensor(SINGULAR))
    (got,) = run(SINGULAR)
    assert np.isnan(got[0]).all()
    np.testing.assert_allclose(got[1:], eager(paddle.to_tensor(SINGULAR[1:])).numpy(), rtol=0, atol=1e-6)


def test_what_nothing_decides_stays_a_stored_value(tmp_path: Path) -> None:
    eager, run = written(lambda x: linalg.solve(paddle.eye(3) * 3 + 1.0, paddle.ones([3, 1])) * x, [("n",)], tmp_path)
    assert "Loop" not in {node.op_type for node in onnx.load(tmp_path / "onnx/model.onnx").graph.node}
    x = np.arange(4, dtype="float32")
    np.testing.assert_allclose(run(x)[0], eager(paddle.to_tensor(x)).numpy(), rtol=1e-6)


def test_a_right_side_of_which_the_sizes_at_run_time_decide_what_it_is_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="whether the right side holds vectors or a matrix"):
        written(linalg.solve, [("batch", 3, 3), (3, 3)], tmp_path)
