"""What the logarithm of a sigmoid shows: its smallest values, and those next to 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import paddle
import paddle.nn.functional as F
import pytest

from tests.export.lower.as_onnx import AsOnnx


def in_a_branch(x: Any) -> Any:
    y = F.sigmoid(x)
    if x.sum() > 0:
        y = y.log()
    else:
        y = (1.0 - y).log()
    return y


SHOWN: dict[str, Callable[[Any], Any]] = {
    "the cross entropy": lambda x: F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(x.flip(0)), reduction="none"),
    "a logarithm": lambda x: F.sigmoid(x).log(),
    "that of what is left": lambda x: paddle.log(1.0 - F.sigmoid(x)).clip(min=-100.0),
    "that of a sum and of parts": lambda x: paddle.log(paddle.concat([F.sigmoid(x), F.sigmoid(-x)], 1)[:, 1:] + 1e-9),
    "a quotient": lambda x: F.sigmoid(x - 30) / F.sigmoid(x - 40),
    "a branch": in_a_branch,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SHOWN)
def test_small_values_and_those_next_to_1(name: str, dtype: str, tmp_path: Path) -> None:
    both = AsOnnx(SHOWN[name], {"x": (dtype, ("n", 6))}, tmp_path)
    x = np.linspace(-80, 80, 120).reshape(-1, 6).astype(dtype)
    want = SHOWN[name](paddle.to_tensor(x)).numpy()
    (got,) = both.session.run(None, {"x": x})
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    np.testing.assert_allclose(got[finite], want[finite], rtol=2e-6 if dtype == "float32" else 1e-12, atol=1e-12)


def test_the_usual_operator_stays_where_nothing_shows_it(tmp_path: Path) -> None:
    for name, body in (("gate", lambda x: x * F.sigmoid(x) + (1.0 - F.sigmoid(x)) * 2), ("log", SHOWN["a logarithm"])):
        (tmp_path / name).mkdir()
        AsOnnx(body, {"x": ("float32", ("n", 6))}, tmp_path / name)
    assert "Sigmoid" in kinds(tmp_path / "gate") and "Sigmoid" not in kinds(tmp_path / "log")


def kinds(folder: Path) -> set[str]:
    return {node.op_type for node in onnx.load(folder / "onnx/model.onnx").graph.node}
