"""A pool becomes a reduction where its kernel is the whole dim alone: not for the size of another dim or tensor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import paddle
import paddle.nn.functional as F
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace


class Pooled(paddle.nn.Layer):
    def __init__(self, pool: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.pool = pool

    def forward(self, x: Any, y: Any) -> Any:
        return self.pool(x, y) + y.sum()


@pytest.mark.parametrize(
    "pool",
    [
        lambda x, y: F.max_pool1d(x, y.shape[2]),
        lambda x, y: F.max_pool1d(x, x.shape[0]),
        lambda x, y: F.avg_pool1d(x, x.shape[2] - 1),
        lambda x, y: F.avg_pool1d(x, x.shape[2], padding=1),
    ],
)
def test_another_kernel_that_is_computed_is_refused(pool: Callable[[Any, Any], Any], tmp_path: Path) -> None:
    inputs = (TensorSpec("x", "float32", ("n", 3, "t")), TensorSpec("y", "float32", ("n", 3, "s")))
    with pir_format.session(None), pytest.raises(ModelError):
        pir_format.write(trace(Pooled(pool), inputs, None, {}), None, tmp_path, Wish())
