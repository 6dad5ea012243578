"""A trace that fails leaves parameters behind, and a later program at the same address has none of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import paddle
import pytest
from paddle.jit.dy2static import parameter_recorder, program_translator

from exporter.base.tensors import TensorSpec
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.trace.traced import trace
from exporter.paddle.unfinished import forget_unfinished_programs

X = [TensorSpec("input", "float32", ("n", 4))]


class Fails(paddle.nn.Linear):
    def forward(self, input: Any) -> Any:
        y = super().forward(input)
        raise ValueError(f"after {y.shape}")


def traced_by_hand(layer: paddle.nn.Layer) -> None:
    inputs = [paddle.static.InputSpec([None, 4], "float32", "x")]
    static = paddle.jit.to_static(layer, input_spec=inputs, backend=None, full_graph=True)
    static.forward.concrete_program  # noqa: B018 - this traces it


@pytest.fixture
def one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program lies where the last one lay, as far as Paddle can tell."""
    for module in (parameter_recorder, program_translator):
        monkeypatch.setattr(module, "_program_hash", lambda program: 1)


@pytest.mark.usefixtures("one_address")
@pytest.mark.parametrize("session", [nullcontext, legacy_export])
def test_a_program_has_no_parameter_of_one_that_failed(session: Callable[[], Any]) -> None:
    with session():
        with pytest.raises(ValueError, match="after"):
            traced_by_hand(Fails(4, 4))
        layer = paddle.nn.Linear(4, 4)
        assert set(trace(layer, X, None, {}).parameters) == set(layer.state_dict())


@pytest.mark.usefixtures("one_address")
def test_paddle_itself_still_mixes_them() -> None:
    try:
        with pytest.raises(ValueError, match="after"):
            traced_by_hand(Fails(4, 4))
        assert parameter_recorder._global_parameter_recorder.params_dict[1]
    finally:
        forget_unfinished_programs()
    assert not parameter_recorder._global_parameter_recorder.params_dict
