"""What the metric may lose: beside eager, and beside what it was before the checkpoint was trained with roundings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from exporter.prove.proofs.kinds.metric import Rated, _beside_outputs, _impostors, _judge
from exporter.prove.verdict.claim import Claim, Evidence, Outcome

PROMISED = 0.005


def rated(value: float, eager: float, sign: float = 1.0) -> Rated:
    loss = sign * (eager - value)
    return Rated("accuracy", 360, value, eager, sign, impostors={}, loss=loss, low=loss - 0.01, high=loss + 0.01)


@pytest.mark.parametrize(
    ("value", "eager", "before", "outcome"),
    [
        (0.99, 0.99, None, Outcome.MATCH),
        (0.98, 0.99, None, Outcome.MISMATCH),
        (0.99, 0.99, 0.992, Outcome.MATCH),
        (0.95, 0.95, 0.99, Outcome.MISMATCH),  # both lost what training threw away
        (0.97, 0.99, 0.95, Outcome.MISMATCH),  # better than before, and still not what eager computes
        (float("nan"), 0.99, 0.99, Outcome.MISMATCH),
    ],
)
def test_a_loss_counts_beside_eager_and_beside_what_was_before(
    value: float, eager: float, before: float | None, outcome: Outcome
) -> None:
    found = _judge(PROMISED, rated(value, eager), before)
    assert found.outcome is outcome
    assert ("before training with roundings" in found.reason) == (before is not None)


@pytest.mark.parametrize("equal", [True, False])
def test_a_metric_that_differs_where_the_outputs_agree_is_said_in_words(equal: bool) -> None:
    claim = Claim("onnx", "fp32", "onnxruntime", kind="metric")
    case = Claim("onnx", "fp32", "onnxruntime", case="batch=2", output="y")
    found = _judge(PROMISED, replace(rated(0.9, 0.99), equal=equal), None)
    told = _beside_outputs(claim, found, {case: Evidence(Outcome.MATCH, elements=3)}).reason
    assert "the outputs of every recorded case agree with eager's, and the metric does not" in told
    assert ("equal bit for bit" in told) is equal and ("hangs on ties" in told) is not equal
    for evidence in ({}, {case: Evidence(Outcome.MISMATCH, "off")}):
        assert _beside_outputs(claim, found, evidence) is found


def test_nothing_is_said_of_a_metric_beside_outputs_that_are_not_its_own_or_not_all_right() -> None:
    claim = Claim("onnx", "fp32", "onnxruntime", kind="metric")
    case = Claim("onnx", "fp32", "onnxruntime", case="batch=2", output="y")
    right, wrong = Evidence(Outcome.MATCH, elements=3), Evidence(Outcome.MISMATCH, "off")
    found = _judge(PROMISED, rated(0.9, 0.99), None)
    assert _beside_outputs(claim, found, {case: right, replace(case, output="z"): wrong}) is found
    for of_another in ({"format": "pir"}, {"engine": "openvino"}, {"kind": "agreement"}):
        beside = {case: right, replace(case, **of_another): wrong}
        assert _beside_outputs(claim, found, beside) != found
    assert not found.bit_equal, "nobody said so"
    matched = _judge(PROMISED, rated(0.99, 0.99), None)
    assert matched.outcome is Outcome.MATCH and _beside_outputs(claim, matched, {case: right}) is matched
    low = replace(claim, precision="int8"), {replace(case, precision="int8"): right}
    assert _beside_outputs(low[0], found, low[1]) is found


def test_where_less_is_better_more_is_a_loss() -> None:
    assert _judge(PROMISED, rated(0.11, 0.10, -1.0), 0.1).outcome is Outcome.MISMATCH
    assert _judge(PROMISED, rated(0.101, 0.10, -1.0), 0.09).outcome is Outcome.MISMATCH
    assert _judge(PROMISED, rated(0.09, 0.10, -1.0), 0.1).outcome is Outcome.MATCH


@pytest.mark.parametrize(("lost", "kept"), [(0.25, True), (0.26, False)])
def test_a_loss_as_large_as_promised_is_kept_and_counts_wherever_it_is_measured(lost: float, kept: bool) -> None:
    outcome = Outcome.MATCH if kept else Outcome.MISMATCH
    beside = _judge(0.25, rated(0.5, 0.5 + lost), None)
    since = _judge(0.25, rated(0.5, 0.5), 0.5 + lost)
    assert beside.outcome is since.outcome is _judge(0.25, rated(0.5, 0.5 + lost), 0.5).outcome is outcome
    assert since.metrics["before"] == 0.5 + lost and since.metrics["loss_in_all"] == pytest.approx(lost)
    assert beside.elements == 360 and beside.metrics == {
        **{"loss": pytest.approx(lost), "low": pytest.approx(lost - 0.01), "high": pytest.approx(lost + 0.01)},
        **{"value": 0.5, "eager": 0.5 + lost},
    }
    fooled = _judge(0.25, replace(rated(0.5, 0.5), impostors={"zeros": lost}), None)
    assert fooled.outcome is (Outcome.VACUOUS if kept else Outcome.MATCH)


@pytest.mark.parametrize("name", ["the commonest answer for every row", "the answers shuffled"])
def test_a_loss_that_an_impostor_would_keep_proves_nothing(name: str) -> None:
    """Nearly all samples are of one class, so that whoever always gives it loses next to nothing."""
    found = _judge(PROMISED, replace(rated(0.99, 0.99), impostors={name: 0.004}), None)
    assert found.outcome is Outcome.VACUOUS and f"{name} would lose 0.0040" in found.reason
    assert _judge(PROMISED, replace(rated(0.99, 0.99), impostors={name: 0.1}), None).outcome is Outcome.MATCH
    assert _judge(PROMISED, replace(rated(0.9, 0.99), impostors={name: 0.0}), None).outcome is Outcome.MISMATCH


def test_impostors_are_rows_of_eager_s_own() -> None:
    scores = np.eye(3, dtype="float32")[[0, 1, 1, 2, 1]]
    found = _impostors([scores], 5)
    assert found["the commonest answer for every row"].tolist() == [1] * 5
    assert sorted(found["the answers shuffled"].tolist()) == list(range(5))
