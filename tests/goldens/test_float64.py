"""A run that is not truly float64 is seen, also where the outputs hardly answer to the inputs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.goldens.float64 import FAKE, second_difference
from exporter.tensors import TensorMap


def net(depth: int, answer: float, inside: str) -> tuple[TensorMap, Callable[[TensorMap], TensorMap]]:
    """`depth` layers over 64 values; `answer` is how much of the output comes from the input."""
    generator = np.random.default_rng(depth)
    weights = [generator.standard_normal((64, 64)) / 8 for _ in range(depth)]
    turns = [np.linalg.qr(weight)[0] for weight in weights]

    def run(inputs: TensorMap) -> TensorMap:
        value = inputs["x"]
        for weight in weights:
            value = np.tanh(value.astype(inside).astype("float64") @ weight)
        out = 1.0 + answer * value
        for weight in turns:  # what comes behind adds its own rounding
            out = (out @ weight) @ weight.T
        return {"y": out}

    return {"x": generator.standard_normal((4, 64))}, run


@given(depth=st.integers(1, 6), answer=st.floats(-5, 3).map(lambda power: 10**power))
@settings(deadline=None, max_examples=40)
def test_float64_is_called_true_and_float32_inside_is_seen(depth: int, answer: float) -> None:
    inputs, run = net(depth, answer, "float64")
    assert second_difference(run, inputs) < FAKE
    inputs, run = net(depth, answer, "float32")
    assert second_difference(run, inputs) > FAKE


def test_integers_and_constants_prove_nothing() -> None:
    assert second_difference(lambda inputs: {"y": inputs["x"] * 2}, {"x": np.arange(4)}) == 0.0
    assert second_difference(lambda _: {"y": np.ones(4)}, {"x": np.ones(4)}) == 0.0
