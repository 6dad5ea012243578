"""The proof that the steps in the graph are the steps: what it lets pass and what it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.base.tensors import Array, save_scratch
from exporter.export.fold.both import BothRequest, run_both
from exporter.process.job import from_json, to_json
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting
from exporter.prove.proofs.base import Harness
from exporter.prove.proofs.kinds import folded
from exporter.prove.proofs.kinds.folded import ANSWER, READY, judge_both, plugin
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from tests.prove.proofs.subjects import cases, harness, spec, subject


def both(steps: Array, graph: Array | None, what: str = READY) -> dict[str, Array]:
    made = {f"batch=2/{what}/steps/value": steps}
    return made if graph is None else {**made, f"batch=2/{what}/graph/value": graph}


REAL = np.random.RandomState(0).rand(3, 4).astype("float32")
WHOLE = np.array([3, 1, 2])


def test_equal_bits_match() -> None:
    for value, what in ((REAL, READY), (WHOLE, ANSWER)):
        evidence = judge_both(both(value, value.copy(), what), what)
        assert (evidence.outcome, evidence.elements, evidence.bit_equal) == (Outcome.MATCH, value.size, True)


def test_rounding_matches_and_says_so() -> None:
    evidence = judge_both(both(REAL, np.nextafter(REAL, np.float32(2))), READY)
    assert evidence.outcome is Outcome.MATCH and not evidence.bit_equal
    assert 0 < evidence.metrics["max_rel"] < 1e-6


@pytest.mark.parametrize(
    ("steps", "graph", "said"),
    [
        (REAL, REAL * np.float32(1 + 1e-5), "of the largest value apart"),
        (REAL, np.where(REAL.max() == REAL, np.nan, REAL).astype("float32"), "of the largest value apart"),
        (WHOLE, WHOLE + (WHOLE == 2), "1 of 3 whole numbers differ"),
        (WHOLE, WHOLE.astype("int32"), "the graph gives int32[3], the steps int64[3]"),
        (REAL, REAL[:2], "the graph gives float32[2, 4]"),
        (REAL, None, "the graph does not give it"),
    ],
)
def test_what_differs_is_a_mismatch(steps: Array, graph: Array | None, said: str) -> None:
    evidence = judge_both(both(steps, graph), READY)
    assert (evidence.outcome, evidence.elements) == (Outcome.MISMATCH, steps.size)
    assert said in evidence.reason and "value of case batch=2: " in evidence.reason


@pytest.mark.parametrize(("off", "outcome"), [(1.0, Outcome.MATCH), (1.05, Outcome.MISMATCH)])
def test_the_limit_is_a_millionth_of_the_largest_value(off: float, outcome: Outcome) -> None:
    steps = np.array([[8.0, 1.0], [4.0, -16.0]])
    evidence = judge_both(both(steps, steps + np.array([[0, off * 16 * 2.0**-20], [0, 0]])), READY)
    assert evidence.outcome is outcome
    assert evidence.metrics == ({"max_rel": 2.0**-20} if outcome is Outcome.MATCH else {})


def test_zeros_match_zeros_alone() -> None:
    zeros = np.zeros((2, 3), "float32")
    evidence = judge_both(both(zeros, zeros + np.float32(1e-30)), READY)
    assert evidence.outcome is Outcome.MISMATCH and "are inf of the largest value apart" in evidence.reason


def test_the_largest_difference_of_all_arrays_counts() -> None:
    exact = {"batch=4/ready/steps/value": REAL, "batch=4/ready/graph/value": REAL}
    evidence = judge_both({**both(REAL, np.nextafter(REAL, np.float32(2))), **exact}, READY)
    assert evidence.metrics["max_rel"] > 0 and not evidence.bit_equal and evidence.elements == 2 * REAL.size


def test_samples_that_are_all_alike_show_nothing() -> None:
    value = np.repeat(REAL[:1], 3, axis=0)
    evidence = judge_both(both(value, value), READY)
    assert (evidence.outcome, evidence.elements) == (Outcome.VACUOUS, value.size)
    assert "what the steps give of every sample is the same" in evidence.reason
    same = np.array([7, 7, 7])
    evidence = judge_both(both(same, same, ANSWER), ANSWER)
    assert evidence.outcome is Outcome.VACUOUS
    assert "the answer of every sample is the same" in evidence.reason


def test_an_answer_without_a_batch_shows_nothing() -> None:
    """It is one value for all samples; iterating over its rows raised TypeError."""
    value = np.array(3.0, "float32")
    assert judge_both(both(value, value, ANSWER), ANSWER).outcome is Outcome.VACUOUS


def test_one_sample_that_differs_is_enough() -> None:
    """In one of two arrays, and in the last row of it."""
    last = np.array([7, 7, 8])
    evidence = judge_both({**both(WHOLE * 0, WHOLE * 0), "b/ready/steps/n": last, "b/ready/graph/n": last}, READY)
    assert evidence.outcome is Outcome.MATCH


def test_nothing_that_came_back_is_missing() -> None:
    evidence = judge_both({}, READY)
    assert (evidence.outcome, evidence.stage) == (Outcome.MISSING, "run")


def test_where_nothing_was_claimed_nothing_runs() -> None:
    """Without claims not even the harness is looked at."""
    harness: Any = None
    assert plugin.prove([], harness) == {}


CLAIMS = [Claim("source", "fp32", "eager", output=output, kind="folded") for output in (READY, ANSWER)]


def with_steps(fold: bool = True, **more: Any) -> Harness:
    """A model with a step in its graph; with `decode` in front of it, which cannot be there."""
    steps = {"training": ["decode", "layout"], "deployment": ["decode", "layout"]}
    of = spec(pipeline={"samples": ["*.png"], "preprocess": steps, "fold": fold})
    heard: list[Any] = []
    return replace(harness(subject(of=of, **more)), setting=Setting(on_event=heard.append))


def test_both_claims_are_planned_where_steps_are_in_the_graph_and_the_source_is_at_hand() -> None:
    assert plugin.plan(with_steps()) == frozenset(CLAIMS)
    assert plugin.plan(with_steps(fold=False)) == frozenset()
    assert plugin.plan(with_steps(no_source="no --source")) == frozenset()
    assert plugin.plan(harness(subject())) == frozenset()


def test_the_report_says_which_steps_are_not_in_the_graph() -> None:
    (said,) = plugin.notes(with_steps())
    assert said.startswith("decode is not in the graph: ")
    assert plugin.notes(with_steps(fold=False)) == plugin.notes(harness(subject())) == ()


@pytest.mark.parametrize("checkpoint", [None, Path("w.safetensors")])
def test_the_child_gets_the_promised_cases_and_its_file_is_judged(
    checkpoint: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, probe = cases(("batch=4", "zeros:batch=4"))
    given = with_steps(recorded=(replace(own, recorded="first"), probe), checkpoint=checkpoint)
    asked: list[BothRequest] = []

    def call(job: Any, request: BothRequest, limits: Any, **how: Any) -> None:
        assert (job, limits) == (run_both, given.setting.limits)
        assert how == {"environment": SINGLE_THREAD, "imports": PADDLE, "on_event": given.setting.on_event}
        asked.append(request)
        save_scratch(request.into, {**both(REAL, REAL), **both(WHOLE, WHOLE + 1, ANSWER)})

    monkeypatch.setattr(folded, "call", call)
    proven = plugin.prove(CLAIMS, given)
    assert [proven[claim].outcome for claim in CLAIMS] == [Outcome.MATCH, Outcome.MISMATCH]
    (request,) = asked
    assert request.into.name == "both.safetensors"
    golden = Path("nowhere/golden.safetensors")
    expected = BothRequest(given.spec.without_verdict(), checkpoint, golden, ("first",), request.into)
    assert request == expected
    assert from_json(BothRequest, to_json(BothRequest, request)).spec.pipeline == given.spec.pipeline


def test_a_child_that_fails_answers_every_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(*_: Any, **__: Any) -> None:
        raise UsageError("a step cannot take it")

    monkeypatch.setattr(folded, "call", call)
    failed = Evidence(Outcome.CRASHED, "a step cannot take it", stage="run")
    assert plugin.prove(CLAIMS, with_steps()) == dict.fromkeys(CLAIMS, failed)
