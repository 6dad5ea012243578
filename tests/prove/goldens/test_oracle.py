"""How many float32 runs e_ref is taken of, and what is moved in them: real Paddle."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.numbers.allowance import ENOUGH, MOST_RUNS
from exporter.base.numbers.golden import LARGEST_ALLOWANCE, SPREAD
from exporter.base.tensors import TensorMap
from exporter.engines.base import EngineRefused
from exporter.prove.goldens import oracle as oracles
from exporter.prove.goldens.copies import moved as moved_copy
from exporter.prove.goldens.copies import wide
from exporter.prove.goldens.float64 import boxes_decoded, lifted
from exporter.prove.goldens.oracle import Truth, _Around, _moved_inputs, make_oracle
from exporter.prove.goldens.positions import exact_positions
from exporter.prove.goldens.truth import UNTOLD, measured


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
        with form.used() as copy:
            after = copy.weight.numpy()
        assert np.array_equal(np.isposinf(before), np.isposinf(after))
        assert np.array_equal(np.isneginf(before), np.isneginf(after))
        assert (after[before == 1] != 1).all() and (after[before == 0] != 0).all(), "the others are moved"


def test_what_cannot_be_copied_is_shared_by_the_copies() -> None:
    layer = Counted(3)
    layer.last, layer.lock = ContextVar("last", default=None), Lock()
    for twin in (wide(layer), moved_copy(layer, 1)):
        assert twin.last is layer.last and twin.lock is layer.lock
        assert twin.body.weight is not layer.body.weight


def test_of_a_large_layer_each_copy_is_made_once_for_all_cases() -> None:
    layer = paddle.nn.Sequential(paddle.nn.Linear(8, 8), paddle.nn.Tanh())
    layer.eval()
    draws = [np.random.default_rng(seed).normal(size=(3, 8)).astype("float32") for seed in range(3)]
    cases: list[TensorMap] = [{"x": value} for value in draws]
    plain = [make_oracle(layer, ("x",), ("y",), 0).ask(inputs) for inputs in cases]
    oracle = make_oracle(layer, ("x",), ("y",), 0, lean=True)
    made: list[str] = []
    for number, form in enumerate((*oracle.ways, *oracle.moved)):
        form.make = partial(_counted, form.make, made, f"copy {number}")
    oracle.ahead([*cases, {"x": np.zeros((3, 9), "float32")}])
    assert made == ["copy 0", "copy 4", "copy 5"], "what eager refuses takes no way from the others"
    answers = [oracle.ask(inputs) for inputs in cases]
    assert made == ["copy 0", "copy 4", "copy 5"] and len(plain) == len(answers)
    oracle.let_go()
    assert oracle.moved[1].place.layer is None and oracle.moved[1].layer() and made[3:] == ["copy 5"]
    for (eager, truths, gate), (again, others, doubt) in zip(plain, answers, strict=True):
        assert gate == doubt == "" and np.array_equal(eager["y"], again["y"])
        assert np.array_equal(truths["y"].value, others["y"].value) and truths["y"].method == others["y"].method
        assert (truths["y"].e_ref_max, truths["y"].e_ref_l2) == (others["y"].e_ref_max, others["y"].e_ref_l2)


def test_a_copy_that_refuses_some_inputs_ahead_says_so_when_it_is_asked() -> None:
    layer = paddle.nn.Linear(4, 4)
    layer.eval()
    oracle = make_oracle(layer, ("x",), ("y",), 0, lean=True)
    for form in oracle.moved:
        form.make = lambda: paddle.nn.Linear(5, 4)
    inputs: TensorMap = {"x": np.ones((2, 4), "float32")}
    oracle.ahead([inputs])
    with pytest.raises(EngineRefused):
        oracle.ask(inputs)


def test_of_a_small_layer_nothing_is_run_ahead() -> None:
    oracle = make_oracle(Counted(1), ("x",), ("y",), 0)
    oracle.ahead([normal(2, 64)])
    assert Counted.runs == 0 and not oracle._ahead


def test_a_copy_is_gone_before_the_next_one_takes_its_place() -> None:
    place = oracles._Place()
    seen: list[Any] = []

    def make() -> Any:
        seen.append((place.of, place.layer))
        return Weightless()

    first, second = oracles._Form(make, place), oracles._Form(make, place)
    assert first.layer() is first.layer() is not second.layer()
    assert seen == [(None, None), (None, None)] and place.of is second


def test_a_way_that_was_found_wanting_holds_no_copy() -> None:
    oracle = make_oracle(Hidden(), ("x",), ("y",), 0)
    ways = list(oracle.ways)
    _, truths, _ = oracle.ask(normal(4, 64))
    assert truths["y"].method.startswith(SPREAD) and not oracle.ways
    assert [(way.place.of, way.place.layer) for way in ways] == [(None, None)] * 2


class Divided(paddle.nn.Layer):
    """Rows of zeros have no answer."""

    def __init__(self) -> None:
        super().__init__()
        self.body = paddle.nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.body(x) / x.abs().sum(axis=-1, keepdim=True).sign()


@pytest.mark.parametrize("exact", [True, False])
def test_of_a_partial_case_the_rows_that_have_an_answer_are_measured(exact: bool) -> None:
    layer = Divided()
    layer.eval()
    inputs = normal(4, 4)
    inputs["x"][1] = 0
    oracle = make_oracle(layer, ("x",), ("y",), 0)
    if not exact:
        oracle.ways.clear()
    _, whole, _ = oracle.ask(inputs)
    _, part, _ = oracle.ask(inputs, partial=True)
    assert not np.isfinite(whole["y"].e_ref_max) and 0 < part["y"].e_ref_max < 1e-5
    assert np.isnan(part["y"].value[1]).all() and np.isfinite(part["y"].value[[0, 2, 3]]).all()
    assert (part["y"].method == "float64") is exact
    with paddle.no_grad():
        truth = wide(layer)(paddle.to_tensor(inputs["x"].astype("float64"))).numpy()[[0, 2, 3]]
    assert np.array_equal(part["y"].value[[0, 2, 3]], truth) is exact


def test_positions_are_exact_in_float64() -> None:
    """Such as those between which `interpolate` blends, which its kernel computes in float32."""
    plain, lifting = make_oracle(Weightless(), ("x",), ("y",), 0).ways
    assert isinstance(plain.around, _Around) and plain.around._contexts == (exact_positions, boxes_decoded)
    assert isinstance(lifting.around, _Around) and lifting.around._contexts == (exact_positions, boxes_decoded, lifted)


def _counted(make: Callable[[], Any], made: list[str], name: str) -> Any:
    made.append(name)
    return make()


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


class Routed(paddle.nn.Layer):
    """Which rows go on is undetermined where their scores are equal."""

    def forward(self, x: Any) -> Any:
        if x.shape[0] > 6:
            raise RuntimeError("too many rows")
        return x.gather(x.abs().sum(axis=1).topk(2)[1])


def test_eager_is_asked_for_both_choices_among_equals_of_the_case_before() -> None:
    oracle = make_oracle(Routed(), ("x",), ("y",), 0)
    distinct, equal = np.diag([4.0, 3, 2, 1]).astype("float32"), np.eye(4, dtype="float32")
    assert oracle.tied == frozenset()
    for x, tied in ((distinct, frozenset[str]()), (equal, frozenset({"topk"})), (distinct, frozenset[str]())):
        oracle.ask({"x": x})
        assert oracle.tied == tied and len(oracle.otherwise({"x": x})) == 2 * len(tied)
    oracle.ask({"x": equal})
    first, last = oracle.otherwise({"x": equal})
    np.testing.assert_array_equal(first["y"], equal[:2])
    np.testing.assert_array_equal(last["y"], equal[:1:-1])


@pytest.mark.parametrize("outputs", [1, 3, 6, 12, 25, 60])
def test_runs_are_doubled_until_the_allowance_is_small_enough(outputs: int) -> None:
    layer = Counted(outputs)
    truth = asked(layer, normal(1, 64))
    runs = 1 + len(truth.runs)
    assert Counted.runs == runs + 1 and runs in (3, 5, 9, MOST_RUNS)
    assert truth.allowance <= ENOUGH or runs == MOST_RUNS
    if runs > 3:
        eager = layer(paddle.to_tensor(normal(1, 64)["x"])).numpy()
        fewer = measured([eager, *truth.runs[: runs // 2]], truth.value, "float64")
        assert fewer.allowance > ENOUGH, "the last ones were needed"


class Both(Counted):
    """One output that the weights move and one that they do not, and a label."""

    def forward(self, x: Any) -> Any:
        y = super().forward(x)
        return y, ((x - x.mean()) ** 2).mean(), y.argmax(-1)


def test_where_one_output_is_still_the_inputs_move_for_all() -> None:
    layer = Both(1)
    layer.eval()
    names = ("y", "z", "label")
    _, truths, gate = make_oracle(layer, ("x",), names, 0).ask(normal(1, 64))
    assert not gate and truths["label"].method == "exact" and truths["label"].e_ref_max == 0
    assert truths["z"].e_ref_max > 0 and truths["z"].allowance < 2 and len(truths["z"].runs) == MOST_RUNS - 1
    assert any(not np.array_equal(truths["z"].runs[0], run) for run in truths["z"].runs)


class Threshold(paddle.nn.Layer):
    """What lies beyond a threshold is put out, so that a unit in the last place decides on the shape."""

    def __init__(self, weight: bool) -> None:
        super().__init__()
        self.gain = (
            self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(1.0)) if weight else 1.0
        )

    def forward(self, x: Any) -> Any:
        y = x * self.gain * 3.0
        beyond = y >= 0.30000001
        return paddle.masked_select(y, beyond), paddle.nonzero(beyond), y.sum()


@pytest.mark.parametrize("weight", [True, False], ids=["weights that move", "float64 alone"])
def test_where_rounding_decides_on_the_shape_there_is_no_truth(weight: bool) -> None:
    inputs = {"x": np.array([0.1, 0.3, -2.0], "float32")}
    eager, truths, gate = make_oracle(Threshold(weight), ("x",), ("over", "where", "sum"), 0).ask(inputs)
    assert gate == "rounding alone changes the shape of over, where"
    assert (truths["over"].method, truths["over"].e_ref_max, truths["over"].e_ref_l2) == (UNTOLD, np.inf, np.inf)
    assert truths["over"].value.dtype == "float64" and np.array_equal(truths["over"].value, eager["over"])
    assert (truths["where"].method, truths["where"].e_ref_max, truths["where"].e_ref_l2) == ("exact", 0.0, 0.0)
    assert np.array_equal(truths["where"].value, eager["where"])
    assert truths["sum"].method == "float64" and 0 <= truths["sum"].e_ref_max < 1e-5


class NoisyShape(Noisy):
    def forward(self, x: Any) -> Any:
        y = super().forward(x)
        return paddle.masked_select(y, y > 0.0)


def test_that_eager_differs_is_told_before_that_shapes_do() -> None:
    Noisy.runs = 0
    inputs = {"x": np.array([-3.5, 9.0], "float32")}
    _, _, gate = make_oracle(NoisyShape(), ("x",), ("y",), 0).ask(inputs)
    assert gate == "eager gives other values when run twice: y"


def test_trying_out_runs_eager_once() -> None:
    layer = Counted(2)
    oracle = make_oracle(layer, ("x",), ("y",), 0)
    oracle.try_out(normal(1, 64))
    assert Counted.runs == 1
    with pytest.raises(EngineRefused):
        oracle.try_out(normal(1, 63))


class Typed(paddle.nn.Layer):
    """Ids choose rows, in float64 too; counts what it was given."""

    seen: list[tuple[str, str]] = []  # noqa: RUF012 - a record of the test

    def __init__(self) -> None:
        super().__init__()
        self.table = paddle.nn.Embedding(9, 200)

    def forward(self, ids: Any, x: Any) -> Any:
        Typed.seen.append((str(ids.dtype), str(x.dtype)))
        return self.table(ids) * x


def test_whole_numbers_stay_what_they_are_in_float64_and_it_is_proven_once() -> None:
    Typed.seen.clear()
    oracle = make_oracle(Typed(), ("ids", "x"), ("y",), 0)
    inputs = {"ids": np.array([3, 4]), "x": normal(1, 200)["x"]}
    _, truths, _ = oracle.ask(inputs)
    assert truths["y"].method == "float64" and {ids for ids, _ in Typed.seen} == {"paddle.int64"}
    first = Typed.seen.count(("paddle.int64", "paddle.float64"))
    oracle.ask(inputs)
    assert Typed.seen.count(("paddle.int64", "paddle.float64")) == first + 1 > 3, "the first time it was proven as well"


class Mixed(paddle.nn.Layer):
    """Weights and buffers of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.body = paddle.nn.BatchNorm1D(4), paddle.nn.Linear(4, 500)
        self.register_buffer("ids", paddle.arange(3))
        self.register_buffer("gain", paddle.full([1], 0.1, "float32"))

    def forward(self, x: Any) -> Any:
        return self.body(self.norm(x))


def test_the_wide_copy_is_in_float64_but_for_whole_numbers_and_evaluates() -> None:
    layer = Mixed()
    exact = wide(layer)
    assert {str(value.dtype) for name, value in exact.state_dict().items() if name != "ids"} == {"paddle.float64"}
    assert str(exact.ids.dtype) == "paddle.int64" and not exact.training and not exact.norm.training
    assert exact.gain.numpy()[0] == np.float64(np.float32(0.1))
    assert layer.training and str(layer.body.weight.dtype) == "paddle.float32", "the layer itself stays what it is"


def test_the_moved_copy_has_each_weight_one_ulp_off_to_either_side_and_evaluates() -> None:
    layer = Mixed()
    before, moved = layer.body.weight.numpy(), moved_copy(layer, 7)
    after = moved.body.weight.numpy()
    assert np.array_equal(
        np.abs(after - before),
        np.abs(np.nextafter(before, np.where(after > before, np.inf, -np.inf).astype("float32")) - before),
    )
    assert 0.45 < (after > before).mean() < 0.55 and (after != before).all()
    assert not moved.training and layer.training and np.array_equal(layer.body.weight.numpy(), before)
    assert np.array_equal(moved_copy(layer, 7).body.weight.numpy(), after)
    assert not np.array_equal(moved_copy(layer, 8).body.weight.numpy(), after)


def test_weights_of_whole_numbers_stay_when_the_others_are_moved() -> None:
    layer = paddle.nn.Linear(3, 2)
    codes = np.array([-128, 0, 7], "int8")
    layer.codes = layer.create_parameter([3], dtype="int8", default_initializer=paddle.nn.initializer.Assign(codes))
    moved = moved_copy(layer, 0)
    assert moved.codes.numpy().dtype == "int8" and np.array_equal(moved.codes.numpy(), codes)
    assert (moved.weight.numpy() != layer.weight.numpy()).all()


def test_inputs_go_to_either_side_as_often() -> None:
    value = np.random.default_rng(0).standard_normal(2000).astype("float32")
    after = _moved_inputs({"x": value}, 3)["x"]
    assert after.dtype == "float32" and 0.45 < (after > value).mean() < 0.55 and (after != value).all()
    assert np.array_equal(after, np.nextafter(value, np.where(after > value, np.inf, -np.inf).astype("float32")))


@pytest.mark.parametrize(
    ("affordable", "further", "kept"),
    [
        (64_000_000, 14, True),
        (640, 9, True),
        (130, 2, True),
        (129, 2, False),
        (65, 2, False),
        (60, 2, False),
        (1, 2, False),
    ],
)
def test_of_a_large_layer_there_are_two_more_copies_made_for_each_case(
    monkeypatch: pytest.MonkeyPatch, affordable: int, further: int, kept: bool
) -> None:
    """This one has 65 numbers."""
    assert oracles.AFFORDABLE == 64_000_000
    monkeypatch.setattr(oracles, "AFFORDABLE", affordable)
    layer = Counted(1)
    oracle = make_oracle(layer, ("x",), ("y",), 40)
    assert len(oracle.further) == further and len(oracle.moved) == 2
    for number, form in enumerate((*oracle.moved, *oracle.further), start=1):
        with form.used() as copy:
            after = copy.body.weight.numpy()
        assert np.array_equal(after, moved_copy(layer, 40 + number).body.weight.numpy())
    assert [form.layer() for form in oracle.further] == [form.layer() for form in oracle.further] or not kept
    assert (len({form.place for form in oracle.further}) == 1) is not kept
    assert (oracle.moved[0].place is oracle.ways[0].place) is (affordable < 65)
    lean = make_oracle(layer, ("x",), ("y",), 40, lean=True)
    assert len({form.place for form in (*lean.moved, *lean.further, *lean.ways)}) == 1, "one copy at a time"
    first = lean.moved[0].layer()
    assert first is lean.moved[0].layer() and lean.moved[1].layer() is not first and lean.moved[0].layer() is not first
    assert len(make_oracle(Weightless(), ("x",), ("y",), 0).further) == min(14, max(2, affordable))


def test_what_is_lifted_may_be_lifted_again() -> None:
    lifting, value = _Around(lifted), paddle.to_tensor(np.full(2, 0.1))
    for _ in range(2):
        with lifting:
            assert value.astype("float32").dtype == paddle.float64
        assert value.astype("float32").dtype == paddle.float32


class Brink(paddle.nn.Layer):
    """What lies on a threshold is kept where the weight is moved up, and left out where it is moved down."""

    def __init__(self, *kept: str, level: float = 1.0) -> None:
        super().__init__()
        self.kept, self.level = kept, level
        self.gain = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(1.0))

    def forward(self, x: Any) -> Any:
        y = x * self.gain
        over = y >= self.level
        outputs = {"sum": y.sum(), "over": paddle.masked_select(y, over), "where": paddle.nonzero(over)}
        return [outputs[name] for name in self.kept]

    def asked(self, seed: int) -> tuple[dict[str, Truth], str]:
        """What the oracle says of these outputs."""
        _, truths, gate = make_oracle(self, ("x",), self.kept, seed).ask({"x": np.array([1.0, 3.7], "float32")})
        return truths, gate


def seed_with(*sides: bool) -> int:
    """A seed by which the weight of `Brink` goes up (True) or down in the first copies."""
    layer = Brink()
    made = (seed for seed in range(99) if all(_up(layer, seed + step) is up for step, up in enumerate(sides, start=1)))
    return next(made)


def _up(layer: Brink, seed: int) -> bool:
    return bool(moved_copy(layer, seed).gain.item() > 1)


def test_a_shape_that_moved_weights_alone_change_has_no_truth() -> None:
    for sides in ((False, True), (True, False)):
        truths, gate = Brink("sum", "over", "where").asked(seed_with(*sides))
        assert gate == "rounding alone changes the shape of over, where"
        assert truths["over"].method == UNTOLD and truths["sum"].method.startswith(SPREAD)
    above = 1 + 2.0**-23.5  # weights go up to 1 + 2^-23, and no step of the proof as far
    for sides in ((False, True), (True, False)):
        truths, gate = Brink("sum", "over", level=above).asked(seed_with(*sides))
        assert gate == "rounding alone changes the shape of over"
        assert truths["over"].method == UNTOLD and truths["sum"].method == "float64"


def test_a_further_run_counts_where_floats_keep_their_shape() -> None:
    """Whole numbers are compared as they are: that rounding changes how many there are costs the floats no run."""
    seed = seed_with(True, True, False)
    up = sum(_up(Brink(), seed + step) for step in range(3, MOST_RUNS))
    assert 0 < up < MOST_RUNS - 3
    truths, gate = Brink("sum", "over").asked(seed)
    assert not gate and {run.shape for run in truths["over"].runs} == {(2,)}
    assert len(truths["sum"].runs) == len(truths["over"].runs) == 2 + up, "a run is left out as a whole"
    truths, gate = Brink("sum", "where").asked(seed)
    assert not gate and len(truths["sum"].runs) == MOST_RUNS - 1


class Watched(Counted):
    """It keeps what it was given in float32."""

    given: list[Any] = []  # noqa: RUF012 - a record of the test

    def forward(self, x: Any) -> Any:
        if x.dtype == paddle.float32:
            Watched.given.append(x.numpy())
        return super().forward(x)


def test_where_weights_move_the_output_the_inputs_stay() -> None:
    Watched.given.clear()
    asked(Watched(1), normal(1, 64))
    assert len(Watched.given) == MOST_RUNS + 1
    assert all(np.array_equal(given, normal(1, 64)["x"]) for given in Watched.given)


class Narrow(Counted):
    """It takes float32 only."""

    def forward(self, x: Any) -> Any:
        if x.dtype != paddle.float32:
            raise ValueError("float32 alone")
        return super().forward(x)


def test_a_layer_that_refuses_float64_is_measured_by_the_spread_and_says_why() -> None:
    truth = asked(Narrow(200), normal(4, 64))
    assert truth.method == (
        f"{SPREAD} (float64: ValueError: float32 alone; float64 with casts lifted: ValueError: float32 alone)"
    )


@pytest.mark.parametrize(("slope", "proven"), [(1.0198, True), (1.0206, False)])
def test_a_second_difference_up_to_the_limit_is_smooth(slope: float, proven: bool) -> None:
    """A kink of this slope, where the inputs stand, has a ratio of nearly `slope - 1`; the limit is 0.02."""

    class Kink(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.where(x > 1, 1 + slope * (x - 1), x)

    truth = asked(Kink(), {"x": np.ones((4, 50), "float32")})
    assert (truth.method == "float64") == proven and truth.method.startswith("float64" if proven else SPREAD)


def test_the_truth_is_what_float64_gives() -> None:
    layer, inputs = Counted(200), normal(4, 64)
    weight, bias = (value.numpy().astype("float64") for value in (layer.body.weight, layer.body.bias))
    assert np.allclose(asked(layer, inputs).value, inputs["x"].astype("float64") @ weight + bias, rtol=0, atol=1e-13)


class Narrowing(paddle.nn.Layer):
    """Compute three rows in float32, whatever comes."""

    def forward(self, x: Any) -> Any:
        if x.shape[0] == 3:
            return paddle.tanh(x.astype("float32")).astype(x.dtype) * 2
        return paddle.tanh(x) * 2


class TestSteps:
    """Several runs in float64 make one answer, so all of them take one way."""

    def steps(self, layer: Any, *rows: int) -> tuple[list[list[Any]], Any, str]:
        """What every turn of the steps gave, the result, and how it came to be."""
        layer.eval()
        turns: list[list[Any]] = []

        def run_all(run: Any) -> list[Any]:
            turns.append([])
            for count in rows:
                turns[-1].append(run(normal(count, 64))["y"])
            return turns[-1]

        return turns, *make_oracle(layer, ("x",), ("y",), 0).exactly(run_all)

    def test_they_run_once_where_the_first_way_is_true(self) -> None:
        turns, result, method = self.steps(Narrowing(), 2, 4)
        assert method == "float64" and len(turns) == 1 and result is turns[0]
        for rows, value in zip((2, 4), result, strict=True):
            assert value.dtype == "float64"
            assert np.allclose(value, 2 * np.tanh(normal(rows, 64)["x"].astype("float64")), rtol=0, atol=1e-14)

    def test_they_run_anew_where_a_step_finds_the_way_wanting(self) -> None:
        turns, result, method = self.steps(Narrowing(), 2, 3)
        assert method == "float64 with casts lifted" and len(turns) == 2 and result is turns[1]
        assert np.allclose(result[1], 2 * np.tanh(normal(3, 64)["x"].astype("float64")), rtol=0, atol=1e-14)

    def test_without_a_true_way_there_is_no_result(self) -> None:
        turns, result, method = self.steps(Narrow(5), 2)
        assert result is None and method.startswith(f"{SPREAD} (float64: ValueError: float32 alone; ")
        assert turns[0] == []


def test_every_form_with_moved_weights_is_a_run() -> None:
    layer = Counted(5)
    layer.eval()
    made = make_oracle(layer, ("x",), ("y",), 0)
    plain = made.answer(normal(4, 64))["y"]
    answers = [run(normal(4, 64))["y"] for run in made.moved_runs()]
    assert len(answers) == len(made.moved) + len(made.further) > 3
    assert all(np.allclose(answer, plain, atol=1e-4) and (answer != plain).any() for answer in answers)
    made.try_out(normal(4, 64))


class Priors(paddle.nn.Layer):
    """Boxes relative to priors that stand in the code; in float64 Paddle ends the process at them."""

    def forward(self, x: Any) -> Any:
        priors = paddle.to_tensor([[0.1, 0.1, 0.5, 0.6], [0.2, 0.3, 0.8, 0.9]])
        return paddle.vision.ops.box_coder(priors, [0.1, 0.1, 0.2, 0.2], x, "decode_center_size", axis=0)


def test_constants_beside_inputs_in_float64_end_no_process() -> None:
    inputs = {"x": np.random.default_rng(0).uniform(0.1, 1, (3, 2, 4)).astype("float32")}
    _, truths, gate = make_oracle(Priors(), ("x",), ("y",), 0).ask(inputs)
    assert truths["y"].method == "float64 with casts lifted"
    assert truths["y"].e_ref_max < 1e-6
    assert not gate
