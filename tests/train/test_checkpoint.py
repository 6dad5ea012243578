from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import paddle
import pytest
from paddle import nn

from exporter.base.errors import UsageError
from exporter.base.tensors import load_with_metadata, save
from exporter.export.trace.layer import weights
from exporter.train import randomness
from exporter.train.checkpoint import State, load_state, save_state, set_weights
from exporter.train.document import Row
from tests.train import tiny


def fresh() -> State:
    layer = tiny.Tiny()
    return State(layer, tiny.optimizer(layer))


@pytest.fixture(autouse=True)
def names_begin_at_zero() -> Iterator[None]:
    """As in a process of its own: the names of parameters and moments count on."""
    with paddle.utils.unique_name.guard():
        yield


def step(state: State) -> float:
    loss = state.layer(paddle.randn([4, 6])).square().mean() * np.random.rand()
    loss.backward()
    state.optimizer.step()
    state.optimizer.clear_grad()
    state.optimizer._learning_rate.step()
    return float(loss)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    state = fresh()
    step(state)
    save_state(tmp_path / "last.safetensors", state, {})
    return tmp_path / "last.safetensors"


def test_a_loaded_state_goes_on_as_the_saved_one_does(tmp_path: Path) -> None:
    randomness.seed_all(5)
    state, path = fresh(), tmp_path / "last.safetensors"
    step(state)
    rows = [Row(1, 40, {"loss": 1 / 3}, best=True)]
    state.epoch, state.step, state.loss_sum, state.history = 2, 7, 0.1 + 0.2, list(rows)
    save_state(path, state, {"seed": "5"})
    expected = [step(state) for _ in range(5)]
    randomness.seed_all(99)
    with paddle.utils.unique_name.guard():
        other = fresh()
        load_state(path, other)
        continued = [step(other) for _ in range(5)]
    assert continued == expected
    assert (other.epoch, other.step, other.loss_sum, other.history) == (
        2,
        7,
        0.1 + 0.2,
        [Row(1, 40, {"loss": 1 / 3}, best=True)],
    )
    assert all(np.array_equal(weights(other.layer)[name], array) for name, array in weights(state.layer).items())


def test_random_numbers_go_on_where_they_were() -> None:
    import random

    def draw() -> list[float]:
        return [random.random(), random.gauss(0, 1), float(np.random.normal()), *paddle.randn([3]).tolist()]

    randomness.seed_all(1)
    draw()  # gauss and normal keep one number in reserve
    state = randomness.capture()
    expected = draw()
    draw()
    randomness.restore(state)
    assert draw() == expected


@pytest.mark.parametrize("cut", [0, 7, 100, -1])
def test_a_truncated_state_is_refused(cut: int, saved: Path) -> None:
    saved.write_bytes(saved.read_bytes()[:cut])
    with pytest.raises(UsageError, match="damaged") as caught:
        load_state(saved, fresh())
    assert caught.value.where == str(saved)


def test_a_flipped_bit_is_noticed_wherever_it_is(saved: Path) -> None:
    whole = saved.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    for at in (whole.index(b'\\"loss_sum\\"') + 3, start, (start + len(whole)) // 2, len(whole) - 1):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        saved.write_bytes(damaged)
        with pytest.raises(UsageError, match="damaged"):
            load_state(saved, fresh())


def test_a_state_of_another_optimizer_is_refused(saved: Path) -> None:
    with pytest.raises(UsageError, match="belongs to no parameter"):
        load_state(saved, fresh())  # its parameters count on: linear_2, not linear_0


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"weight": None}, "lacks weight"),
        ({"extra": np.zeros(1, "float32")}, "has also extra"),
        ({"weight": np.zeros((3, 2), "float32")}, "'weight' is float32[3, 2], the model's is float32[2, 3]"),
        ({"weight": np.zeros((2, 3), "float64")}, "'weight' is float64[2, 3]"),
    ],
)
def test_weights_must_fit(change: dict[str, np.ndarray | None], what: str) -> None:
    layer = nn.Linear(2, 3)
    found = {name: array for name, array in {**weights(layer), **change}.items() if array is not None}
    with pytest.raises(UsageError) as caught:
        set_weights(layer, found, "some.safetensors")
    assert what in caught.value.what
    assert caught.value.where == "some.safetensors"


def test_weights_go_into_the_layer(tmp_path: Path) -> None:
    one, other = tiny.Tiny(), tiny.Tiny()
    save(tmp_path / "weights.safetensors", weights(one), {"epoch": "3", "metric": "accuracy"})
    found, metadata = load_with_metadata(tmp_path / "weights.safetensors")
    set_weights(other, found, "weights.safetensors")
    assert metadata == {"epoch": "3", "metric": "accuracy"}
    assert all(np.array_equal(weights(other)[name], array) for name, array in weights(one).items())
