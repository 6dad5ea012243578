"""verify.py and the exporter judge the same, on any values: the same outcomes and the same words."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exporter.base.numbers.golden import GoldenCase, GoldenOutput, read_cases, to_run
from exporter.base.numbers.pooled import Pooled, draws
from exporter.base.numbers.rule import promised_of
from exporter.base.tensors import Array
from exporter.prove.compare.outputs import compare_case
from exporter.prove.proofs.promises import Promise, over_cases
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from tests.bundle.test_verify_py import script_of
from tests.prove.compare.goldens import golden

Answers = dict[str, dict[str, Array]]
Said = dict[tuple[str, str], tuple[str, str]]


@functools.cache
def script() -> ModuleType:
    return script_of(Path())


def described(outputs: dict[str, list[GoldenOutput]], names: list[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    """A manifest and goldens that hold these outputs, one of each in every case."""
    cases, tensors = [], {}
    for at, case in enumerate(names):
        facts = {}
        for name, ones in outputs.items():
            one = ones[at]
            about = {"dtype": one.dtype, "shape": list(one.shape), "exact": one.exact, "gate": one.gate, "method": ""}
            about |= dict(zip(("scale_max", "scale_l2", "e_ref_max", "e_ref_l2"), one.scale + one.e_ref, strict=True))
            about |= {"scores": dict(zip(("output", "axis"), one.scores, strict=True))} if one.scores else {}
            about["allowance"] = one.allowance
            facts[name] = about
            kept = {"eager": one.eager, **({} if one.exact else {"truth": one.truth})}
            kept |= {} if one.index is None else {"index": one.index}
            tensors |= {f"{case}/{kind}/{name}": value for kind, value in kept.items()}
        tensors[f"{case}/input/x"] = np.zeros(3, "float32")
        cases.append({"name": case, "dims": {"batch": 9 - at}, "seed": at, "outputs": facts})
    variant = {"precision": "fp32", "outputs": [f"native {name}" for name in outputs], "details": {}}
    manifest = {"cases": cases, "outputs": [{"name": name} for name in outputs], "budget": 4.0, "spec": {}}
    manifest |= {"inputs": [{"name": "x", "shape": [3]}], "variants": {"onnx": variant}}
    return manifest, tensors


def both(outputs: dict[str, list[GoldenOutput]], got: Answers, low: dict[str, float] | None = None) -> Said:
    """What both say of the answers by case; `:again` and `:threads` repeat a recorded one. Raises where they differ."""
    manifest, tensors = described(outputs, list(got))
    cases = to_run(read_cases(tensors, manifest["cases"]))
    answers = {case.name: got[case.recorded] for case in cases}
    if low is not None:
        manifest["spec"] = {"precisions": {"int8": {"budget": low}}}
        manifest["variants"]["onnx"] |= {"precision": "int8", "details": {"budget": {"min_snr_db": 1e-3}}}
    ours = by_package(cases, answers, low)
    theirs = by_script(manifest, tensors, answers)
    assert theirs == ours
    return ours


def by_package(cases: tuple[GoldenCase, ...], answers: Answers, low: dict[str, float] | None) -> Said:
    run = Run("onnx", "fp32" if low is None else "int8", "onnxruntime")
    found: dict[Claim, Evidence] = {}
    others = {name: [case.outputs[name] for case in cases] for name in cases[0].outputs}
    together = Pooled(draws(cases) if low is None else {})
    for case in cases:
        got = answers[case.name]
        together.add(case.name, got if set(got) == set(case.outputs) else {})
        judged = compare_case(case, got, 4.0 if low is None else None, others)
        found |= {Claim(run.format, run.precision, run.engine, case.name, name): one for name, one in judged.items()}
    said = {(claim.case, claim.output): (one.outcome.value, one.reason) for claim, one in found.items()}
    for name in others if low is not None else ():
        assert low is not None
        wanted = promised_of(cases[0].outputs[name].exact, low.get("min_snr_db"), low.get("min_top1"))
        for kind, number in wanted.items():
            claim = Claim(run.format, run.precision, run.engine, output=name, kind=kind)
            one = over_cases(Promise(claim, number), cases, found)
            said[kind, name] = one.outcome.value, one.reason
    return said | {("pooled_bias", name): (one.outcome, one.reason) for name, one in together.judge(4.0).items()}


def by_script(manifest: dict[str, Any], tensors: dict[str, Array], answers: Answers) -> Said:
    module = script()
    cases = module.to_run(module.recorded_cases(manifest, tensors))
    native = {case: {f"native {name}": value for name, value in got.items()} for case, got in answers.items()}
    checks, planned = module.judged_answers(manifest, manifest["variants"]["onnx"], cases, native)
    assert planned == len(checks)
    renamed = [[case, output, outcome, reason.replace("native ", "")] for case, output, outcome, reason in checks]
    return {(case, output): (outcome, reason) for case, output, outcome, reason in renamed}


ROWS = st.lists(st.integers(1, 5), min_size=1, max_size=4)
SEEDS = st.integers(0, 10**6)


def answered(ones: list[GoldenOutput], values: list[Array], related: bool = False) -> Answers:
    """One value in each case; `related` cases are made from the first."""
    names = [f"c{0 if related else at}" + f":{at}" * bool(related and at) for at in range(len(ones))]
    return {name: {"y": value} for name, value in zip(names, values, strict=True)}


@given(ROWS, SEEDS, st.sampled_from([0.0, 0.4, 1.0, 8.0]), st.booleans(), st.booleans())
def test_floats_and_all_cases_together(rows: list[int], seed: int, bias: float, related: bool, sequence: bool) -> None:
    """Rows and lengths that vary, equal rows, related cases; errors of one direction and of none, and NaN."""
    draw = np.random.default_rng(seed)
    shapes = [(size, 1 + size % 3, 4) if sequence else (size, 4) for size in rows]
    truths = [draw.standard_normal(shape) for shape in shapes]
    truths[-1][-1] = truths[-1][0]
    ones = [golden(truth, seed=at, name="y") for at, truth in enumerate(truths)]
    found = [one.eager + np.float32(bias * one.unit[0] * one.scale[0]) for one in ones]
    said = both({"y": ones}, answered(ones, found, related))
    assert bias < 8 or said["c0", "y"][0] == "mismatch"
    spoilt = [np.where(np.arange(4) == 1, np.float32("nan"), one) for one in found]
    outcomes = {outcome for outcome, _ in both({"y": ones}, answered(ones, spoilt, related)).values()}
    assert outcomes == {"mismatch"}


@given(
    st.integers(1, 4),
    SEEDS,
    st.sampled_from([1.0, 1.2, 1.96, 4.0, 50.0]),
    st.sampled_from([1e-8, 1e-7, 1e-6, 1e-3]),
    st.floats(0.0, 12.0),
)
def test_few_numbers_with_their_allowance(size: int, seed: int, allowance: float, e_ref: float, times: float) -> None:
    """An error of `times` units, below and above the budget, where e_ref and where the floor is the unit."""
    draw = np.random.default_rng(seed)
    assume(abs(times - 4) > 1e-2)
    ones = [replace(golden(draw.standard_normal((size, 1)) + 3, seed=at), e_ref=(e_ref, e_ref)) for at in range(2)]
    ones = [replace(one, allowance=allowance, dtype="float64", eager=one.truth) for one in ones]
    step = np.zeros((size, 1))
    step[seed % size] = times * max(min(allowance, 4.0) * e_ref, 2.0**-22) * ones[0].scale[0]
    outcome, _ = both({"y": ones}, answered(ones, [ones[0].truth + step, ones[1].truth]))["c0", "y"]
    if e_ref == 1e-3:
        assert outcome == "inconclusive", "no rounding explains it"
    elif times > 4:
        assert outcome == "mismatch"


@given(SEEDS, st.sampled_from([0.0, 1e-4, 1e-2]), st.sampled_from(["", "inside", "outside", "nan"]))
def test_of_a_sample(seed: int, spread: float, wrong: str) -> None:
    """What differs in the sample is found, and outside of it, by the norms of the whole."""
    draw = np.random.default_rng(seed)
    index = np.sort(draw.choice(60, 20, replace=False))
    truths = [1.0 + draw.standard_normal((3, 20)) * (spread or 1.0) for _ in range(3)]
    values = [truth.astype("float32") for truth in truths]
    place = index[3] if wrong == "inside" else np.setdiff1d(np.arange(60), index)[0]
    values[0].ravel()[place] += np.float32({"": 0.0, "nan": np.nan}.get(wrong, 9.0))
    ones = [golden(truth, seed=at, index=index) for at, truth in enumerate(truths)]
    with mock.patch.object(script(), "other_sample", return_value=""):  # of which places has its own test
        outcome, _ = both({"y": ones}, answered(ones, values))["c0", "y"]
    assert not wrong or outcome == "mismatch"


@given(SEEDS, st.sampled_from([0.0, 1e-7, 1e-6, 1e-2]), st.integers(-1, 5), st.booleans(), st.booleans())
def test_labels_may_differ_where_their_scores_nearly_tie(
    seed: int, gap: float, other: int, gated: bool, unlike: bool
) -> None:
    """The best and the second score lie `gap` apart, and the engine says `other`; `unlike` labels are no argmax."""
    draw = np.random.default_rng(seed)
    scores, labels = [], []
    for at in range(2):
        truth = draw.standard_normal((3, 4))
        truth[:, 1] = truth.max(1) + 1
        truth[:, 2] = truth[:, 1] - gap
        scores.append(golden(truth, seed=at, gate="shut" if gated and not at else ""))
        best = scores[-1].eager.argmax(1)
        labels.append(golden(best[::-1] * 0 + 3 if unlike else best, seed=at, scores=("scores", 1)))
    got = [label.eager.copy() for label in labels]
    got[0][seed % 3] = other
    answers = {
        f"c{at}": {"scores": score.eager, "label": value}
        for at, (score, value) in enumerate(zip(scores, got, strict=True))
    }
    outcome, _ = both({"scores": scores, "label": labels}, answers)["c0", "label"]
    same = other == labels[0].eager[0]
    tied = other == 2 and gap <= 1e-7 and not gated and not unlike
    assert outcome == ("mismatch" if not (same or tied) else outcome)
    assert outcome != "mismatch" or not (same or tied)


@given(SEEDS, st.sampled_from([0.0, 0.01, 0.1, 1.0]), st.sampled_from([None, 0.3, 0.95]), st.sampled_from([5.0, 30.0]))
def test_reduced_precision(seed: int, noise: float, share: float | None, decibels: float) -> None:
    """Floats by their noise and the place of the largest, whole numbers by how many agree; one answer for all rows."""
    draw = np.random.default_rng(seed)
    truths = [draw.standard_normal((8, 5)) for _ in range(3)]
    labels = [golden(truth.argmax(1) * (seed % 2), seed=at) for at, truth in enumerate(truths)]
    ones = [golden(truth, seed=at) for at, truth in enumerate(truths)]
    answers: Answers = {}
    for at, (one, label) in enumerate(zip(ones, labels, strict=True)):
        wrong = draw.random(label.shape) < noise
        value = (one.truth + noise * draw.standard_normal(one.shape)).astype("float32")
        answers[f"c{at}" if at < 2 else "c0:large"] = {"y": value, "label": np.where(wrong, -1, label.eager)}
    low = {"min_snr_db": decibels, **({} if share is None else {"min_top1": share})}
    said = both({"y": ones, "label": labels}, answers, low)
    assert ("snr_db", "y") in said and ("top1", "label") in said and (("top1", "y") in said) == (share is not None)
    assert noise < 1 or decibels < 30 or said["snr_db", "y"][0] == "mismatch"
    assert seed % 2 or said["top1", "label"][0] != "match", "one label for all tells nothing"


@pytest.mark.parametrize("change", ["missing", "extra", "dtype", "shape", "empty"])
def test_what_is_wrong_before_values_count(change: str) -> None:
    draw = np.random.default_rng(1)
    truths = [draw.standard_normal((0 if change == "empty" else 3, 4)) for _ in range(2)]
    ones = [golden(truth, eager=truth.astype("float32"), seed=at) for at, truth in enumerate(truths)]
    answers = {f"c{at}": {"y": one.eager, "z": one.eager} for at, one in enumerate(ones)}
    first: dict[str, Any] = answers["c0"]
    first |= {"dtype": {"y": first["y"].astype("float64")}, "shape": {"y": first["y"].T}}.get(change, {})
    first |= {"extra": first["y"]} if change == "extra" else {}
    answers["c0"] = {name: value for name, value in first.items() if change != "missing" or name == "z"}
    outcome, reason = both({"y": ones, "z": ones}, answers)["c0", "y"]
    assert (outcome, reason.partition(" ")[0]) in {
        ("missing", "no"), ("mismatch", "outputs"), ("mismatch", "dtype"), ("mismatch", "shape"), ("vacuous", "the")
    }  # fmt: skip


def test_a_promise_that_a_case_leaves_open_is_open() -> None:
    """A label of another dtype was not compared, so that no share of it is known."""
    labels = [golden(np.arange(6) + at, seed=at) for at in range(2)]
    said = both({"y": labels}, answered(labels, [labels[0].eager.astype("int32"), labels[1].eager]), {})
    assert said["top1", "y"] == ("mismatch", "case c0: dtype is int32, eager's is int64")


def test_the_spec_s_budget_is_the_one_that_counts() -> None:
    """`details` in the manifest say what was promised by default, and no more."""
    variant = {"precision": "int8", "details": {"budget": {"min_snr_db": 1.0, "min_top1": 0.5}}}
    spec = {"precisions": {"int8": {"budget": {"min_snr_db": 30.0, "min_top1": None}}}}
    budget = script().promised_budget({"spec": spec}, variant)
    assert budget == {"min_snr_db": 30.0, "min_top1": 0.5}
    assert script().promised_budget({"spec": {"precisions": ["fp32"]}}, variant)["min_snr_db"] == 1.0


def test_what_errs_always_the_same_way_within_the_budget_of_each_case_is_found(bundle: Path) -> None:
    """A bias that is off by less than a case allows, in the goldens of a real network."""
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    tensors = script_of(bundle).read_golden(bundle)
    cases = to_run(read_cases(tensors, manifest["cases"]))
    step = 3.2 * min(case.outputs["logits"].unit[1] * case.outputs["logits"].scale[1] for case in cases)
    wide = [replace(case, outputs={"logits": _wide(case.outputs["logits"])}) for case in cases]
    others = {"logits": [case.outputs["logits"] for case in wide]}
    for away, outcome in ((step, Outcome.MISMATCH), (0.0, Outcome.MATCH)):
        together = Pooled(draws(wide))
        for case in wide:
            got = {"logits": case.outputs["logits"].truth + away}
            together.add(case.name, got)
            assert compare_case(case, got, 4.0, others)["logits"].outcome is Outcome.MATCH
        assert together.judge(4.0)["logits"].outcome == outcome.value


def _wide(one: GoldenOutput) -> GoldenOutput:
    return replace(one, dtype="float64")


def test_claims_are_called_as_the_exporter_calls_them() -> None:
    """A waiver's pattern covers the same claims in both."""
    ones = [golden(np.random.default_rng(at).standard_normal((3, 4)), seed=at) for at in range(2)]
    said = both({"y": ones}, answered(ones, [one.eager for one in ones]))
    assert list(said) == [("c0", "y"), ("c1", "y"), ("c0:again", "y"), ("c0:threads=2", "y"), ("pooled_bias", "y")]
    names = {str(Claim("onnx", "fp32", "onnxruntime", case, "y")) for case in ("c0", "c1", "c0:again", "c0:threads=2")}
    names |= {str(Claim("onnx", "fp32", "onnxruntime", output="y", kind="pooled_bias"))}
    assert names == {f"onnx/onnxruntime/{case}/{output}" for case, output in said}
