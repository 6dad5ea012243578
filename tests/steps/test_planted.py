"""Planted faults of a pipeline are found, with the step and the cause; sound chains are not blamed."""

from __future__ import annotations

from itertools import groupby

import pytest

from evals.steps.planted import FAULTS, SOUND, Result, look, results, trainings


@pytest.fixture(scope="module")
def found() -> dict[str, list[Result]]:
    every = sorted(results(), key=lambda result: result.beside)
    return {beside: list(group) for beside, group in groupby(every, key=lambda result: result.beside)}


def test_there_are_faults_of_every_kind() -> None:
    assert len(FAULTS) >= 36 and len({fault.task for fault in FAULTS}) == len(SOUND)
    assert len({cause for fault in FAULTS for cause in fault.causes[:1]}) >= 15


def test_the_first_differing_step_is_named_in_all_and_the_cause_in_nearly_all(found: dict[str, list[Result]]) -> None:
    declared = found["declared"]
    assert len(declared) == len(FAULTS)
    assert [result.fault.name for result in declared if result.finding.outcome != "mismatch" or not result.named] == []
    assert sum(result.explained for result in declared) >= 0.95 * len(declared)


def test_beside_one_function_the_cause_tells_the_step(found: dict[str, list[Result]]) -> None:
    """Its values show no step; a change that makes the chains agree does, where there is one."""
    function = found["function"]
    assert len(function) >= 30 and all(result.finding.outcome == "mismatch" for result in function)
    assert sum(result.named for result in function) >= 0.9 * len(function)
    assert sum(result.explained for result in function) >= 0.9 * len(function)


@pytest.mark.parametrize("task", SOUND)
def test_nothing_is_found_of_sound_chains(task: str) -> None:
    for beside, training in trainings(task):
        finding = look(task, training, SOUND[task])
        assert (finding.outcome, finding.reason) == ("match", ""), beside
        assert finding.elements > 0
