"""What no input decides: another case's output is the same by right, and all other controls stay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.golden import ALL_ZERO, GoldenCase, GoldenOutput, read_cases
from exporter.base.numbers.rule import Judged, judge_output, judge_promise, judge_reduced
from exporter.base.tensors import Array
from exporter.prove.compare.informative import doubts
from tests.prove.compare.goldens import golden

GRID = np.arange(1.0, 7.0).reshape(1, 2, 3)
EVEN = np.full(3, 0.5)
IDS = np.arange(5)


def goldens(value: Array, constant: bool = True, times: int = 3) -> list[GoldenOutput]:
    """The same in so many draws."""
    return [replace(golden(value, seed=at), constant=constant) for at in range(times)]


def judged(value: Array, got: Array, constant: bool = True) -> Judged:
    every = goldens(value, constant)
    return judge_output(every[0], got, 4.0, every, {"y": every[0]})


@pytest.mark.parametrize("value", [GRID, EVEN, IDS, np.array(2.5)])
def test_a_constant_is_another_cases_output_by_right(value: Array) -> None:
    right = value.astype("float32") if value.dtype.kind == "f" else value
    assert judged(value, right).outcome == "match"
    assert judged(value, right, constant=False).outcome == "vacuous", "what an input decides has to show it"


@pytest.mark.parametrize("value", [GRID, EVEN, IDS, np.array(2.5)])
def test_a_wrong_constant_fails(value: Array) -> None:
    right = value.astype("float32") if value.dtype.kind == "f" else value
    more = right * np.float32(1.001) if value.dtype.kind == "f" else right + 1
    for wrong in (np.zeros_like(right), -right, more):
        assert judged(value, wrong).outcome == "mismatch"
    if value.size > 1 and value is not EVEN:
        assert judged(value, np.roll(right, 1)).outcome == "mismatch"
        assert judged(value, np.full_like(right, right.mean())).outcome == "mismatch"


def test_a_constant_that_is_nearly_its_mean_is_not_proven() -> None:
    near = np.array([1.0, 1.0 + 1e-7])
    assert judged(near, near.astype("float32")).outcome == "vacuous"


def test_what_is_one_number_in_one_case_alone_has_its_mean_as_an_impostor() -> None:
    every = [golden(EVEN), golden(np.arange(1.0, 4.0), seed=1)]
    found = judge_output(every[0], EVEN.astype("float32"), 4.0, every, {"y": every[0]})
    assert found.outcome == "vacuous" and "mean would have passed" in found.reason


def recorded(values: list[Array], constant: bool = True) -> tuple[dict[str, Array], list[dict[str, Any]]]:
    tensors: dict[str, Array] = {}
    cases = []
    for at, value in enumerate(values):
        name, real = f"n={at}", value.dtype.kind == "f"
        eager = value.astype("float32") if real else value
        tensors |= {f"{name}/eager/y": eager, **({f"{name}/truth/y": value} if real else {})}
        sizes = dict.fromkeys(("scale_max", "scale_l2"), float(np.abs(value).max()))
        about = {"dtype": eager.dtype.name, "shape": list(value.shape), "method": "float64", "gate": "", **sizes}
        about |= {"e_ref_max": 0.0, "e_ref_l2": 0.0, "allowance": 1.0, "constant": constant}
        cases.append({"name": name, "dims": {}, "seed": 0, "outputs": {"y": about}})
    return tensors, cases


def outputs(cases: tuple[GoldenCase, ...]) -> list[GoldenOutput]:
    return [case.outputs["y"] for case in cases]


def test_what_is_said_to_be_a_constant_is_none_where_a_case_has_another() -> None:
    assert all(one.constant for one in outputs(read_cases(*recorded([GRID, GRID, GRID]))))
    for other in (GRID + 1e-6, GRID.ravel(), IDS):
        assert not any(one.constant for one in outputs(read_cases(*recorded([GRID, GRID, other]))))
    tensors, cases = recorded([GRID, GRID])
    cases[1]["outputs"]["y"]["constant"] = False
    assert not any(one.constant for one in outputs(read_cases(tensors, cases)))
    cases[1]["outputs"]["y"]["constant"] = 1
    assert not any(one.constant for one in outputs(read_cases(tensors, cases))), "true, and nothing like it"


def test_zero_proves_nothing_and_is_no_reason_to_run_nothing() -> None:
    cases = read_cases(*recorded([np.zeros(3)] * 3))
    zeros = outputs(cases)
    assert {one.gate for one in zeros} == {ALL_ZERO}
    found = judge_output(zeros[0], np.zeros(3, "float32"), 4.0, zeros, {"y": zeros[0]})
    assert (found.outcome, found.reason) == ("inconclusive", ALL_ZERO)
    assert judge_output(zeros[0], np.ones(3, "float32"), 4.0, zeros, {"y": zeros[0]}).outcome != "match"
    assert judged(np.zeros(4), np.zeros(4, "float32")).reason.startswith("zeros would have passed")
    assert judged(np.zeros(4, "int64"), np.zeros(4, "int64")).reason == "zeros would have passed in every case"
    assert {one.gate for one in outputs(read_cases(*recorded([np.zeros(3, "int64")] * 3)))} == {""}
    assert {one.gate for one in outputs(read_cases(*recorded([np.array([0.0, 1.0, 2.0])] * 3)))} == {""}
    assert doubts(cases, 4.0) == ()
    assert doubts(read_cases(*recorded([np.zeros(3)] * 3, constant=False)), 4.0) != ()


@pytest.mark.parametrize("value", [GRID, EVEN])
def test_in_reduced_precision_it_has_to_be_nearer_than_nothing(value: Array) -> None:
    every = goldens(value)
    near = (value * 1.01).astype("float32")
    found = judge_reduced(every[0], near, every, False)
    assert found.outcome == "match"
    assert judge_reduced(every[0], np.zeros_like(near), every, False).outcome == "mismatch"
    named = {str(at): one for at, one in enumerate(every)}
    seen = {name: judge_reduced(one, near, every, False) for name, one in named.items()}
    assert judge_promise("snr_db", 30.0, named, seen).outcome == "match"
    assert judge_promise("snr_db", 45.0, named, seen).outcome == "mismatch"
    every[1] = named["1"] = replace(every[1], constant=False)
    vacuous = judge_promise("snr_db", 30.0, named, seen)
    assert vacuous.outcome == "vacuous", "what one input decides has to show it"
