"""How many float32 runs e_ref is taken of, and what is moved in them: real Paddle."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
import pytest

from exporter.goldens.oracle import Truth, _moved_inputs, make_oracle
from exporter.goldens.truth import SPREAD
from exporter.numbers.allowance import MOST_RUNS
from exporter.numbers.golden import LARGEST_ALLOWANCE
from exporter.tensors import TensorMap


class Counted(paddle.nn.Layer):
    """A linear layer that counts its float32 runs."""

    runs = 0

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.body = paddle.nn.Linear(64, outputs)

    def forward(self, x: Any) -> Any:
        Counted.runs += x.dtype == paddle.float32
        return self.body(x)


class Weightless(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        return ((x - x.mean()) ** 2).mean()


@pytest.fixture(autouse=True)
def seeded() -> None:
    paddle.seed(0)
    Counted.runs = 0


def asked(layer: Any, inputs: TensorMap) -> Truth:
    layer.eval()
    _, truths, gate = make_oracle(layer, tuple(inputs), ("y",), 0).ask(inputs)
    assert not gate
    return truths["y"]


def normal(*shape: int) -> dict[str, Any]:
    return {"x": np.random.default_rng(0).standard_normal(shape).astype("float32")}


def test_one_number_has_more_runs_and_a_wider_tolerance() -> None:
    truth = asked(Counted(1), normal(1, 64))
    assert Counted.runs == MOST_RUNS + 1, "eager runs twice"
    assert 1.5 < truth.allowance < 2


def test_many_numbers_have_three_runs_and_no_allowance() -> None:
    truth = asked(Counted(2000), normal(4, 64))
    assert Counted.runs == 3 + 1 and truth.allowance == 1


def test_equal_rows_are_the_few_numbers_that_they_repeat() -> None:
    rows = {"x": np.repeat(normal(1, 64)["x"], 200, axis=0)}
    assert asked(Counted(2), rows).allowance > 1.2


def test_without_weights_inputs_are_moved_that_are_no_whole_numbers() -> None:
    truth = asked(Weightless(), normal(3, 40))
    assert truth.e_ref_max > 0 and truth.allowance < 2, "the runs differ, so they count"
    whole = {"x": np.arange(12, dtype="float32").reshape(3, 4) * np.float32(3)}
    assert asked(Weightless(), whole).allowance == LARGEST_ALLOWANCE, "nothing moved: all runs are one"


def test_masks_and_flags_are_never_moved() -> None:
    inputs = {
        "mask": np.array([[0, 1, 1]], "float32"),
        "bias": np.array([-1e4, -0.0, 7.0], "float32"),
        "ids": np.array([3, 4]),
        "x": np.array([0.5, 1.0, -2.25], "float32"),
    }
    moved = _moved_inputs(inputs, 0)
    assert all(np.array_equal(moved[name], inputs[name]) for name in ("mask", "bias", "ids"))
    assert (moved["x"] != inputs["x"]).tolist() == [True, False, True]
    assert np.abs(moved["x"] - inputs["x"]).max() <= np.spacing(np.float32(2.25))


class Extremes(paddle.nn.Layer):
    """A weight of infinities and of the largest numbers, beside ordinary ones."""

    def __init__(self) -> None:
        super().__init__()
        largest = float(np.finfo("float32").max)
        numbers = np.array([-np.inf, np.inf, largest, -largest, 0.0, 1.0] * 50, "float32")
        self.weight = self.create_parameter([300], default_initializer=paddle.nn.initializer.Assign(numbers))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x


def test_infinity_stays_and_the_largest_number_stays_finite_when_weights_are_moved() -> None:
    layer = Extremes()
    oracle = make_oracle(layer, ("x",), ("y",), 0)
    before = layer.weight.numpy()
    for form in oracle.moved:
        after = form.layer().weight.numpy()
        assert np.array_equal(np.isposinf(before), np.isposinf(after))
        assert np.array_equal(np.isneginf(before), np.isneginf(after))
        assert (after[before == 1] != 1).all() and (after[before == 0] != 0).all(), "the others are moved"


class Hidden(paddle.nn.Layer):
    """It rounds to float32 where Paddle's list of kernels does not see it: in numpy."""

    def __init__(self) -> None:
        super().__init__()
        self.body = paddle.nn.Linear(64, 200)

    def forward(self, x: Any) -> Any:
        inside = np.tanh(x.numpy().astype("float32")).astype(x.numpy().dtype)
        return self.body(paddle.to_tensor(inside))


def test_float32_that_no_kernel_shows_is_seen_by_the_second_difference_and_the_spread_takes_its_place() -> None:
    truth = asked(Hidden(), normal(4, 64))
    assert truth.method.startswith(f"{SPREAD} (float64: a second difference of ")
    assert "float64 with casts lifted: a second difference of " in truth.method
    assert asked(Counted(200), normal(4, 64)).method == "float64"


class Casting(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = paddle.nn.Linear(64, 200)

    def forward(self, x: Any) -> Any:
        return self.body(paddle.tanh(x.astype("float32")).astype(self.body.weight.dtype))


def test_casts_are_lifted_where_they_are_all_that_stands_against_float64() -> None:
    layer = Casting()
    oracle = make_oracle(layer, ("x",), ("y",), 0)
    layer.eval()
    for _ in range(2):
        _, truths, _ = oracle.ask(normal(4, 64))
        assert truths["y"].method == "float64 with casts lifted"
    (doubt,) = oracle.why_not
    assert doubt.startswith("float64: float32 in ") and "tanh" in doubt


class Noisy(paddle.nn.Layer):
    """Each run gives something else."""

    runs = 0

    def forward(self, x: Any) -> Any:
        Noisy.runs += 1
        return x + Noisy.runs


def test_eager_that_differs_from_run_to_run_has_a_gate() -> None:
    _, _, gate = make_oracle(Noisy(), ("x",), ("y",), 0).ask(normal(1, 8))
    assert gate == "eager gives other values when run twice: y"
