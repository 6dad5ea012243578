"""What Paddle's softmax makes of numbers far below the largest, where something divides by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import paddle
import pytest
from paddle.nn import functional

from tests.export.lower.as_onnx import AsOnnx


def share(x: Any) -> Any:
    """As in EMANet: each place's part of what its base has of all places."""
    soft = functional.softmax(x, axis=-1)
    return functional.normalize(soft, p=1, axis=1, epsilon=1e-40)


@pytest.mark.parametrize(
    ("body", "nodes"),
    [
        (lambda x: functional.log_softmax(x, axis=1), ["ReduceMax", "Sub", "Max", "LogSoftmax"]),
        (lambda x: functional.softmax(x, axis=1).log(), ["ReduceMax", "Sub", "Max", "Softmax", "Log"]),
        (lambda x: functional.softmax(x, axis=-1), ["Softmax"]),
        (share, None),
    ],
    ids=["log_softmax", "log", "softmax", "share"],
)
def test_it_has_paddles_least_value(body: Callable[[Any], Any], nodes: list[str] | None, tmp_path: Path) -> None:
    made = AsOnnx(body, {"x": ("float32", ("batch", "places", 5))}, tmp_path)
    for batch, places in ((1, 3), (2, 6)):
        values = np.random.default_rng(batch).uniform(-300, 300, [batch, places, 5]).astype("float32")
        values[0, 0, 0] = 400.0
        made.must_equal_eager({"x": values})
    least = float(functional.softmax(paddle.to_tensor([0.0, -200.0])).min())
    assert least == pytest.approx(np.exp(-64.0))
    if nodes is not None:
        assert [
            node.op_type for node in onnx.load(tmp_path / "onnx/model.onnx").graph.node if node.op_type != "Constant"
        ] == nodes
