"""Training with roundings, against what the roundings are by definition, in numpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import paddle
import pytest
from paddle import nn

from exporter.base.errors import UsageError
from exporter.base.tensors import Array
from exporter.export.trace.layer import weights
from exporter.spec.recipe.batches import Whole
from exporter.train import loop
from exporter.train.checkpoint import State, load_state, save_state
from exporter.train.fake_quant import MEMORY, round_in_training
from tests.train import tiny

DICE = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def names_begin_at_zero() -> Iterator[None]:
    """As in a process of its own: the names of parameters and moments count on."""
    with paddle.utils.unique_name.guard():
        yield


def rounded(value: Array, step: Array | float) -> Array:
    return np.asarray(np.round(value / step) * step, "float32")


def taken(value: Array) -> Array:
    """An input, rounded to 256 codes over its own range and 0."""
    low, high = min(0.0, value.min()), max(0.0, value.max())
    step = (high - low) / 255
    zero = np.round(-low / step)
    return np.asarray((np.clip(np.round(value / step) + zero, 0, 255) - zero) * step, "float32")


def linear() -> tuple[nn.Linear, dict[str, list[float]]]:
    layer, ranges = nn.Linear(6, 4), dict[str, list[float]]()
    round_in_training(layer, ranges, "here")
    return layer, ranges


def test_a_linear_layer_computes_with_its_input_rounded_as_a_whole_and_its_weight_by_channel() -> None:
    layer, ranges = linear()
    x = DICE.normal(size=(5, 6)).astype("float32")
    got = layer(paddle.to_tensor(x)).numpy()
    weight = layer.weight.numpy()
    expected = taken(x) @ rounded(weight, np.abs(weight).max(0) / 127) + layer.bias.numpy()
    np.testing.assert_allclose(got, expected, atol=1e-5)
    assert np.abs(got - (x @ weight + layer.bias.numpy())).max() > 1e-4, "nothing was rounded"
    assert ranges == {"": [float(x.min()), float(x.max())]}


def test_a_convolution_is_rounded_by_its_output_channels() -> None:
    layer = nn.Conv2D(3, 4, 1, bias_attr=False)
    round_in_training(layer, {}, "here")
    x, weight = DICE.normal(size=(2, 3, 5, 5)).astype("float32"), layer.weight.numpy()
    steps = np.abs(weight).max((1, 2, 3), keepdims=True) / 127
    expected = np.einsum("bihw,oi->bohw", taken(x), rounded(weight, steps)[:, :, 0, 0])
    np.testing.assert_allclose(layer(paddle.to_tensor(x)).numpy(), expected, atol=1e-5)


def test_the_gradient_passes_straight_through_the_rounding_and_stops_where_a_value_was_cut_off() -> None:
    layer, _ = linear()
    x = DICE.uniform(0, 1, size=(5, 6)).astype("float32")
    layer(paddle.to_tensor(x))
    layer.eval()  # the range stays
    beyond = x.copy()
    beyond[0, 0] = 9.0
    given = paddle.to_tensor(beyond, stop_gradient=False)
    layer(given).sum().backward()
    weight = layer.weight.numpy()
    through = np.broadcast_to(rounded(weight, np.abs(weight).max(0) / 127).sum(1), x.shape).copy()
    through[0, 0] = 0.0
    np.testing.assert_allclose(given.grad.numpy(), through, atol=1e-5)
    cut = rounded(np.minimum(beyond, x.max()), x.max() / 255)
    np.testing.assert_allclose(layer.weight.grad.numpy(), np.repeat(cut.sum(0)[:, None], 4, 1), atol=1e-4)


def test_ranges_grow_at_once_shrink_slowly_and_stand_still_in_evaluation() -> None:
    layer, ranges = linear()
    wide, narrow = np.full((1, 6), 2.0, "float32"), np.full((1, 6), 1.0, "float32")
    layer(paddle.to_tensor(wide))
    assert ranges[""] == [0.0, 2.0]
    layer(paddle.to_tensor(narrow))
    assert ranges[""] == [0.0, pytest.approx(MEMORY * 2 + (1 - MEMORY))]
    before = list(ranges[""])
    layer.eval()
    layer(paddle.to_tensor(wide * 9))
    assert ranges[""] == before


def test_an_input_of_zeros_stays_one() -> None:
    layer, _ = linear()
    assert np.array_equal(layer(paddle.zeros([2, 6])).numpy(), np.tile(layer.bias.numpy(), (2, 1)))


def test_names_weights_and_statistics_stay_the_model_s_own() -> None:
    layer = tiny.Tiny()
    before, names = weights(layer), [one.name for one in layer.parameters()]
    round_in_training(layer, {}, "here")
    layer.train()
    layer(paddle.randn([8, 6]))
    assert [one.name for one in layer.parameters()] == names
    after = weights(layer)
    assert after.keys() == before.keys()
    assert all(np.array_equal(after[name], before[name]) for name in before), "batch norms must keep their statistics"
    assert layer.first.weight is layer.first._parameters["weight"]


def test_a_run_that_rounds_goes_on_from_its_state_as_if_nothing_had_happened(tmp_path: Path) -> None:
    def fresh() -> State:
        paddle.seed(1)
        layer = tiny.Tiny()
        state = State(layer, paddle.optimizer.SGD(0.1, parameters=layer.parameters()))
        round_in_training(layer, state.ranges, "here")
        return state

    def step(state: State, seed: int) -> float:
        loss = state.layer(paddle.to_tensor(np.random.default_rng(seed).normal(size=(4, 6)).astype("float32")))
        loss = loss.square().mean()
        loss.backward()
        state.optimizer.step()
        state.optimizer.clear_grad()
        return float(loss)

    state = fresh()
    step(state, 1)
    save_state(tmp_path / "last.safetensors", state, {})
    expected = [step(state, seed) for seed in (2, 3)]
    with paddle.utils.unique_name.guard():
        other = fresh()
        load_state(tmp_path / "last.safetensors", other)
        assert [step(other, seed) for seed in (2, 3)] == expected
    assert other.ranges == state.ranges
    assert other.ranges.keys() == {"first", "last"}


def test_a_model_with_nothing_to_round_is_refused() -> None:
    with pytest.raises(UsageError, match="no convolution and no linear layer"):
        round_in_training(nn.ReLU(), {}, "here")


@pytest.mark.parametrize(("by", "steps"), [("epoch", 2), ("batch", 2 * tiny.BATCHES)])
def test_a_short_run_takes_the_rates_of_the_recipe_s_last_epochs(by: Literal["epoch", "batch"], steps: int) -> None:
    recipe = replace(tiny.recipe, schedule_by=by)
    state = State(tiny.Tiny(), tiny.optimizer(tiny.Tiny()))
    loop.begin_late(loop.Job("here", recipe, Whole(tiny.data(), recipe), Path(), 0, 1, {}), state)
    expected = tiny.optimizer(tiny.Tiny())
    for _ in range(steps):
        expected._learning_rate.step()
    assert state.optimizer.get_lr() == expected.get_lr()


def test_a_rate_that_goes_by_the_loss_stays() -> None:
    layer = tiny.Tiny()
    rate = paddle.optimizer.lr.ReduceOnPlateau(0.5, patience=0)
    state = State(layer, paddle.optimizer.SGD(rate, parameters=layer.parameters()))
    loop.begin_late(loop.Job("here", tiny.recipe, Whole(tiny.data(), tiny.recipe), Path(), 0, 1, {}), state)
    assert state.optimizer.get_lr() == 0.5
