"""The rule in verify.py is the exporter's own, though it shares no code with it: both judge the same, on any values."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exporter.compare.golden import GoldenCase, GoldenOutput, read_case
from exporter.compare.margin import unexplained
from exporter.compare.outputs import compare_case
from exporter.compare.pooled import Together, draws
from exporter.numbers.norms import above
from tests.bundle.test_verify_py import namespace_of_template
from tests.compare.goldens import golden


def described(outputs: dict[str, list[GoldenOutput]]) -> tuple[dict[str, Any], dict[str, Any], tuple[GoldenCase, ...]]:
    """A manifest and goldens that hold these outputs, one of each in every case; and as the exporter reads them."""
    cases, tensors = [], {}
    for at in range(len(next(iter(outputs.values())))):
        facts = {}
        for name, ones in outputs.items():
            one = ones[at]
            about = {"dtype": one.dtype, "shape": list(one.shape), "exact": one.exact, "gate": one.gate, "method": ""}
            about |= dict(zip(("scale_max", "scale_l2", "e_ref_max", "e_ref_l2"), one.scale + one.e_ref, strict=True))
            about |= {"scores": dict(zip(("output", "axis"), one.scores, strict=True))} if one.scores else {}
            about |= {"allowance": one.allowance} if one.allowance != 1.0 else {}  # as a bundle of schema 1 has it
            facts[name] = about
            kept = {"eager": one.eager, **({} if one.exact else {"truth": one.truth})}
            kept |= {} if one.index is None else {"index": one.index}
            tensors |= {f"c{at}/{kind}/{name}": value for kind, value in kept.items()}
        tensors[f"c{at}/input/x"] = np.zeros(0, "float32")  # so that float64 has the floor of float32
        cases.append({"name": f"c{at}", "dims": {}, "seed": ones[at].seed, "outputs": facts})
    manifest = {"cases": cases, "outputs": [{"name": name} for name in outputs], "budget": 4.0}
    return manifest, tensors, tuple(read_case(tensors, one) for one in cases)


ROWS = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@given(ROWS, st.integers(0, 10**6), st.sampled_from([0.0, 0.4, 1.0, 8.0]), st.booleans(), st.booleans())
def test_all_cases_together_are_judged_as_the_exporter_judges_them(
    rows: list[int], seed: int, bias: float, related: bool, sequence: bool
) -> None:
    """Rows and lengths that vary, equal rows, cases of one seed; errors of one direction and of none."""
    draw = np.random.default_rng(seed)
    shapes = [(size, 1 + size % 3, 4) if sequence else (size, 4) for size in rows]
    truths = [draw.standard_normal(shape) for shape in shapes]
    truths[-1][-1] = truths[-1][0]
    ones = [golden(truth, seed=0 if related else at, name="y") for at, truth in enumerate(truths)]
    manifest, tensors, cases = described({"y": ones})
    found = [one.eager + np.float32(bias * one.e_ref[0] * one.scale[0]) for one in ones]
    theirs = Together(draws(cases))
    for case, value in zip(cases, found, strict=True):
        theirs.add(case.name, {"y": value})
    expected = [evidence for _, evidence in theirs.judge(4.0)]
    space = namespace_of_template()
    limits = space["limits"](manifest, tensors)
    assert list(limits) == ["y"] * len(expected), "the same outputs are taken together"
    for evidence in expected:
        outcome, _ = space["judge_together"](manifest, tensors, "y", found, limits["y"])
        parts = space["one_way"](manifest, tensors, "y", found)
        assert max(parts) * 3 / limits["y"] == pytest.approx(evidence.metrics["combined_ratio"], rel=1e-9)
        assert outcome == evidence.outcome.value
    spoilt = [np.where(np.arange(4) == 1, np.float32("nan"), one) for one in found]
    assert all(
        space["judge_together"](manifest, tensors, "y", spoilt, limits[name])[0] == "mismatch" for name in limits
    )


@given(
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.sampled_from([1.0, 1.2, 1.96, 4.0]),
    st.sampled_from([1e-8, 1e-7, 1e-6]),
    st.floats(0.0, 12.0),
)
def test_few_numbers_are_judged_with_the_same_allowance(
    size: int, seed: int, allowance: float, e_ref: float, times: float
) -> None:
    """An error of `times` units, below and above the budget, where e_ref and where the floor is the unit."""
    draw = np.random.default_rng(seed)
    ones = [
        replace(golden(draw.standard_normal((size, 1)) + 3, seed=at), e_ref=(e_ref, e_ref), allowance=allowance)
        for at in range(2)
    ]
    assume(abs(times - 4) > 1e-2)
    first = replace(ones[0], dtype="float64", eager=ones[0].truth)
    manifest, tensors, cases = described({"y": [first, replace(ones[1], dtype="float64", eager=ones[1].truth)]})
    step = np.zeros((size, 1))
    step[seed % size] = times * first.unit[0] * first.scale[0]
    got = first.truth + step
    others = {"y": [case.outputs["y"] for case in cases]}
    expected = compare_case(cases[0], {"y": got}, 4.0, others)["y"]
    outcome, reason = namespace_of_template()["judge"](manifest, tensors, 0, "y", got, None)
    assert outcome == expected.outcome.value, (reason, expected.reason)
    assert outcome == ("mismatch" if times > 4 else outcome) and (outcome != "mismatch" or times > 4)


@pytest.mark.parametrize(
    ("number", "said"), [(4.001, "4.001"), (4.0000001, "4.0000001"), (5.5123, "5.51"), (4e9, "4e+09")]
)
def test_a_number_over_a_limit_is_written_so_that_it_reads_so(number: float, said: str) -> None:
    space = namespace_of_template()
    assert space["above"](number, 4.0) == above(number, 4.0) == said
    assert above(float("nan"), 4.0) == "nan" and float(above(np.nextafter(4, 5), 4.0)) > 4


def test_of_a_sample_and_of_one_draw_nothing_is_taken_together() -> None:
    limits = namespace_of_template()["limits"]
    truth = np.random.default_rng(0).standard_normal((3, 4))
    assert limits(*described({"y": [golden(truth), golden(truth**2, seed=1)]})[:2])
    assert not limits(*described({"y": [golden(truth, index=np.array([1, 5])), golden(truth, seed=1)]})[:2])
    assert not limits(*described({"y": [golden(truth), golden(truth, seed=1)]})[:2]), "the same values twice"
    assert not limits(*described({"y": [golden(truth.astype("int64"), seed=at) for at in (0, 1)]})[:2])


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-7, 1e-6, 1e-2]), st.integers(-1, 5), st.booleans())
def test_labels_may_differ_where_their_scores_nearly_tie(seed: int, gap: float, other: int, gated: bool) -> None:
    """As the exporter has it: the best and the second score lie `gap` apart, and the engine says `other`."""
    draw = np.random.default_rng(seed)
    truth = draw.standard_normal((3, 4))
    truth[:, 1] = truth.max(1) + 1
    truth[:, 2] = truth[:, 1] - gap
    scores = golden(truth, name="scores", gate="shut" if gated else "")
    labels = golden(truth.argmax(1), name="label", scores=("scores", 1))
    got = labels.eager.copy()
    got[seed % 3] = other
    manifest, tensors, (case,) = described({"scores": [scores], "label": [labels]})
    tied = namespace_of_template()["near_ties"](manifest["cases"][0], tensors, "label", got, 4.0)
    left = int(np.sum((got != labels.eager) & ~tied))
    assert left == unexplained(case.outputs["label"], got, case.outputs, 4.0)
    assert other != 2 or gap > 1e-6 or gated or left == 0, "a tie is a tie"
    judged = namespace_of_template()["judge"](manifest, tensors, 0, "label", got, None)
    assert judged[0] == ("mismatch" if left else "match")


def test_what_errs_always_the_same_way_within_the_budget_of_each_case_is_found(bundle: Path) -> None:
    """A bias that is off by less than a case allows."""
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    golden_of = namespace_of_template(bundle)["read_golden"]()
    about = [case["outputs"]["logits"] for case in manifest["cases"]]
    step = 3.2 * min(max(one["e_ref_l2"], 2.0**-22) * one["scale_l2"] for one in about)
    values = [golden_of[f"{case['name']}/truth/logits"] + step for case in manifest["cases"]]
    space = namespace_of_template()
    limit = space["limits"](manifest, golden_of)["logits"]
    for truth, value, one in zip(values, values, about, strict=True):
        assert space["error_ratio"](truth - step, value, one) < 4
    assert space["judge_together"](manifest, golden_of, "logits", values, limit)[0] == "mismatch"
    sound = [value - step for value in values]
    assert space["judge_together"](manifest, golden_of, "logits", sound, limit)[0] == "match"
