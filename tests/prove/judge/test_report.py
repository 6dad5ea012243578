"""A report as a value: its exit code, and what it holds where nothing was said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exporter.base.errors import ExitCode
from exporter.prove.judge.facts import Facts, Timed
from exporter.prove.judge.report import REFERENCE, UNTRAINED, Report, weights_note
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from exporter.spec.model import Spec
from exporter.spec.read import validate
from exporter.spec.source import FACTORY

ONE, OTHER = (Claim("onnx", "fp32", "onnxruntime", case, "y") for case in ("batch=1", "batch=2"))
MATCH = Evidence(Outcome.MATCH, elements=1)


def report(*evidence: Evidence) -> Report:
    plan = dict(zip((ONE, OTHER), evidence, strict=False))
    return Report("n", "1", Verdict(frozenset({ONE, OTHER}), plan), 4.0)


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        (MATCH, MATCH, ExitCode.PASSED),
        (MATCH, Evidence(Outcome.MISMATCH, "off"), ExitCode.REFUSED),
        (MATCH, Evidence(Outcome.MISSING, "not here", stage="environment"), ExitCode.ENVIRONMENT),
        (
            Evidence(Outcome.MISMATCH, "off"),
            Evidence(Outcome.MISSING, "absent", stage="environment"),
            ExitCode.ENVIRONMENT,
        ),
        (MATCH, Evidence(Outcome.MISSING, "no samples", stage="run"), ExitCode.REFUSED),
        (MATCH, Evidence(Outcome.CRASHED, "died", stage="environment"), ExitCode.REFUSED),
    ],
    ids=["passed", "refused", "absent", "absent and refused", "missing", "died"],
)
def test_an_engine_that_is_not_here_comes_before_the_verdict(one: Evidence, other: Evidence, code: ExitCode) -> None:
    assert report(one, other).exit_code is code


def test_what_nobody_has_judged_is_no_pass() -> None:
    assert report(MATCH).exit_code is ExitCode.REFUSED


def test_what_was_not_said_is_empty() -> None:
    assert Facts() == Facts(dims={}, sizes={}, packages={}, fronts={}, inputs=(), outputs=(), engines=())
    assert Timed("cpu", 1, ()).failed == {}
    assert (report(MATCH).noise, report(MATCH).facts, report(MATCH).blames) == ({}, None, ())


def of_model(model: str, **more: object) -> Spec:
    x = {"dtype": "float32", "shape": [2]}
    return validate({"name": "n", "model": model, "weights": "factory", "inputs": {"x": x}, **more}, "test")


def test_where_weights_come_from_is_said_once() -> None:
    file, layer = of_model(FACTORY, args={"program": "net.json of sha256 1"}), of_model("m:f")
    note = weights_note(file)
    assert note == f"{REFERENCE}net.json of sha256 1"
    assert weights_note(file, ("another", note)) == ""
    assert weights_note(file, ("another",)) == weights_note(file, (UNTRAINED,)) == note
    assert weights_note(of_model(FACTORY)).endswith("unknown")
    assert weights_note(layer) == weights_note(layer, (note,)) == UNTRAINED and weights_note(layer, (UNTRAINED,)) == ""


def test_a_report_whose_reference_is_a_file_is_one_of_a_file() -> None:
    of_layer = replace(report(MATCH), notes=("another",))
    assert not of_layer.of_a_file
    assert replace(of_layer, notes=("another", f"{REFERENCE}net.json")).of_a_file
