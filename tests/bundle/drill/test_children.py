"""Many faults run in one child; one that kills it costs no other its result, and is not blamed for another's death."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.drill import dying
from exporter.base.errors import ChildCrashed
from exporter.bundle.drill import run
from exporter.bundle.drill.fault import Fault
from exporter.bundle.open import open_bundle
from exporter.process.workers import Setting
from tests.command import ROOT


@pytest.fixture
def room(digits: Path, monkeypatch: pytest.MonkeyPatch) -> run.Room:
    monkeypatch.chdir(ROOT)  # so that the child finds evals.drill.dying
    monkeypatch.setattr(run, "examine", dying.examine)
    return run.Room(open_bundle(digits), "onnx", run.Wish(faults=4, seed=0), Setting())


def faults(*sites: str) -> dict[int, Fault]:
    return {number: Fault("parameters", "zeroed", site, "onnx", 0) for number, site in enumerate(sites)}


def test_a_fault_that_kills_its_child_is_caught_by_that_and_the_others_are_run(room: run.Room) -> None:
    findings, answer = room.examine("onnxruntime", faults("fine", "kills", "fine", "kills", "fine"))
    assert sorted(findings) == [0, 1, 2, 3, 4]
    assert answer.holds == 1
    assert [sorted(findings[number].proofs) for number in range(5)] == [[], ["crash"], [], ["crash"], []]
    assert "SIGSEGV" in findings[1].proofs["crash"]
    assert findings[4].error_ratio == 4.0


def test_what_dies_only_in_company_is_not_blamed(room: run.Room) -> None:
    findings, _ = room.examine("onnxruntime", faults("fine", "tired", "fine"))
    assert [findings[number].proofs for number in range(3)] == [{}, {}, {}]


def test_a_death_before_any_fault_is_no_catch(room: run.Room) -> None:
    with pytest.raises(ChildCrashed):
        room.examine("onnxruntime", faults("before the sound one"))
