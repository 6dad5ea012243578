"""A layer that is tried before it is traced: in a fork, so that what `forward` leaves in it is not traced."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.errors import CannotRun
from exporter.lower._convert import convert_all
from exporter.preflight.cases import beside
from exporter.spec.model import Spec
from exporter.workers import Setting


class Counting(paddle.nn.Layer):
    """Gives other numbers each time."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return x * self.calls


class Deadly(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        os.kill(os.getpid(), signal.SIGSEGV)
        return x


class Narrow(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        if x.shape[0] == 3:
            raise ValueError("three is one too many")
        return x


def spec_of(layer: type[paddle.nn.Layer]) -> Spec:
    return Spec.model_validate(
        {
            "name": "tried",
            "model": f"{__name__}:{layer.__name__}",
            "weights": "factory",
            "inputs": {"x": {"dtype": "float32", "shape": ["batch", 2]}},
            "dims": {"batch": {"min": 1, "typical": 2, "max": 3}},
            "formats": ["pir"],
        }
    )


def test_what_forward_leaves_in_the_layer_is_not_traced(tmp_path: Path) -> None:
    convert_all(spec_of(Counting), None, tmp_path, Setting(), tried=beside(spec_of(Counting)))
    made = paddle.jit.load(str(tmp_path / "pir/model"))(paddle.ones([2, 2]))
    assert np.array_equal(made.numpy(), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("layer", "said", "where"),
    [(Deadly, "SIGSEGV", "running forward at batch=1"), (Narrow, "three is one", "test_tried.py:")],
)
def test_a_layer_that_does_not_run_is_no_fault_of_the_format(
    layer: type[paddle.nn.Layer], said: str, where: str, tmp_path: Path
) -> None:
    with pytest.raises(CannotRun, match=said) as raised:
        convert_all(spec_of(layer), None, tmp_path, Setting(), tried=beside(spec_of(layer)))
    assert where in raised.value.where and not raised.value.what.startswith("pir")
