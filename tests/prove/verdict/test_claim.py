from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.prove.verdict.claim import OUTPUTS, PASSING, Claim, Evidence, Outcome, Verdict
from exporter.prove.verdict.waivers import covering, expired, unaccepted, waived
from exporter.spec.model import Waiver

TODAY = date(2026, 11, 21)
WORDS = {"passed", "passed_with_waivers", "failed", "inconclusive"}


def claim(number: int = 0, engine: str = "onnxruntime") -> Claim:
    return Claim("onnx", "fp32", engine, f"batch={number}", "logits")


def evidence(outcome: Outcome) -> Evidence:
    return Evidence(outcome, "" if outcome is Outcome.MATCH else "because", elements=1)


def verdict(*outcomes: Outcome | None) -> Verdict:
    """One claim for each; None: no evidence came."""
    plan = frozenset(claim(number) for number in range(len(outcomes)))
    return Verdict(plan, {claim(number): evidence(one) for number, one in enumerate(outcomes) if one})


def test_an_empty_plan_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="nothing was planned"):
        Verdict(frozenset(), {})


def test_evidence_that_nobody_planned_cannot_be_built_in() -> None:
    with pytest.raises(ValueError, match="evidence without a claim"):
        Verdict(frozenset({claim(1)}), {claim(1): evidence(Outcome.MATCH), claim(2): evidence(Outcome.MATCH)})


@given(st.integers(max_value=0))
def test_a_match_over_no_elements_cannot_be_built(elements: int) -> None:
    with pytest.raises(ValueError, match="zero elements"):
        Evidence(Outcome.MATCH, elements=elements)


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.MATCH])
def test_no_failure_goes_without_a_reason(outcome: Outcome) -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Evidence(outcome)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_verdict_has_no_truth_value(outcome: Outcome) -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(verdict(outcome))
    with pytest.raises(TypeError):
        assert not verdict(outcome)


@given(st.lists(st.sampled_from([None, *Outcome]), min_size=1, max_size=6))
def test_passed_is_every_claim_held_and_one_of_them_seen(outcomes: list[Outcome | None]) -> None:
    found = verdict(*outcomes)
    held = all(one in (Outcome.MATCH, Outcome.WAIVED) for one in outcomes) and Outcome.MATCH in outcomes
    assert found.passed == held
    assert (found.word in PASSING) == held and found.word in WORDS
    assert (found.word == "passed_with_waivers") == (held and Outcome.WAIVED in outcomes)
    assert replace(found, narrowed="only some").word in (("partial",) if held else ("failed", "inconclusive"))
    assert replace(found, objections=("it failed before",)).word == ("failed" if held else found.word)
    assert sum(found.counts.values()) == len(outcomes)
    assert found.counts["missing"] == sum(one in (None, Outcome.MISSING) for one in outcomes)
    if found.word == "inconclusive":
        assert not {None, *Outcome} - {Outcome.MATCH, Outcome.WAIVED, Outcome.INCONCLUSIVE} & set(outcomes)


def test_what_nobody_saw_is_missing() -> None:
    found = verdict(Outcome.MATCH, None)
    assert found.of(claim(1)).outcome is Outcome.MISSING and found.of(claim(1)).reason
    assert found.word == "failed"


def waiver(pattern: str, days: int = 30) -> Waiver:
    return Waiver(claim=pattern, reason="known and accepted", until=TODAY + timedelta(days=days))


def test_a_waiver_shows_what_it_hides() -> None:
    found = waived(verdict(Outcome.MATCH, Outcome.MISMATCH), [waiver("onnx/onnxruntime/batch=1/*")], TODAY)
    reason = found.of(claim(1)).reason
    assert found.passed and found.counts["waived"] == 1
    assert "mismatch: because" in reason and "known and accepted" in reason and "until 2026-12-21" in reason


def test_a_waiver_ends() -> None:
    failed = verdict(Outcome.MATCH, Outcome.MISMATCH)
    assert waived(failed, [waiver("*", days=0)], TODAY).passed, "its last day counts"
    assert not waived(failed, [waiver("*", days=-1)], TODAY).passed


@pytest.mark.parametrize("pattern", ["onnx/openvino/*", "pir/*", "onnx/onnxruntime/batch=2/*", "ONNX/*", "onnx"])
def test_a_waiver_waives_nothing_else(pattern: str) -> None:
    assert not waived(verdict(Outcome.MATCH, Outcome.MISMATCH), [waiver(pattern)], TODAY).passed


def test_to_waive_everything_proves_nothing() -> None:
    found = waived(verdict(Outcome.MISMATCH, Outcome.CRASHED), [waiver("*")], TODAY)
    assert not found.passed and found.counts["waived"] == 2


def test_a_match_needs_no_waiver_and_keeps_its_name() -> None:
    assert waived(verdict(Outcome.MATCH), [waiver("*")], TODAY).counts["match"] == 1


@pytest.mark.parametrize("kind", ["interface", "weights"])
@pytest.mark.parametrize(
    ("pattern", "covers"),
    [("onnx/{}", True), ("*/{}", True), ("*", False), ("onnx/*", False), ("onnx/{}*", False), ("pir/{}", False)],
)
def test_what_a_file_is_has_to_be_named_by_its_waiver(kind: str, pattern: str, covers: bool) -> None:
    waiver = Waiver(claim=pattern.format(kind), reason="known and accepted", until=TODAY)
    assert (covering(Claim("onnx", "fp32", kind=kind), [waiver], TODAY) is waiver) is covers


@given(st.lists(st.sampled_from([None, *Outcome]), min_size=1, max_size=5), st.text("onx/*?[]!=10", max_size=12))
def test_a_waiver_never_adds_or_removes_a_claim(outcomes: list[Outcome | None], pattern: str) -> None:
    before = verdict(*outcomes)
    after = waived(before, [waiver(pattern or "*")], TODAY)
    assert after.plan == before.plan
    for one in before.plan:
        assert after.of(one).outcome in (before.of(one).outcome, Outcome.WAIVED)


@pytest.mark.parametrize(
    ("kind", "shown"), [("snr_db", True), ("top1", True), ("metric", True), ("size", False), ("weights", False)]
)
def test_in_low_precision_only_a_budget_shows_that_numbers_are_right(kind: str, shown: bool) -> None:
    """An output of it need but come in a case that probes."""
    came = Claim("onnx", "int8", "onnxruntime", "batch=8:zeros", "logits")
    budget = Claim("onnx", "int8", "onnxruntime", output="logits", kind=kind)
    waived_case = replace(came, case="batch=8")
    found = Verdict(
        frozenset({came, budget, waived_case}),
        {
            came: evidence(Outcome.MATCH),
            budget: evidence(Outcome.MATCH),
            waived_case: evidence(Outcome.WAIVED),
        },
    )
    assert found.passed is shown
    assert found.against == (() if shown else ("no output of onnx-int8 was shown to be right",))


def test_a_claim_is_named_by_what_it_is_about() -> None:
    of_output = Claim("onnx", "fp16", "onnxruntime", "batch=8", "logits")
    assert (of_output.variant, str(of_output)) == ("onnx-fp16", "onnx-fp16/onnxruntime/batch=8/logits")
    assert of_output.kind == OUTPUTS
    assert (
        str(Claim("pir", "fp32", "jit_load", output="logits", kind="pooled_bias")) == "pir/jit_load/pooled_bias/logits"
    )
    assert str(Claim("pir", "fp32", kind="weights")) == "pir/weights"


def test_evidence_counts_nothing_and_is_no_bits_unless_it_says_so() -> None:
    with pytest.raises(ValueError, match="zero elements"):
        Evidence(Outcome.MATCH)
    failed = Evidence(Outcome.MISMATCH, "because")
    assert (failed.elements, failed.bit_equal, dict(failed.metrics), failed.stage) == (0, False, {}, "compare")


def test_what_nobody_saw_ended_in_the_plan() -> None:
    assert verdict(None).of(claim(0)).stage == "plan"


NAMED = [
    ((Outcome.MATCH, Outcome.INCONCLUSIVE), "inconclusive"),
    ((Outcome.INCONCLUSIVE,), "inconclusive"),
    ((Outcome.WAIVED, Outcome.INCONCLUSIVE), "inconclusive"),
    ((Outcome.MATCH, Outcome.WAIVED, Outcome.INCONCLUSIVE), "inconclusive"),
    ((Outcome.INCONCLUSIVE, Outcome.MISMATCH), "failed"),
    ((Outcome.INCONCLUSIVE, None), "failed"),
    ((Outcome.WAIVED,), "failed"),
    ((Outcome.MATCH, Outcome.WAIVED), "passed_with_waivers"),
    ((Outcome.MATCH,), "passed"),
]


@pytest.mark.parametrize(("outcomes", "word"), NAMED)
def test_the_word_of_a_verdict(outcomes: tuple[Outcome | None, ...], word: str) -> None:
    found = verdict(*outcomes)
    assert (found.word, found.passed) == (word, word.startswith("passed"))
    if found.passed:
        assert replace(found, narrowed="one case").word == "partial"


SOURCE = Claim("source", "fp32", "eager", "batch=1", "logits")
OF_FILE = Claim("onnx", "fp32", kind="weights")


def of(*claims: Claim, lacking: Claim | None = None) -> Verdict:
    seen = {claim: evidence(Outcome.WAIVED if claim == lacking else Outcome.MATCH) for claim in claims}
    return Verdict(frozenset(claims), seen)


def test_every_variant_needs_a_number_that_was_computed_by_it() -> None:
    only_stored = of(OF_FILE)
    assert only_stored.against == ("no output of onnx was shown to be right",) and only_stored.word == "failed"
    assert of(OF_FILE, claim(1)).against == ()
    other = Claim("pir", "fp32", "jit_load", "batch=1", "logits")
    assert of(claim(1), other, lacking=other).against == ("no output of pir was shown to be right",)
    assert of(claim(1), other, lacking=claim(1)).against == ("no output of onnx was shown to be right",)


def test_the_source_proves_no_artifact_and_needs_no_proof() -> None:
    assert of(SOURCE).against == ("no artifact was read",) and not of(SOURCE).passed
    assert of(SOURCE, claim(1)).against == () and of(SOURCE, claim(1)).passed
    assert of(SOURCE, OF_FILE).against == ("no output of onnx was shown to be right",)


def test_objections_stand_before_all_else() -> None:
    assert replace(of(SOURCE), objections=("it is late",)).against == ("it is late", "no artifact was read")


def test_a_waiver_that_has_ended_is_told() -> None:
    waivers = [waiver("pir/*", days=-1), waiver("onnx/*", days=0), waiver("*", days=1)]
    (note,) = expired(waivers, TODAY)
    assert note == ("the waiver of pir/* has expired on 2026-11-20, so it waives nothing: known and accepted")
    assert covering(claim(1), waivers, TODAY) is waivers[1], "the first that covers it"


def test_a_waived_claim_keeps_what_was_measured() -> None:
    failed = replace(evidence(Outcome.MISMATCH), metrics={"error_ratio": 9.0})
    found = waived(Verdict(frozenset({claim(1)}), {claim(1): failed}), [waiver("*")], TODAY).of(claim(1))
    assert found.outcome is Outcome.WAIVED and found.metrics == {"error_ratio": 9.0}


def test_of_a_waiver_that_nobody_accepted_it_is_told_how_many_claims_it_would_cover() -> None:
    failed = verdict(Outcome.MATCH, Outcome.MISMATCH, None)
    told = unaccepted(failed, [waiver("*"), waiver("*/batch=1/*"), waiver("*/batch=0/*"), waiver("*", days=-1)], TODAY)
    effects = [note.partition(": ")[2].partition("; ")[0] for note in told]
    two, one, none = "2 claims fail that it would cover", "1 claims fail that it would cover", "no claim needs it"
    assert effects == [two, one, none, none]
    assert told[0].startswith(
        "the bundle waives * until 2026-12-21 (known and accepted), and nobody accepted it here: "
    )
    assert told[0].endswith("; --accept-waivers, or a trusted key that `may_waive`")
