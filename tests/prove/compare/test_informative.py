"""Goldens that tell nothing are told of before any engine runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.partial import Partial
from exporter.base.tensors import Array
from exporter.prove.compare.informative import (
    AMONG_EQUALS,
    Doubt,
    doubts,
    eager_judged,
    runs_of,
    still_open,
    told,
    undecided,
)
from exporter.prove.verdict.claim import Claim, Outcome, Verdict
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Waiver
from exporter.spec.read import validate
from tests.prove.compare.goldens import golden

GENERATOR = np.random.default_rng(3)
TELLING = [GENERATOR.standard_normal((4, 6)) for _ in range(3)]


def cases(*outputs: Array, names: tuple[str, ...] = ("a", "a#2", "b"), gate: str = "") -> list[GoldenCase]:
    made = []
    for seed, (name, value) in enumerate(zip(names, outputs, strict=False)):
        made.append(GoldenCase(name, {}, {"y": golden(value, seed=seed, gate=gate)}, name))
    return made


def test_goldens_that_differ_leave_no_doubt() -> None:
    assert doubts(cases(*TELLING), 4.0) == doubts(cases(*TELLING[:2]), 4.0, more_to_come=True) == ()
    assert doubts(cases(TELLING[0]), 4.0) == (), "one case alone has no other to be mistaken for"


def test_outputs_that_hardly_depend_on_the_input_are_named_with_the_impostor_and_the_cure() -> None:
    base = TELLING[0]
    alike = cases(*(base + 1e-9 * noise for noise in TELLING))
    found = doubts(alike[:2], 4.0, more_to_come=True)
    assert {(one.case, one.output, one.gate) for one in found} == {("a", "y", False), ("a#2", "y", False)}
    assert "another case's output would have passed" in found[0].reason
    said = told(found)
    assert "no engine was run" in said and "checkpoint" in said and "values" in said and found[0].reason in said
    assert said.endswith("the outputs hardly depend on the inputs")


def test_what_eager_cannot_be_trusted_on_is_a_doubt_at_once() -> None:
    (first, _) = doubts(cases(*TELLING[:2], gate="eager is not finite"), 4.0, more_to_come=True)
    assert first.gate and first.reason == "eager is not finite" and "range" in first.hint


def test_a_third_case_may_still_tell_what_two_that_are_equal_do_not() -> None:
    equal = [TELLING[0], TELLING[0], TELLING[1]]
    assert doubts(cases(*equal[:2]), 4.0, more_to_come=True) == ()
    assert doubts(cases(*equal[:2]), 4.0), "alone they would be all there is"
    assert doubts(cases(TELLING[0]), 4.0, more_to_come=True) == ()
    lengths = [np.array([1, 1]), np.array([1, 1, 1])]
    assert doubts(cases(*lengths), 4.0, more_to_come=True) == () and doubts(cases(*lengths), 4.0)
    labels = [np.array([1, 1]), np.array([1, 1])]
    assert doubts(cases(*labels), 4.0, more_to_come=True) == () and doubts(cases(*labels), 4.0)


def test_probing_cases_are_no_doubt() -> None:
    probing = cases(*TELLING[:2], np.zeros((4, 6)), names=("a", "a#2", "a:zeros"))
    assert doubts(probing, 4.0) == ()


RUNS = (Run("source", "fp32", "eager"), Run("onnx", "fp32", "onnxruntime"))


@pytest.mark.parametrize(
    ("pattern", "until", "left"),
    [("*/y", 2999, 0), ("*/z", 2999, 1), ("onnx/*", 2999, 1), ("*/y", 2020, 1)],
)
def test_what_is_waived_in_every_run_today_is_no_doubt(pattern: str, until: int, left: int) -> None:
    waiver = Waiver(claim=pattern, reason="a head not trained yet", until=date(until, 1, 1))
    assert len(still_open([Doubt("a", "y", "why", False)], RUNS, [waiver])) == left


def test_where_nothing_was_run_the_verdict_is_inconclusive_and_each_claim_says_why() -> None:
    claims = [Claim("onnx", "fp32", "onnxruntime", "a", name) for name in ("y", "z")]
    verdict = Verdict(frozenset(claims), undecided(claims, [Doubt("a", "y", "why", False)]))
    assert verdict.word == "inconclusive" and not verdict.passed
    assert "why" in verdict.of(claims[0]).reason and "not run: y of case a" in verdict.of(claims[1]).reason
    assert all(verdict.of(claim).outcome is Outcome.INCONCLUSIVE for claim in claims)


def test_each_claim_names_its_own_doubt_where_there_is_one_and_else_the_first() -> None:
    claims = [Claim("onnx", "fp32", "onnxruntime", "a", name) for name in ("x", "y", "z")]
    found = [Doubt("b", "w", "eager differs", True), Doubt("a", "x", "is NaN", True), Doubt("a", "y", "alike", False)]
    evidence = undecided(claims, found)
    assert [evidence[claim].reason for claim in claims] == [
        "eager itself would not pass: is NaN",
        "eager itself would not pass: alike",
        "not run: w of case b cannot be proven by any engine",
    ]
    assert [evidence[claim].stage for claim in claims] == ["compare", "plan", "plan"]
    assert told(found) == (
        "no engine was run: eager itself would not pass by its own goldens in w, x, y (eager differs); "
        "give trained weights (`checkpoint:`, `--weights`), or values of the range that the model was made for"
    )


def test_a_choice_between_equal_elements_is_no_fault_of_a_layer_and_has_a_cure_of_its_own() -> None:
    claim = Claim("onnx", "fp32", "onnxruntime", "a", "y")
    doubt = Doubt("a", "y", f"{AMONG_EQUALS} topk takes, and Paddle promises no order", True)
    assert undecided([claim], [doubt])[claim].stage == "plan", "nothing is localised"
    assert "no equal elements" in told([doubt]) and "trained weights" in told([doubt])


def test_of_a_large_output_what_was_kept_is_judged() -> None:
    index = np.arange(0, 24, 5)
    sampled = [
        GoldenCase(name, {}, {"y": golden(value, seed=seed, index=index)}, name)
        for seed, (name, value) in enumerate(zip(("a", "a#2"), TELLING, strict=False))
    ]
    assert doubts(sampled, 4.0) == ()
    alike = [
        GoldenCase(name, {}, {"y": golden(TELLING[0], seed=at, index=index)}, name) for at, name in enumerate("ab")
    ]
    assert [doubt.case for doubt in doubts(alike, 4.0)] == ["a", "b"]


def test_while_more_cases_come_only_what_they_cannot_change_is_a_doubt() -> None:
    """Two outputs in each case: one that is equal so far, and one of which eager cannot be trusted."""

    def case(name: str, seed: int, gate: str) -> GoldenCase:
        outputs = {"y": golden(TELLING[0], seed=seed, gate=gate), "z": golden(TELLING[seed], seed=seed, name="z")}
        return GoldenCase(name, {}, outputs, name)

    found = doubts([case("a", 0, "it is not finite"), case("a#2", 1, "")], 4.0, more_to_come=True)
    assert [(doubt.case, doubt.output, doubt.gate) for doubt in found] == [("a", "y", True)]


def test_a_doubt_is_open_while_a_claim_of_any_run_is_not_waived() -> None:
    found = [Doubt("a", "y", "why", False), Doubt("a", "z", "why", False)]
    waiver = Waiver(claim="*/y", reason="a head not trained yet", until=date(2999, 1, 1))
    assert still_open(found, RUNS, [waiver]) == (found[1],)
    for_onnx = Waiver(claim="onnx/*", reason="a head not trained yet", until=date(2999, 1, 1))
    assert still_open(found, RUNS, [for_onnx]) == tuple(found)


def test_a_release_may_run_the_source_and_each_format_by_each_engine_that_can() -> None:
    content = {"name": "n", "model": "a:b", "weights": "factory", "inputs": {"x": {"dtype": "float32", "shape": [2]}}}
    spec = validate({**content, "formats": ["pir", "onnx"], "engines": ["jit_load", "onnxruntime", "eager"]}, "test")
    assert runs_of(spec) == (
        Run("source", "fp32", "eager"),
        Run("source", "fp32", "static"),
        Run("pir", "fp32", "jit_load"),
        Run("onnx", "fp32", "onnxruntime"),
    )


def test_of_a_case_whose_rows_have_no_answer_what_counts_is_judged() -> None:
    whole = TELLING[0].astype("float32")
    whole[0] = np.nan
    places = np.arange(6, 24)
    kept = {"eager": whole.ravel()[places], "truth": TELLING[0].ravel()[places], "index": places}
    partial = replace(golden(TELLING[0]), **kept, partial=Partial(whole, None))
    all_cases = {"y": [partial, *(golden(value, seed=at) for at, value in enumerate(TELLING[1:], 1))]}
    found = eager_judged(GoldenCase("a:rows_of_x", {}, {"y": partial}, "a:rows_of_x"), 4.0, all_cases)
    assert (found["y"].outcome, found["y"].elements) == (Outcome.MATCH, 18)
