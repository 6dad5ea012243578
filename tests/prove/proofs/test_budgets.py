from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.intervals import bootstrap, paired
from exporter.base.numbers.norms import decibel
from exporter.base.numbers.rule import AGREEMENT, wilson
from exporter.base.tensors import Array
from exporter.export.lower.base import Artifact
from exporter.export.lower.precision.noise import snr_db
from exporter.prove.compare.outputs import compare_case
from exporter.prove.harness import Bench
from exporter.prove.proofs.kinds.size import prove_size
from exporter.prove.proofs.promises import Promise, over_cases
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from tests.prove.compare.goldens import cases_of, golden
from tests.prove.proofs.test_weights import stored

RUN = Run("onnx", "int8", "onnxruntime")
RNG = np.random.default_rng(3)


def bench(goldens: list[GoldenOutput], budget: dict[str, Any]) -> Bench:
    cases = tuple(GoldenCase(f"batch={at}", {}, {"y": one}, f"batch={at}") for at, one in enumerate(goldens))
    low = Artifact("onnx", "int8", ("onnx-int8/model.onnx",), ("x",), ("y",), ("y",), {"budget": budget})
    return Bench(Path(), Path(), cases, {"onnx-int8": low}, ("y",), ("x",), None, "cpu", 4.0)


def judged(goldens: list[GoldenOutput], got: list[Array], budget: dict[str, Any]) -> dict[str, Evidence]:
    """What becomes of the budgets, by kind, and of the first case that fails."""
    here = bench(goldens, budget)
    evidence = {}
    for case, value in zip(here.cases, got, strict=True):
        one = compare_case(case, {"y": value}, None, {"y": goldens})["y"]
        evidence[Claim(RUN.format, RUN.precision, RUN.engine, case.name, "y")] = one
    wanted = {"snr_db": budget.get("min_snr_db"), "top1": budget.get("min_top1", AGREEMENT)}
    planned = {kind: number for kind, number in wanted.items() if number is not None and kind_fits(kind, goldens[0])}
    found = {kind: proven(promise(kind, number), here, evidence) for kind, number in planned.items()}
    return found | {
        "case": next(
            (one for one in evidence.values() if one.outcome is not Outcome.MATCH), Evidence(Outcome.MISSING, "-")
        )
    }


def promise(kind: str, wanted: float) -> Promise:
    return Promise(Claim(RUN.format, RUN.precision, RUN.engine, output="y", kind=kind), wanted)


def proven(promise: Promise, here: Bench, evidence: dict[Claim, Evidence]) -> Evidence:
    return over_cases(promise, here.cases, evidence)


def kind_fits(kind: str, golden: GoldenOutput) -> bool:
    return kind == "top1" or not golden.exact


def noisy(goldens: list[GoldenOutput], share: float) -> list[Array]:
    return [(one.truth + share * RNG.standard_normal(one.truth.shape)).astype("float32") for one in goldens]


def test_noise_of_a_hundredth_is_40_db() -> None:
    goldens = cases_of([(64, 10)] * 4)
    found = judged(goldens, noisy(goldens, 0.01), {"min_snr_db": 35})["snr_db"]
    assert found.outcome is Outcome.MATCH
    assert found.metrics["snr_db"] == pytest.approx(40, abs=0.5)


def test_too_much_noise_fails() -> None:
    goldens = cases_of([(64, 10)] * 4)
    found = judged(goldens, noisy(goldens, 0.1), {"min_snr_db": 35})["snr_db"]
    assert found.outcome is Outcome.MISMATCH


@pytest.mark.parametrize("wrong", ["zeros", "constant", "nan"])
def test_answers_that_ignore_the_input_fail_in_every_case(wrong: str) -> None:
    goldens = cases_of([(8, 10)] * 3)
    value = {"zeros": 0.0, "constant": 0.3, "nan": math.nan}[wrong]
    got = [np.full(one.shape, value, "float32") for one in goldens]
    found = judged(goldens, got, {"min_snr_db": 1})
    assert found["snr_db"].outcome is Outcome.MISMATCH
    assert found["case"].outcome is Outcome.MISMATCH


def test_a_budget_that_one_row_for_all_would_keep_is_vacuous() -> None:
    row = RNG.standard_normal(10) * 100
    goldens = [golden(row + RNG.standard_normal((8, 10)), seed=seed) for seed in range(3)]
    found = judged(goldens, noisy(goldens, 0.1), {"min_snr_db": 30})["snr_db"]
    assert found.outcome is Outcome.VACUOUS
    assert "one row for all would have" in found.reason


def test_a_case_that_crashed_is_not_left_out() -> None:
    goldens = cases_of([(8, 10)] * 2)
    here = bench(goldens, {"min_snr_db": 20})
    crash = Evidence(Outcome.CRASHED, "boom", stage="run")
    found = proven(promise("snr_db", 20), here, {Claim("onnx", "int8", "onnxruntime", "batch=0", "y"): crash})
    assert found.outcome is Outcome.CRASHED


def test_agreement_counts_rows_and_has_an_interval() -> None:
    goldens = cases_of([(50, 10)] * 2)
    got = [one.eager.copy() for one in goldens]
    got[0][0] = -got[0][0]
    found = judged(goldens, got, {"min_top1": 0.99})["top1"]
    assert found.outcome is Outcome.MATCH
    assert found.reason.startswith("99 of 100 agree")
    assert judged(goldens, got, {"min_top1": 0.995})["top1"].outcome is Outcome.MISMATCH


def test_whole_numbers_are_judged_without_being_asked_for() -> None:
    goldens = [golden(RNG.integers(0, 9, (100,)), seed=seed) for seed in range(2)]
    got = [one.eager.copy() for one in goldens]
    assert judged(goldens, got, {})["top1"].outcome is Outcome.MATCH
    got[0][:30] += 1
    assert judged(goldens, got, {})["top1"].outcome is Outcome.MISMATCH


@pytest.mark.parametrize(("size", "outcome"), [(30, Outcome.MATCH), (40, Outcome.MISMATCH)])
def test_a_variant_is_as_small_as_promised(tmp_path: Path, size: int, outcome: Outcome) -> None:
    for name, length in (("onnx", 100), ("onnx-int8", size)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(b"x" * length)
    low = bench(cases_of([(1, 2)]), {"max_size": 0.35}).artifacts["onnx-int8"]
    plain = Artifact("onnx", "fp32", ("onnx/model.onnx",), ("x",), ("y",), ("y",))
    assert prove_size(low, plain, tmp_path, 0.35).outcome is outcome
    assert prove_size(low, plain, tmp_path, None).outcome is Outcome.MATCH
    share = size / 100
    assert prove_size(low, plain, tmp_path, share).metrics == {"share": share}, "just as large as promised"
    assert prove_size(low, plain, tmp_path, share).outcome is Outcome.MATCH
    assert prove_size(low, plain, tmp_path, share / 1.05).outcome is Outcome.MISMATCH


def test_what_takes_most_of_a_variant_that_is_too_large_is_named(tmp_path: Path) -> None:
    sizes = {"b": 3, "a": 3, "c": 9, "d": 1, "e": 5}
    values = {name: np.ones(size, "float32") for name, size in sizes.items()}
    codes = {"codes": np.ones(999, "int8"), "more": np.ones(999, "uint8")}
    plain = stored(tmp_path, values)
    low = stored(tmp_path, {**values, **codes}, "onnx-int8", precision="int8", details={"layers": {}})
    said = "; most of what is not in 8 bits: c (36 bytes), e (20 bytes), a (12 bytes)"
    assert prove_size(low, plain, tmp_path, 0.5).reason.endswith(f"and at most 0.5 was promised{said}")
    alone = stored(tmp_path, codes, "onnx-int8", precision="int8", details={"layers": {}})
    assert prove_size(alone, plain, tmp_path, 0.5).reason.endswith("and at most 0.5 was promised")


def test_a_share_that_the_commonest_answer_would_reach_is_vacuous() -> None:
    """Nine of ten rows have one answer: whoever always gives it agrees in nine of ten."""
    labels = np.arange(100) % 10 == 0
    goldens = [golden(labels.astype("int64"), seed=seed) for seed in range(2)]
    got = [one.eager.copy() for one in goldens]
    found = judged(goldens, got, {"min_top1": 0.9})["top1"]
    assert found.outcome is Outcome.VACUOUS and "the commonest answer for every row would agree in 0.9" in found.reason
    assert judged(goldens, got, {"min_top1": 0.95})["top1"].outcome is Outcome.MATCH


@given(st.integers(1, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_an_interval_holds_its_share_and_is_never_empty(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1
    assert high > low


def test_a_pair_without_a_difference_still_leaves_room_for_one() -> None:
    same = np.zeros(360, bool)
    low, high = paired(same, same)
    assert low == -high
    assert 0.005 < high < 0.02


def test_the_bootstrap_repeats_and_surrounds_the_loss() -> None:
    values = RNG.standard_normal(200) + 0.5
    low, high = bootstrap(lambda index: float(values[index].mean()), 200)
    assert (low, high) == bootstrap(lambda index: float(values[index].mean()), 200)
    assert low < values.mean() < high


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_decibels_of_energies(signal: float, noise: float) -> None:
    assert decibel(signal, noise) == pytest.approx(-decibel(noise, signal))


def test_decibels_at_the_ends() -> None:
    assert decibel(1.0, 0.0) == 200.0
    assert math.isnan(decibel(1.0, math.nan))
    assert snr_db([(np.ones(4), np.zeros(4))]) == 0.0
