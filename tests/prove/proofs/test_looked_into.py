"""Which runs are looked into: what is right, what failed, and what is eager's own error are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exporter.base.numbers.golden import GoldenCase
from exporter.export.lower.base import Artifact
from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.proofs.kinds.sublayers import Look
from exporter.prove.root_cause.witness import Witnesses
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run

NOWHERE = Bench(Path("nowhere"), Path("nowhere"), (), {}, ("y",), ("x",), None, "cpu", 4.0)


def looked(evidence: dict[Claim, Evidence], *runs: Run) -> list[Evidence]:
    """The bench has neither files nor cases, so that whoever looks inside fails."""
    return list(Look(NOWHERE, Setting(), evidence, Witnesses(NOWHERE, Setting())).into(runs).values())


@pytest.mark.parametrize("outcome", [Outcome.MISMATCH, Outcome.CRASHED])
def test_what_is_not_narrow_is_not_looked_into_and_what_failed_proves_nothing(outcome: Outcome) -> None:
    close, failed = (Claim("pir", "fp32", "jit_load", case, "y") for case in ("a", "b"))
    evidence = {
        close: Evidence(Outcome.MATCH, elements=7, metrics={"error_ratio": 1.0}),
        failed: Evidence(outcome, "it did", elements=1),
    }
    (found,) = looked(evidence, Run("pir", "fp32", "jit_load"))
    assert (found.outcome, found.elements) == (Outcome.MATCH, 7) and "no output is further off" in found.reason
    (found,) = looked({failed: evidence[failed]}, Run("pir", "fp32", "jit_load"))
    assert found.outcome is Outcome.MISSING


def test_a_claim_that_failed_does_not_switch_the_look_off() -> None:
    """It may be waived; the others are narrow all the same."""
    close, failed = (Claim("pir", "fp32", "jit_load", case, "y") for case in ("a", "b"))
    evidence = {
        close: Evidence(Outcome.MATCH, elements=7, metrics={"error_ratio": 3.0}),
        failed: Evidence(Outcome.MISMATCH, "it did", elements=1),
    }
    with pytest.raises(StopIteration):  # it looks for the case, which the bench does not have
        looked(evidence, Run("pir", "fp32", "jit_load"))


def test_a_file_that_some_engine_computes_right_is_not_looked_into() -> None:
    """Another engine's 3.0 is left to the budget."""
    evidence = {
        Claim("onnx", "fp32", engine, "a", "y"): Evidence(Outcome.MATCH, elements=1, metrics={"error_ratio": ratio})
        for engine, ratio in (("onnxruntime", 0.7), ("openvino", 3.0))
    }
    found = looked(evidence, *(Run("onnx", "fp32", engine) for engine in ("onnxruntime", "openvino")))
    assert [one.outcome for one in found] == [Outcome.MATCH] * 2


@pytest.mark.parametrize(
    ("pooled", "outcome"),
    [
        (Evidence(Outcome.MATCH, elements=5), Outcome.MATCH),
        (Evidence(Outcome.MISMATCH, "they add up", elements=5), Outcome.INCONCLUSIVE),
        (None, Outcome.INCONCLUSIVE),
    ],
)
def test_a_look_that_fails_is_no_evidence_by_itself(pooled: Evidence | None, outcome: Outcome) -> None:
    """There is no source here, so that it cannot be observed."""
    claim = Claim("pir", "fp32", "jit_load", "batch=4", "y")
    evidence = {claim: Evidence(Outcome.MATCH, elements=7, metrics={"error_ratio": 1.5})}
    if pooled is not None:
        evidence[Claim("pir", "fp32", "jit_load", output="y", kind="pooled_bias")] = pooled
    bench = replace(NOWHERE, cases=(GoldenCase("batch=4", {}, {}, "batch=4"),))
    (found,) = (
        Look(bench, Setting(), evidence, Witnesses(bench, Setting())).into([Run("pir", "fp32", "jit_load")]).values()
    )
    assert found.outcome is outcome and "the source could not be observed" in found.reason


@pytest.mark.parametrize(("format", "folds"), [("onnx", True), ("pir", False), ("pdmodel", False)])
def test_only_a_format_whose_writer_folds_is_excused_for_it(format: str, folds: bool) -> None:
    written = Artifact(format, "fp32", (), ("x",), ("y",), ("y",), {"folded": {"w.folded": ["0" * 64]}})
    assert replace(NOWHERE, artifacts={format: written}).folds(format) is folds
    assert not replace(NOWHERE, artifacts={format: replace(written, details={})}).folds(format)
    assert not NOWHERE.folds(format)


def test_what_is_eagers_own_error_in_two_threads_is_not_looked_into() -> None:
    file, eager = (
        Claim(format, "fp32", engine, "a", "y") for format, engine in (("pir", "jit_load"), ("source", "eager"))
    )
    off = {"error_ratio": 1.04, "max_abs": 3.1e-7}
    evidence = {claim: Evidence(Outcome.MATCH, elements=7, metrics=dict(off)) for claim in (file, eager)}
    (found,) = looked(evidence, Run("pir", "fp32", "jit_load"))
    assert (found.outcome, found.elements, found.reason) == (
        Outcome.MATCH,
        7,
        "no output has a rounding error to look into",
    )
    evidence[eager] = Evidence(Outcome.MATCH, elements=7, metrics={**off, "max_abs": 3.2e-7})
    with pytest.raises(StopIteration):  # another error is looked into, and this bench has no case to look at
        looked(evidence, Run("pir", "fp32", "jit_load"))
