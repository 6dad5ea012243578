"""The causes of a difference: the changes that each tries, of the steps that it knows, on the values that it sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from exporter.steps.base import VALUE
from exporter.steps.causes.base import Situation, Trial, channels_of
from exporter.steps.causes.kinds.fitted_scaling import scaling
from exporter.steps.chain import data_of, read_chain
from exporter.steps.search import CAUSES

#: Of each cause chains with the values before their steps, and what it tries: `STEP` for options, `- STEP` for a step
#: left out, `+ STEP` for one more, all with the place; and what training gave, `?` where that was not recorded.
TRIED: dict[str, list[dict[str, Any]]] = yaml.safe_load(Path(__file__).with_name("causes.yaml").read_text())


def array(text: str) -> Any:
    """`uint8 2x3`: the numbers from 0 on."""
    dtype, _, sizes = text.partition(" ")
    shape = [int(size) for size in sizes.split("x")] if sizes else []
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def situation(
    chain: Sequence[Any],
    states: Sequence[str] = (),
    wanted: Sequence[str] = (),
    agreed: int = 0,
    training: Sequence[Any] = (),
) -> Situation:
    """A chain on one sample, by the forms of its values."""
    before, behind = ([{} if form == "?" else {VALUE: array(form)} for form in forms] for forms in (states, wanted))
    return Situation(read_chain(chain), agreed, before, behind, read_chain(training))


def told(trial: Trial, chain: Sequence[Any]) -> str:
    """A trial as `causes.yaml` says it; of other options those that are other."""
    was, now = data_of(read_chain(chain)), data_of(trial.chain)
    if len(now) < len(was):
        return f"{trial.at} - {_name(was[trial.at])}"
    if len(now) > len(was):
        return f"{trial.at} + {_said(now[trial.at])}"
    places = [at for at in range(len(now)) if was[at] != now[at]]
    if len(places) == 2:
        return f"{trial.at} {_name(now[trial.at])} before {_name(now[trial.at + 1])}"
    assert places == [trial.at]
    old, new = was[trial.at], now[trial.at]
    if _name(old) != _name(new) or trial.said.startswith("`"):
        return f"{trial.at} {_said(new)}"
    given = old[_name(old)] if isinstance(old, dict) else {}
    other = {key: value for key, value in new[_name(new)].items() if key not in given or given[key] != value}
    return f"{trial.at} {_said({_name(new): other})}"


def _name(entry: Any) -> str:
    return str(entry if isinstance(entry, str) else next(iter(entry)))


def _said(entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    ((name, options),) = entry.items()
    return f"{name} " + ", ".join(f"{key}={_short(value)}" for key, value in options.items())


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"[{', '.join(map(_short, value))}]" if isinstance(value, list) else str(value)


@pytest.mark.parametrize("name", TRIED)
def test_a_cause_tries_the_mistakes_that_it_knows(name: str) -> None:
    for case in TRIED[name]:
        tried = case["tried"]
        given = {key: value for key, value in case.items() if key != "tried"}
        assert [told(trial, case["chain"]) for trial in CAUSES[name].trials(situation(**given))] == tried


def test_every_cause_is_among_them() -> None:
    assert set(TRIED) | {"fitted_scaling", "resize_rule"} == set(CAUSES.names())


def test_what_says_most_comes_first() -> None:
    ranks = {name: cause.rank for name, cause in CAUSES.all()}
    assert {rank: {name for name, own in ranks.items() if own == rank} for rank in (2, 3, 4, 5)} == {
        2: {"colours", "crop", "mean_and_std", "order_of_steps", "padding"},
        3: {"resize_rule", "step_too_much"},
        4: {"fitted_scaling"},
        5: {"step_of_training"},
    }
    assert {rank for rank in ranks.values() if rank not in (2, 3, 4, 5)} == {1}


def test_of_a_long_text_the_first_numbers_are_tried() -> None:
    chain = [{"tokenize": {"vocabulary": ["a", "b"]}}]
    tried = [told(trial, chain) for trial in CAUSES["tokenizer"].trials(situation(chain, wanted=["int64 300"]))]
    for said in ("0 tokenize unknown={}", "0 tokenize before=[], after=[{}]", "0 tokenize before=[0], after=[{}]"):
        assert (said.format(255) in tried, said.format(256) in tried) == (True, False), said


class TestResizeRule:
    def tried(self, chain: Any, states: Sequence[str], wanted: Sequence[str], agreed: int = 0) -> list[str]:
        trials = CAUSES["resize_rule"].trials(situation(chain, states, wanted, agreed))
        return [told(trial, chain) for trial in trials]

    def rules(self, sizes: Sequence[tuple[int, int]], sides: Sequence[int], kept: str = "") -> Iterator[str]:
        """Every rule, with the sizes of training's pictures and with the sides that there may have been."""
        for height, width in [*sizes, *((side, side) for side in sides)]:
            for rule in ("exact", "fit", "within", "line"):
                yield f"0 resize rule={rule}, height={height}, width={width}{kept}"
        for side in sides:
            for rule in ("short", "long", "at_least", "at_most"):
                yield f"0 resize rule={rule}, size={side}{kept}"

    def test_every_rule_is_tried_with_the_sizes_of_training_and_common_ones(self) -> None:
        chain: list[Any] = [{"resize": {"height": 4, "width": 6}}]
        tried = self.tried(chain, ["uint8 5x6x3", "uint8 4x6x3"], ["uint8 28x36x3", "?", "float32 3x28x36", "int64 5"])
        options = ["height=6, width=4", "multiple_of=32", "tracks=True", "rounding=down"]
        sides = [4, 6, 28, 36, 256, 224, 320, 640, 32, 35, 41, 40, 45]  # 28 and 36 by 8/7, 9/8 and 5/4
        assert sorted(tried) == sorted(
            [
                *(f"0 resize {option}" for option in options),
                *self.rules([(28, 36)], sides),
                *(f"{at} + resize height=28, width=36" for at in (0, 1)),
            ]
        )
        assert [trial.partition(" ")[2] for trial in tried[:4]] == [f"resize {option}" for option in options]

    def test_what_has_nothing_to_do_with_the_size_is_kept(self) -> None:
        kept = {"interpolation": "nearest", "library": "pillow", "tracks": True}
        chain: list[Any] = [{"resize": {"rule": "short", "size": 9, "rounding": "down", **kept}}]
        tried = self.tried(chain, ["float32 5x6x3"], [])
        options = ["multiple_of=32", "tracks=False", "rounding=nearest"]
        assert tried[:3] == [f"0 resize {option}" for option in options]
        said = ", interpolation=nearest, library=pillow, tracks=True"
        assert sorted(tried[3:]) == sorted(self.rules([], [9, 256, 224, 320, 640], said))

    def test_a_resize_is_added_only_where_there_is_a_picture_with_its_channels_behind(self) -> None:
        tried = self.tried(["decode"], ["uint8 9", "uint8 5x6x3", "float32 3x5x6", "int64 5"], ["float32 3x28x36"])
        assert [trial for trial in tried if "+" in trial] == ["1 + resize height=28, width=36"]

    def test_behind_a_change_of_the_layout_no_rule_is_tried(self) -> None:
        """The shorter side of [3, 20, 30] made 640 takes a gigabyte, and the order of the steps is what is wrong."""
        chain: list[Any] = ["layout", {"resize": {"height": 16, "width": 16}}]
        tried = self.tried(chain, ["uint8 20x30x3", "uint8 3x20x30"], [])
        assert tried == [f"1 resize {option}" for option in ("multiple_of=32", "tracks=True", "rounding=down")]

    def test_where_the_chain_did_not_run_as_far_every_rule_is_tried(self) -> None:
        chain: list[Any] = ["layout", {"resize": {"height": 16, "width": 16}}]
        assert any("1 resize rule=short" in trial for trial in self.tried(chain, ["uint8 20x30x3"], []))

    def test_a_multiple_is_changed_where_there_is_one(self) -> None:
        chain: list[Any] = [{"resize": {"rule": "within", "height": 64, "width": 64, "multiple_of": 32}}]
        assert "0 resize multiple_of=1" in self.tried(chain, [], [])
        assert "0 resize multiple_of=32" not in self.tried(chain, [], [])


class TestFittedScaling:
    VALUE_ = np.random.default_rng(0).random((4, 5, 3)) * 200
    MEAN, STD = np.array([10.0, -20.0, 0.5]), np.array([2.0, 0.25, 50.0])

    @pytest.mark.parametrize("axis", ["last", "first"])
    def test_it_is_the_one_that_makes_training_of_the_values(self, axis: str) -> None:
        value, target = self.VALUE_, (self.VALUE_ - self.MEAN) / self.STD
        if axis == "first":
            value, target = value.transpose(2, 0, 1), target.transpose(2, 0, 1)
        fitted = scaling(value, target)
        assert fitted is not None
        assert [*fitted[0], *fitted[1]] == pytest.approx([*self.MEAN, *self.STD], rel=1e-5)

    @pytest.mark.parametrize("size", [16, 17])
    def test_more_than_sixteen_columns_are_no_channels(self, size: int) -> None:
        value = np.random.default_rng(0).random((50, size))
        assert (scaling(value, value * 2 + 1) is None) == (size == 17)

    @pytest.mark.parametrize(
        ("value", "target"),
        [
            (VALUE_, -VALUE_),
            (VALUE_, VALUE_ * 0),
            (VALUE_, VALUE_[:3]),
            (VALUE_[:, 0, 0], VALUE_[:, 0, 0] * 2),
            (VALUE_[:0], VALUE_[:0]),
            (VALUE_[0, 0, 0], VALUE_[0, 0, 0]),
            (VALUE_ * 0 + 7, VALUE_),
            (VALUE_ * [1, 0, 1], VALUE_),
            (VALUE_, VALUE_ * [1, 1, -1]),
            (np.where(VALUE_[0, 0, 0] == VALUE_, np.inf, VALUE_), VALUE_),
            (VALUE_, np.where(VALUE_[0, 0, 0] == VALUE_, np.nan, VALUE_)),
            (VALUE_, np.where(VALUE_[0, 0, 0] == VALUE_, VALUE_ + 0.02, VALUE_)),
        ],
        ids=[
            "negative",
            "zero",
            "shape",
            "one_axis",
            "empty",
            "no_axis",
            "constant",
            "one_constant",
            "one_negative",
            "infinite",
            "nan",
            "no_line",
        ],
    )
    def test_where_there_is_none_nothing_is_tried(self, value: Any, target: Any) -> None:
        assert scaling(value, target) is None

    def test_rounding_is_no_other_line(self) -> None:
        target = (self.VALUE_ / 255).astype("float32")
        fitted = scaling(self.VALUE_, target)
        assert fitted is not None and fitted[1] == pytest.approx([255.0] * 3, rel=1e-6)
        assert scaling(self.VALUE_, target.astype("float16")) is None

    @pytest.mark.parametrize(("residue", "fits"), [(0.95e-5, True), (1.02e-5, False)])
    def test_what_is_off_the_line_is_a_hundred_thousandth_of_the_deviation(self, residue: float, fits: bool) -> None:
        """Of values around 500, whose deviation is 100."""
        value, beside = np.float64([[1], [-1], [1], [-1]]), np.float64([[1], [1], [-1], [-1]])
        assert (scaling(value, 500 + 100 * (value + residue * beside)) is not None) == fits

    def test_it_takes_the_place_of_a_scaling_or_is_one_more(self) -> None:
        chain: list[Any] = ["layout", {"normalize": {"scale": 0.5, "mean": [3]}}]
        target = np.arange(60.0).reshape(3, 4, 5) / 2 - 1
        given = situation(chain, ["uint8 4x5x3", "uint8 3x4x5", "float32 3x4x5"])
        given = Situation(given.chain, 1, given.states, [{}, {VALUE: target}], ())
        fitted = "mean=[2, 2, 2], std=[2, 2, 2], axis=first"
        assert [told(trial, chain) for trial in CAUSES["fitted_scaling"].trials(given)] == [
            f"1 normalize scale=1, {fitted}",
            f"1 + normalize {fitted}",
            f"2 + normalize {fitted}",
        ]
        targets = [{VALUE: self.VALUE_}, {VALUE: self.VALUE_[0] / 2}]
        rows = Situation(read_chain([]), 0, [{VALUE: self.VALUE_[0]}], targets, ())
        ((trial),) = CAUSES["fitted_scaling"].trials(rows)
        assert told(trial, []).endswith("axis=last")


class TestSituation:
    CHAIN: tuple[Any, ...] = ("layout", {"normalize": {"scale": 0.5, "mean": [1, 2, 3, 4, 5]}}, "a:b", "layout")

    def test_steps_that_agree_or_are_the_users_are_not_to_blame(self) -> None:
        given = situation(self.CHAIN, agreed=1)
        assert [at for at, _ in given.steps("layout", "normalize")] == [1, 3]
        assert [at for at, _ in given.steps("layout")] == [3]
        assert [at for at, _ in situation(self.CHAIN).steps("layout")] == [0, 3]
        assert list(given.steps("a:b")) == []

    def test_a_step_more_may_stand_wherever_the_chain_came(self) -> None:
        states = [f"uint8 {at + 1}" for at in range(6)]
        assert [(at, value.size) for at, value in situation(self.CHAIN, states).places()] == [
            (at, at + 1) for at in range(5)
        ]
        assert [at for at, _ in situation(self.CHAIN, states[:3], agreed=1).places()] == [1, 2]

    def test_what_was_not_recorded_is_no_target(self) -> None:
        given = situation(self.CHAIN, wanted=["uint8 2", "?", "uint8 3"])
        assert [target.size for target in given.targets()] == [2, 3]

    def said(self, trials: Iterator[Trial]) -> list[tuple[str, int, int]]:
        return [(trial.said, trial.at, trial.edit) for trial in trials]

    def test_other_options_are_told_with_those_that_they_replace(self) -> None:
        given = situation(self.CHAIN)
        (trial,) = given.changed(1, scale=1 / 3, mean=[0.5], axis="last")
        assert (trial.at, trial.edit) == (1, 0)
        assert trial.said == (
            "scale=0.333333 instead of 0.5, mean=[0.5] instead of [1, 2, 3, 4, …] in step 2 (normalize)"
        )
        assert data_of(trial.chain) == [
            "layout",
            {"normalize": {"scale": 1 / 3, "mean": [0.5], "axis": "last"}},
            "a:b",
            "layout",
        ]

    def test_short_words_for_what_is_no_number(self) -> None:
        given = situation([{"tokenize": {"vocabulary": ["a"]}}])
        assert self.said(given.changed(0, lower=True, unknown=0)) == [
            ("lower=true instead of false, unknown=0 instead of none in step 1 (tokenize)", 0, 0)
        ]
        assert self.said(situation([{"labels": {"names": ["Cat"]}}]).changed(0, names=("Dog",))) == [
            ("names=[Dog] instead of [Cat] in step 1 (labels)", 0, 0)
        ]
        assert self.said(situation([{"normalize": {"mean": [1, 2, 3, 4]}}]).changed(0, mean=0.0)) == [
            ("mean=[0] instead of [1, 2, 3, 4] in step 1 (normalize)", 0, 0)
        ]

    def test_options_that_do_not_fit_or_are_the_same_change_nothing(self) -> None:
        given = situation(self.CHAIN)
        assert list(given.changed(1, scale=-1.0)) == list(given.changed(1, scale=0.5)) == []
        assert list(given.changed(2, scale=0.5)) == [], "a function has none that are known"

    def test_another_step_takes_the_place_of_one(self) -> None:
        given = situation(self.CHAIN)
        (trial,) = given.instead(1, "crop", height=2, width=3)
        assert self.said(iter([trial])) == [("`crop: {height: 2, width: 3}` instead of step 2 (normalize)", 1, 0)]
        assert [str(link) for link in trial.chain] == ["layout", "crop", "a:b", "layout"]
        assert list(given.instead(1, "crop", height=0)) == list(given.instead(0, "layout")) == []

    def test_a_step_more_stands_before_another_or_at_the_end(self) -> None:
        given = situation(self.CHAIN)
        before, end = [*given.inserted(3, "sigmoid"), *given.inserted(4, "sigmoid")]
        assert self.said(iter([before, end])) == [
            ("`sigmoid` before step 4 (layout)", 3, 2),
            ("`sigmoid` at the end", 4, 2),
        ]
        assert [str(link) for link in before.chain] == ["layout", "normalize", "a:b", "sigmoid", "layout"]
        assert [str(link) for link in end.chain] == ["layout", "normalize", "a:b", "layout", "sigmoid"]
        assert list(given.inserted(0, "crop", height=0)) == []

    def test_a_step_is_left_out_or_changes_places_with_the_next(self) -> None:
        given = situation(self.CHAIN)
        (left_out,), (moved,) = given.removed(2), given.moved(0)
        assert self.said(iter([left_out])) == [("step 3 (a:b) left out", 2, 1)]
        assert [str(link) for link in left_out.chain] == ["layout", "normalize", "layout"]
        assert self.said(iter([moved])) == [("step 2 (normalize) before step 1 (layout)", 0, 1)]
        assert [str(link) for link in moved.chain] == ["normalize", "layout", "a:b", "layout"]
        assert len(list(given.moved(2))) == 1 and list(given.moved(3)) == []
        ((last),) = given.moved(2)
        assert [str(link) for link in last.chain] == ["layout", "normalize", "layout", "a:b"]

    @pytest.mark.parametrize(
        ("form", "where"),
        [
            ("uint8 4x5x3", "last"),
            ("uint8 3x4x5", "first"),
            ("uint8 1x9x9", "first"),
            ("uint8 4x9x9", "first"),
            ("uint8 3x4x1", "last"),
            ("uint8 9x9x4", "last"),
            ("uint8 9x9x2", ""),
            ("uint8 2x9x9", ""),
            ("uint8 5x9x9", ""),
            ("uint8 9x3", ""),
            ("uint8 3x3x9x9", ""),
        ],
    )
    def test_channels_are_few(self, form: str, where: str) -> None:
        assert channels_of(array(form)) == where
