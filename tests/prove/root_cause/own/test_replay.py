"""Values of a replay do not depend on what stood in memory before."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from exporter.base.readers.program import Operator, TensorType, Value
from exporter.prove.root_cause.own.replay import _Watch


@pytest.mark.parametrize(("name", "expected"), [("empty", [0.0, 0.0]), ("full", [7.0, 7.0])])
def test_memory_that_nobody_has_written_is_zero(name: str, expected: list[float]) -> None:
    watch = _Watch({})
    operator = Operator(name, 0, (), (Value(1, TensorType("float32", (2,))),), {})
    (value,) = watch(operator, [], lambda: [paddle.full([2], 7.0)])
    assert np.array_equal(value.numpy(), expected)
    assert np.array_equal(watch.seen.values[1], expected)
