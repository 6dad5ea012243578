"""A systematic error adds up over the cases, and rounding does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import norms
from exporter.base.numbers.pooled import SHARE, Pooled, draws
from exporter.base.tensors import Array
from exporter.prove.compare.outputs import evidence_of
from exporter.prove.verdict.claim import Evidence, Outcome
from exporter.prove.verdict.plan import Run
from tests.prove.compare.goldens import cases_of, golden

BUDGET = 4.0
RUN = Run("onnx", "fp32", "onnxruntime")
#: 30 rows of 6 features, in units of an e_ref that stands for a real network's.
SHAPES = [(8, 6), (8, 6), (1, 6), (13, 6)]
E_REF = 1e-5


def recorded(outputs: Sequence[GoldenOutput], e_ref: float | None = E_REF) -> list[GoldenCase]:
    units = [one if e_ref is None else replace(one, e_ref=(e_ref, e_ref)) for one in outputs]
    return [GoldenCase(f"c{at}", {}, {"y": one}, f"c{at}") for at, one in enumerate(units)]


CASES = recorded(cases_of(SHAPES))


def judged(cases: Sequence[GoldenCase], answer: Callable[[GoldenOutput], Array]) -> Evidence:
    together = Pooled(draws(cases))
    for case in cases:
        together.add(case.name, {name: answer(one) for name, one in case.outputs.items()})
    ((name, pooled),) = together.judge(BUDGET).items()
    assert name == "y"
    return evidence_of(pooled)


def off_by(times: float, way: Callable[[GoldenOutput], Array]) -> Callable[[GoldenOutput], Array]:
    """An answer that errs in each case by so many e_ref, in L2, along `way`."""

    def answer(one: GoldenOutput) -> Array:
        direction = np.broadcast_to(way(one), one.shape)
        step = times * one.e_ref[1] * one.scale[1] / norms(direction)[1]
        return (one.truth + step * direction).astype("float64")

    return answer


def wide(cases: Sequence[GoldenCase]) -> list[GoldenCase]:
    """The same with float64 answers, so that what is added is what is judged."""
    return [replace(case, outputs={"y": replace(case.outputs["y"], dtype="float64")}) for case in cases]


def constant(one: GoldenOutput) -> Array:
    return np.ones(one.shape)


def one_feature(one: GoldenOutput) -> Array:
    return np.eye(one.shape[-1])[2]


def scale(one: GoldenOutput) -> Array:
    return one.truth


def test_eager_itself_matches() -> None:
    found = judged(CASES, lambda one: one.eager)
    assert found.outcome is Outcome.MATCH and found.elements == 30 * 6


@given(st.integers(0, 10**6), st.floats(0.0, 1.5))
def test_independent_errors_match(seed: int, times: float) -> None:
    generator = np.random.default_rng([7, seed])
    noise = off_by(times, lambda one: generator.standard_normal(one.shape))
    assert judged(wide(CASES), noise).outcome is Outcome.MATCH


@pytest.mark.parametrize("way", [constant, one_feature, scale])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_error_below_one_case_s_budget_is_found_where_it_is_always_the_same(
    way: Callable[[GoldenOutput], Array], sign: int
) -> None:
    """0.9 e_ref in each case: more than four times below what one case may err."""
    found = judged(wide(CASES), off_by(0.9 * sign, way))
    assert found.outcome is Outcome.MISMATCH and "err in one direction" in found.reason
    assert found.metrics["combined_ratio"] > SHARE * BUDGET


@given(st.sampled_from([constant, one_feature, scale]), st.floats(4.0, 1e6), st.integers(0, 10**6))
def test_what_fails_in_each_case_fails_together(way: Callable[[GoldenOutput], Array], times: float, seed: int) -> None:
    """Eager's own errors, however they lie, never hide an error as large as one case allows."""
    generator = np.random.default_rng([7, seed])
    biased = [
        GoldenCase(case.name, {}, {"y": replace(case.outputs["y"], eager=_biased(case.outputs["y"], generator))}, "")
        for case in wide(CASES)
    ]
    assert judged(biased, off_by(times, way)).outcome is Outcome.MISMATCH


def _biased(one: GoldenOutput, generator: np.random.Generator) -> Array:
    return off_by(1.0, (constant, scale, one_feature)[generator.integers(3)])(one)


def test_eager_s_own_bias_is_the_unit() -> None:
    """Where eager errs always the same way, e_ref long, an engine that does so too is no worse than eager."""
    biased = [replace(case, outputs={"y": replace(case.outputs["y"], eager=off_by(1.0, constant)(case.outputs["y"]))})
              for case in wide(CASES)]  # fmt: skip
    assert judged(biased, off_by(1.0, constant)).outcome is Outcome.MATCH
    assert judged(wide(CASES), off_by(1.0, constant)).outcome is Outcome.MISMATCH


@given(st.integers(-60, 60), st.sampled_from([0.3, 0.9]))
def test_scaling_by_a_power_of_two_changes_nothing(power: int, times: float) -> None:
    factor = 2.0**power
    scaled = [
        replace(
            case,
            outputs={
                "y": replace(
                    one,
                    eager=one.eager.astype("float64") * factor,
                    truth=one.truth * factor,
                    scale=(one.scale[0] * factor, one.scale[1] * factor),
                )
            },
        )
        for case in wide(CASES)
        for one in case.outputs.values()
    ]
    one, other = (judged(cases, off_by(times, constant)) for cases in (wide(CASES), scaled))
    assert one.outcome is other.outcome
    assert one.metrics["combined_ratio"] == pytest.approx(other.metrics["combined_ratio"], rel=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_fails(value: float) -> None:
    def answer(one: GoldenOutput) -> Array:
        got = one.eager.copy()
        got.flat[-1] = value
        return got

    assert judged(CASES, answer).outcome is Outcome.MISMATCH


def test_a_result_that_did_not_come_is_missing() -> None:
    together = Pooled(draws(CASES))
    for case in CASES[1:]:
        together.add(case.name, {"y": case.outputs["y"].eager})
    together.add(CASES[0].name, {"y": CASES[0].outputs["y"].eager[:1]})
    found = together.judge(BUDGET)["y"]
    assert found.outcome == "missing" and "3 of the 4" in found.reason


def test_related_cases_and_equal_rows_count_once() -> None:
    """Their errors are related too: a clean engine would seem to err always the same way."""
    first = CASES[0].outputs["y"]
    again = replace(first, draw="99")  # the same rows under another seed, as from a short file of samples
    related = replace(first, truth=first.truth * 2)
    cases = recorded([first, again, related, *(case.outputs["y"] for case in CASES[1:])])
    assert draws(cases)["y"].count == draws(CASES)["y"].count == 30
    assert draws(cases)["y"].rows["c1"].sum() == 0 and "c2" not in draws(cases)["y"].outputs
    assert judged(cases, lambda one: one.eager).outcome is Outcome.MATCH


def test_other_dims_that_vary_are_averaged() -> None:
    sequences = wide(recorded(cases_of([(4, 5, 6), (4, 9, 6), (2, 3, 6)])))
    assert draws(sequences)["y"].count == 10
    assert judged(sequences, off_by(0.5, constant)).outcome is Outcome.MATCH
    assert judged(sequences, off_by(2.0, constant)).outcome is Outcome.MISMATCH


def test_of_a_sample_the_scale_is_looked_at() -> None:
    index = np.arange(0, 4096, 7)
    generator = np.random.default_rng(0)
    sampled = [golden(generator.standard_normal((8, 512)), seed=at, index=index) for at in range(6)]
    cases = wide(recorded(sampled))

    def answer(times: float) -> Callable[[GoldenOutput], Array]:
        def give(one: GoldenOutput) -> Array:
            whole = np.zeros(8 * 512)
            whole[index] = one.truth * (1 + times * one.e_ref[1])
            return whole.reshape(8, 512)

        return give

    assert judged(cases, answer(0.2)).outcome is Outcome.MATCH
    assert judged(cases, answer(4.0)).outcome is Outcome.MISMATCH


class TestThePlan:
    def test_each_float_output_is_drawn(self) -> None:
        labels = [golden(np.arange(8), seed=at, name="label") for at in range(4)]
        cases = [
            replace(case, outputs={**case.outputs, "label": label}) for case, label in zip(CASES, labels, strict=True)
        ]
        assert list(draws(cases)) == ["y"]

    def test_none_where_there_is_one_draw(self) -> None:
        assert not draws(recorded(cases_of([(1, 6)])))

    def test_none_where_the_gate_leaves_one(self) -> None:
        shut = recorded([golden(np.ones((3, 4)), seed=at, gate="eager is not finite") for at in range(2)])
        assert not draws([*shut, *recorded(cases_of([(1, 4)]))])
