"""The controls of an agreement: which changes are tried, and what is said of those that would not be noticed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from exporter.steps import controls
from exporter.steps.base import VALUE, State
from exporter.steps.causes.base import Situation, Trial
from exporter.steps.chain import Chain, read_chain
from exporter.steps.compare import Measure
from exporter.steps.controls import controlled
from exporter.steps.replay import Replayed, replay

FLOAT: Any = {"cast": {"dtype": "float32"}}
SCALED: Any = {"normalize": {"scale": 0.5}}
FUNCTION = "no.such.module:function"
PICTURE = np.arange(24, dtype="uint8").reshape(2, 4, 3)
SMALL = PICTURE[:1]
#: What the function gave.
GIVEN: State = {VALUE: np.zeros(3)}


def chain_of(*steps: Any) -> Chain:
    return read_chain(steps)


def look(chain: Chain, *values: Any, given: Sequence[State] = ()) -> tuple[str, tuple[str, ...]]:
    """What the controls say of a chain that agrees on samples; `given` are the states behind its functions."""
    replayed = [replay(chain, {VALUE: value}, given) for value in values]
    assert not any(sample.error for sample in replayed)
    return controlled(chain, [sample.states for sample in replayed], replayed, Measure())


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The changes that the causes try: pairs of a cause and a trial; and the situations that they were told."""
    held: dict[str, Any] = {"trials": [], "situations": [], "ran": []}

    def trials(situation: Situation) -> Iterator[tuple[str, Trial]]:
        held["situations"].append(situation)
        yield from held["trials"]

    def again(trial: Trial, sample: Replayed) -> Replayed:
        held["ran"].append(trial)
        return replay(trial.chain, sample.states[trial.at], sample.states[: trial.at], trial.at)

    monkeypatch.setattr(controls, "trials", trials)
    monkeypatch.setattr(controls, "again", again)
    return held


def test_a_step_whose_absence_shows_is_proven(tried: dict[str, Any]) -> None:
    assert look(chain_of(SCALED, "layout"), PICTURE) == ("", ())
    assert len(tried["ran"]) == 2, "each step was left out"


def test_a_step_that_nothing_shows_is_named(tried: dict[str, Any]) -> None:
    assert look(chain_of(FLOAT, SCALED), PICTURE) == ("step 1 (cast)", ())
    assert look(chain_of(SCALED, FLOAT), PICTURE) == ("step 2 (cast)", ())


def test_one_sample_that_shows_it_is_enough(tried: dict[str, Any]) -> None:
    crop = {"crop": {"height": 1, "width": 4}}
    assert look(chain_of(crop), SMALL, PICTURE) == look(chain_of(crop), PICTURE, SMALL) == ("", ())
    assert look(chain_of(crop), SMALL, SMALL) == ("step 1 (crop)", ())


def test_the_smallest_sample_makes_the_changes(tried: dict[str, Any]) -> None:
    chain = chain_of(SCALED)
    look(chain, PICTURE, SMALL)
    (situation,) = tried["situations"]
    assert (situation.chain, situation.agreed, situation.training) == (chain, 0, ())
    assert [state[VALUE].shape for state in situation.states] == [(1, 4, 3)] * 2
    assert [state[VALUE].dtype.name for state in situation.wanted] == ["float32"]


def test_causes_that_would_not_show_are_noted(tried: dict[str, Any]) -> None:
    chain = chain_of(SCALED)
    same, other = Trial(chain, 0, "nothing"), Trial(chain_of("layout"), 0, "another")
    tried["trials"] = [("z_last", same), ("both", same), ("both", other), ("a_first", same), ("seen", other)]
    note = "the samples would not show a mistake of: a first, z last"
    assert look(chain, PICTURE) == ("", (note,))


def test_a_cause_that_shows_at_one_step_need_not_show_at_another(tried: dict[str, Any]) -> None:
    chain = chain_of(SCALED, FLOAT)
    tried["trials"] = [
        ("both", Trial(chain_of("layout", FLOAT), 0, "another")),
        ("both", Trial(chain, 1, "nothing")),
        ("one", Trial(chain_of(SCALED, "layout"), 1, "another")),
    ]
    assert look(chain, PICTURE) == ("", ())


def test_leaving_a_step_out_is_no_cause_that_is_noted(tried: dict[str, Any]) -> None:
    """It would not show; another size does."""
    chain = chain_of({"crop": {"height": 2, "width": 4}})
    tried["trials"] = [("crop", Trial(chain_of({"crop": {"height": 1, "width": 4}}), 0, "another"))]
    assert look(chain, PICTURE) == ("", ())


def test_a_dtype_at_the_end_shows(tried: dict[str, Any]) -> None:
    assert look(chain_of(FLOAT), PICTURE) == ("", ())


def test_a_change_that_shows_is_tried_once_for_each_cause(tried: dict[str, Any]) -> None:
    chain = chain_of(FLOAT)
    other = [Trial(chain_of("layout"), 0, str(at)) for at in range(4)]
    tried["trials"] = [("one", other[0]), ("one", other[1]), ("two", other[2]), ("two", other[3])]
    assert look(chain, PICTURE) == ("", ())
    assert [trial.said for trial in tried["ran"]] == ["step 1 (cast) left out", "0", "2"]


@pytest.mark.parametrize(("before", "named"), [(38, ""), (39, "step 1 (cast)")])
def test_forty_changes_of_a_step_are_tried(before: int, named: str, tried: dict[str, Any]) -> None:
    """The first is the one that leaves it out, and here shows nothing."""
    chain = chain_of(FLOAT, SCALED)
    tried["trials"] = [("c", Trial(chain, 0, "nothing"))] * before
    tried["trials"] += [("c", Trial(chain_of("layout", {"normalize": {"axis": "first"}}), 0, "another"))]
    assert look(chain, PICTURE)[0] == named


def test_a_step_more_is_no_change_of_a_step(tried: dict[str, Any]) -> None:
    chain = chain_of(*[SCALED] * 10)
    tried["trials"] = [("more", Trial(chain_of(*[SCALED] * 11), at, "one more")) for at in (3, 10)]
    tried["trials"] += [("behind", Trial(chain, 10, "at the end"))]
    look(chain, PICTURE)
    assert [trial.said for trial in tried["ran"]] == [f"step {at + 1} (normalize) left out" for at in range(10)]


class TestInFrontOfAFunction:
    """Nothing was recorded of what it would give: what it gets is compared."""

    def look(self, *steps: Any) -> str:
        chain = chain_of(*steps, FUNCTION, "sigmoid")
        given: list[State] = [{}] * (len(steps) + 1)
        return look(chain, PICTURE, given=[*given, GIVEN])[0]

    def test_what_it_gets_shows_the_change(self, tried: dict[str, Any]) -> None:
        assert self.look("layout") == ""
        assert self.look("layout", SCALED) == ""
        assert self.look(FLOAT) == "", "a dtype shows"

    def test_where_it_gets_the_same_nothing_shows(self, tried: dict[str, Any]) -> None:
        assert self.look({"crop": {"height": 2, "width": 4}}) == "step 1 (crop)"
        assert self.look(FLOAT, SCALED) == "step 1 (cast)"
        assert self.look(SCALED, FLOAT) == "step 2 (cast)"


def test_a_change_that_cannot_run_shows(tried: dict[str, Any]) -> None:
    chain = chain_of(FLOAT, SCALED)
    tried["trials"] = [("c", Trial(chain_of({"crop": {"height": 9, "width": 9}}, SCALED), 0, "too large"))]
    assert look(chain, PICTURE)[0] == ""
    tried["trials"] = [("c", Trial(chain_of(SCALED), 0, "nothing"))]
    assert look(chain, PICTURE)[0] == "step 1 (cast)"
    chain = chain_of(SCALED, {"crop": {"height": 2, "width": 4}})
    assert look(chain, PICTURE)[0] == "step 2 (crop)"
    tried["trials"] = [("c", Trial(chain_of(SCALED, {"crop": {"height": 9, "width": 9}}), 1, "too large"))]
    assert look(chain, PICTURE)[0] == "", "it stops at just the values that the chain ends in"
