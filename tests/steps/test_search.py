"""The search for the causes of a difference: its order, its limits, and what it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import EnvironmentLacks
from exporter.steps import search
from exporter.steps.base import VALUE, State
from exporter.steps.causes.base import Situation, Trial
from exporter.steps.chain import Chain, read_chain, steps_of
from exporter.steps.compare import Measure
from exporter.steps.replay import Replayed, replay
from exporter.steps.search import Causes, again, likely_causes, size, trials

RAW = np.arange(1.0, 7.0, dtype="float32").reshape(1, 2, 3)


def scaled(*scales: float) -> Chain:
    return read_chain([{"normalize": {"scale": scale}} for scale in scales])


def states(chain: Chain, value: Any) -> list[State]:
    return [{VALUE: value}, *steps_of(chain, {VALUE: value})]


def look(training: Chain, deployment: Chain, *values: Any, unrecorded: Sequence[tuple[int, int]] = ()) -> Causes:
    """The causes, where the states of some (sample, step) of training were not recorded."""
    values = values or (RAW,)
    recorded = [states(training, value) for value in values]
    for number, step in unrecorded:
        recorded[number][step] = {}
    replayed = [replay(deployment, {VALUE: value}) for value in values]
    return likely_causes(training, deployment, recorded, replayed, Measure())


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Situation]:
    """The situations of the search, whose only cause is that a step scales by twice its place, counted from 1."""
    held: list[Situation] = []

    def right(situation: Situation) -> Iterator[tuple[str, Trial]]:
        held.append(situation)
        for at, _ in situation.steps("normalize"):
            yield from (("wrong_scale", trial) for trial in situation.changed(at, scale=2.0 * (at + 1)))

    monkeypatch.setattr(search, "trials", right)
    return held


@pytest.mark.parametrize(("wrong", "whole"), [(1, True), (4, True), (5, False)])
def test_four_mistakes_are_named_and_no_more(wrong: int, whole: bool, seen: list[Situation]) -> None:
    right = [2.0 * (at + 1) for at in range(6)]
    causes = look(scaled(*right), scaled(*[3.5] * wrong, *right[wrong:]))
    assert (len(causes.told), causes.whole, causes.at, causes.stopped) == (min(wrong, 4), whole, 0, False)
    assert causes.told[0] == ("wrong_scale", "scale=2 instead of 3.5 in step 1 (normalize)")
    assert [situation.agreed for situation in seen] == [*range(min(wrong, 4))]


def test_the_first_step_that_is_changed_is_told(seen: list[Situation]) -> None:
    causes = look(scaled(2, 4, 6, 8), scaled(2, 3, 5, 8))
    assert (causes.whole, causes.at, len(causes.told)) == (True, 1, 2)
    (first, second) = seen
    assert first.agreed == 1 and first.training == scaled(2, 4, 6, 8)[1:]
    assert [state[VALUE].max() for state in first.wanted] == [6 * 8, 6 * 48, 6 * 384]
    assert [state[VALUE].max() for state in first.states] == [6, 12, 36, 180, 1440]
    assert second.chain == scaled(2, 4, 5, 8) and second.states[2][VALUE].max() == 48


def test_without_a_cause_none_is_told(seen: list[Situation]) -> None:
    causes = look(scaled(7), scaled(5))
    assert causes == Causes() and not causes.whole and causes.at == 0 and not causes.stopped


def test_the_smallest_sample_of_which_all_is_recorded_comes_first(seen: list[Situation]) -> None:
    small, middle = RAW[:, :1], RAW[:, :, :2]
    values = (RAW, small, middle)
    look(scaled(2, 4), scaled(3, 4), *values)
    look(scaled(2, 4), scaled(3, 4), *values, unrecorded=[(1, 1)])
    assert [situation.states[0][VALUE].size for situation in seen] == [3, 4]


def test_a_change_has_to_hold_for_every_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of them would explain the smallest sample alone."""
    training, deployment = read_chain(["layout"]), read_chain([])
    small = np.ones((1, 1, 3), "float32")
    only_small = Trial(read_chain([{"reshape": {"shape": [3, 1, 1]}}]), 0, "a reshape", 2)
    monkeypatch.setattr(search, "trials", lambda _: iter([("a", only_small), ("b", Trial(training, 0, "a layout", 2))]))
    assert look(training, deployment, RAW, small).told == (("b", "a layout"),)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What was tried, with the size of the sample; one cause is named at most."""
    held: list[tuple[str, int]] = []

    def recording(trial: Trial, sample: Replayed) -> Replayed:
        held.append((trial.said, sample.states[0][VALUE].size))
        return again(trial, sample)

    monkeypatch.setattr(search, "again", recording)
    monkeypatch.setattr(search, "MOST_CAUSES", 1)
    return held


def test_a_change_that_helps_the_smallest_sample_alone_is_no_cause(
    ran: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by itself nor in the place of one that helps all in part."""
    training = read_chain([{"normalize": {"scale": 2}}, "layout"])
    deployment = scaled(3, 5)
    part = Trial(read_chain([{"normalize": {"scale": 2}}, "sigmoid"]), 0, "part")
    small = Trial(read_chain([{"normalize": {"scale": 2}}, {"reshape": {"shape": [3, 1, 1]}}]), 0, "small")
    values = RAW, RAW[:, :1]
    for trials_, told in (((small,), ("small",)), ((part, small), ("part",))):
        monkeypatch.setattr(search, "trials", lambda _, trials_=trials_: iter([("c", trial) for trial in trials_]))
        causes = look(training, deployment, *values)
        assert not causes.whole and tuple(said for _, said in causes.told) == told
    only = Trial(read_chain([{"reshape": {"shape": [3, 1, 1]}}]), 0, "small")
    monkeypatch.setattr(search, "trials", lambda _: iter([("c", only)]))
    assert look(read_chain(["layout"]), read_chain([]), *values) == Causes()


def test_what_does_not_help_the_smallest_sample_further_is_not_tried_on_the_others(
    ran: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    training, deployment = scaled(2, 4, 9), scaled(3, 5, 9)
    trials_ = [
        Trial(scaled(*scales), 0, said)
        for said, scales in (
            ("nothing", (7, 5, 9)),
            ("part", (2, 5, 9)),
            ("other", (2, 7, 9)),
            ("whole", (2, 4, 9)),
            ("later", (2, 4, 9)),
        )
    ]
    monkeypatch.setattr(search, "trials", lambda _: iter([("c", trial) for trial in trials_]))
    assert look(training, deployment, RAW, RAW[:, :1]).whole
    assert ran == [("nothing", 3), ("part", 3), ("part", 6), ("other", 3), ("whole", 3), ("whole", 6)]


def test_of_changes_that_help_equally_the_first_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    training, deployment = scaled(2, 4, 9), scaled(3, 5, 9)
    part, other, further, whole = (
        Trial(scaled(*scales), 0, said)
        for said, scales in (("part", (2, 5, 9)), ("other", (2, 7, 9)), ("further", (2, 4, 7)), ("whole", (2, 4, 9)))
    )
    for order, told in (
        ((part, other), [("c", "part")]),
        ((part, further, other), [("c", "further")]),
        ((part, whole, further), [("c", "whole")]),
    ):
        monkeypatch.setattr(search, "trials", lambda _, order=order: iter([("c", trial) for trial in order]))
        monkeypatch.setattr(search, "MOST_CAUSES", 1)
        assert list(look(training, deployment).told) == told


@pytest.mark.parametrize(
    ("seconds", "stopped"), [(0.0, False), (46.0, False), (90.0, False), (91.0, True), (98.0, True)]
)
def test_it_stops_after_a_minute_and_a_half(
    seconds: float, stopped: bool, seen: list[Situation], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([1000.0])
    monkeypatch.setattr(search, "time", SimpleNamespace(process_time=lambda: next(clock, 1000.0 + seconds)))
    causes = look(scaled(2), scaled(3))
    assert (causes.whole, causes.stopped) == (not stopped, stopped)
    clock = iter([1000.0])
    assert look(read_chain(["sigmoid"]), scaled(3)).stopped == stopped, "which finds none"


def test_a_search_that_was_stopped_between_says_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 91.0])
    monkeypatch.setattr(search, "time", SimpleNamespace(process_time=lambda: next(clock, 91.0)))
    half, whole = Trial(scaled(2, 5), 0, "half"), Trial(scaled(2, 4), 0, "whole")
    monkeypatch.setattr(search, "trials", lambda _: iter([("c", half), ("c", whole)]))
    causes = look(scaled(2, 4), scaled(3, 5))
    assert causes == Causes((("c", "half"),), whole=False, at=0, stopped=True)


def test_what_is_said_of_causes() -> None:
    told = (("wrong_scale", "scale=2"), ("a", "b"))
    said = "wrong scale (with scale=2) and a (with b)"
    assert str(Causes(told, whole=True)) == f"likely cause: {said}: then deployment gives what training gave"
    assert str(Causes(told, stopped=True)) == f"likely cause, in part: {said}; another difference remains behind it"
    assert str(Causes(stopped=True)).startswith("the search for a cause took too long and was stopped")
    assert str(Causes()).startswith("no known cause explains it")


def test_a_sample_is_as_large_as_all_its_states() -> None:
    assert size([{VALUE: RAW, "size": np.zeros(2)}, {}, {VALUE: RAW}]) == 14


class TestTrials:
    def test_lower_ranks_come_first_then_options_then_the_first_steps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def cause(rank: int, *changes: tuple[int, int]) -> Any:
            made = [Trial((), at, f"{rank}: {edit} {at}", edit) for edit, at in changes]
            return SimpleNamespace(rank=rank, trials=lambda situation: iter(made if situation is here else ()))

        here = Situation((), 0, (), (), ())
        causes = [("z", cause(5, (0, 0))), ("b", cause(1, (2, 0), (0, 3))), ("a", cause(1, (1, 1), (0, 2), (0, 2)))]
        monkeypatch.setattr(search, "CAUSES", SimpleNamespace(all=lambda: causes))
        assert [(name, trial.said) for name, trial in trials(here)] == [
            ("a", "1: 0 2"),
            ("a", "1: 0 2"),
            ("b", "1: 0 3"),
            ("a", "1: 1 1"),
            ("b", "1: 2 0"),
            ("z", "5: 0 0"),
        ]


class TestAgain:
    CHAIN = scaled(2, 4, 6)

    def test_what_lies_before_the_change_is_as_it_was(self) -> None:
        sample = replay(self.CHAIN, {VALUE: RAW})
        changed = again(Trial(scaled(2, 5, 6), 1, "another"), sample)
        assert changed.states[0] is sample.states[0] and changed.states[1] is sample.states[1]
        assert [state[VALUE].max() for state in changed.states] == [6, 12, 60, 360] and not changed.error

    def test_a_change_behind_a_step_that_cannot_run_changes_nothing(self) -> None:
        sample = Replayed(({VALUE: RAW}, {VALUE: RAW}), "it cannot")
        assert again(Trial(self.CHAIN, 2, "another"), sample) is sample
        assert again(Trial(self.CHAIN, 1, "another"), sample).states[2][VALUE].max() == 24

    def test_a_package_that_is_not_here_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def lacking(*_: Any) -> Replayed:
            raise EnvironmentLacks("no Pillow")

        sample = replay(self.CHAIN, {VALUE: RAW})
        monkeypatch.setattr(search, "replay", lacking)
        changed = again(Trial(self.CHAIN, 1, "another"), sample)
        assert (changed.states, changed.error) == (sample.states[:2], "no Pillow")
