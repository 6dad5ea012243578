"""What sizes decide: another size's output must fail, and what no size changes is not proven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.golden import SAME_AT_ALL_SIZES, ZERO, GoldenCase, GoldenOutput, read_cases
from exporter.base.numbers.pooled import draws
from exporter.base.numbers.rule import judge_output, judge_promise, judge_reduced
from exporter.base.tensors import Array
from exporter.prove.compare.informative import doubts


def cases(values: Mapping[str, Array], sized: bool = False, settled: str = "") -> tuple[GoldenCase, ...]:
    """Goldens by the name of their case, such as `n=3` or `n=3#2`, as a manifest describes them."""
    tensors: dict[str, Array] = {}
    described = []
    for name, value in values.items():
        real = value.dtype.kind == "f"
        eager = value.astype("float32") if real else value
        tensors |= {f"{name}/eager/y": eager, **({f"{name}/truth/y": value} if real else {})}
        largest = float(np.abs(value).max())
        about: dict[str, Any] = {"dtype": eager.dtype.name, "shape": list(value.shape), "method": "float64"}
        about |= {"gate": "", "scale_max": largest, "scale_l2": largest, "e_ref_max": 0.0, "e_ref_l2": 0.0}
        size = int(name.partition("=")[2].partition("#")[0].partition(":")[0])
        outputs = {"y": {**about, "allowance": 1.0, "sized": sized, "settled": bool(settled) and settled in name}}
        described.append({"name": name, "dims": {"n": size}, "seed": 0, "outputs": outputs})
    return read_cases(tensors, described)


def outputs(goldens: Sequence[GoldenCase]) -> list[GoldenOutput]:
    return [case.outputs["y"] for case in goldens]


def by_size(make: Any) -> dict[str, Array]:
    return {"n=3": make(3), "n=3#2": make(3), "n=1": make(1), "n=5": make(5)}


def mask(size: int) -> Array:
    return np.asarray(np.triu(np.full((size, size), -1e4), 1))


KINDS = {
    "one number": by_size(lambda size: np.full((size, 1), 2.5)),
    "zero": by_size(lambda size: np.zeros((2, size))),
    "zero, whole": by_size(lambda size: np.zeros((2, size), "int32")),
    "a mask": by_size(mask),
    "a range": by_size(np.arange),
    "a number of a size": by_size(lambda size: np.array([size - 1.0])),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_sizes_decide_matches_itself_and_nothing_else(kind: str) -> None:
    every = outputs(cases(KINDS[kind], sized=True))
    assert all(golden.sized and not golden.gate for golden in every)
    for golden in every:
        judged = judge_output(golden, golden.eager, 4.0, every, {"y": golden})
        assert judged.outcome == "match", (golden.shape, judged)
        more = golden.eager + golden.eager.dtype.type(1)
        assert judge_output(golden, more, 4.0, every, {"y": golden}).outcome == "mismatch"
        others = [case.eager for case in every if case.shape != golden.shape]
        assert all(judge_output(golden, other, 4.0, every, {"y": golden}).outcome == "mismatch" for other in others)
    values = outputs(cases(KINDS[kind]))
    proven = [judge_output(golden, golden.eager, 4.0, values, {"y": golden}).outcome for golden in values]
    assert set(proven) != {"match"} or kind == "a range", "what values decide has to show it"


def test_of_what_is_zero_by_right_the_smallest_number_is_wrong() -> None:
    every = outputs(cases(KINDS["zero"], sized=True))
    wrong = np.zeros((2, 3), "float32")
    wrong[0, 1] = 1e-30
    assert judge_output(every[0], wrong, 4.0, every, {"y": every[0]}).outcome == "mismatch"
    assert judge_output(every[0], np.full((2, 3), np.nan, "float32"), 4.0, every, {"y": every[0]}).outcome == "mismatch"
    sampled = replace(every[0], index=np.array([0, 4]), eager=np.zeros(2, "float32"), truth=np.zeros(2))
    assert judge_output(sampled, np.zeros((2, 3), "float32"), 4.0, every, {"y": sampled}).outcome == "match"
    assert judge_output(sampled, wrong, 4.0, every, {"y": sampled}).outcome == "mismatch", "beside the sample"
    assert "y" not in draws(cases(KINDS["zero"], sized=True))


def test_what_is_the_same_at_all_sizes_is_not_proven_and_no_reason_to_run_nothing() -> None:
    for value in (np.full((1, 2), 2.5), np.zeros(3), np.arange(4)):
        goldens = cases(by_size(lambda size, value=value: value), sized=True)
        for golden in outputs(goldens):
            judged = judge_output(golden, golden.eager, 4.0, outputs(goldens), {"y": golden})
            assert (judged.outcome, judged.reason) == ("inconclusive", SAME_AT_ALL_SIZES)
        assert doubts(goldens, 4.0) == ()


def test_what_differs_at_one_size_is_not_decided_by_it() -> None:
    values = {**KINDS["zero"], "n=3#2": np.eye(2, 3)}
    every = outputs(cases(values, sized=True))
    assert not any(golden.sized for golden in every)
    assert {golden.gate for golden in every if not golden.eager.any()} == {ZERO.format(0.0)}
    assert doubts(cases(values, sized=True), 4.0) != ()


GENERATOR = np.random.default_rng(2)
SOFTMAX = {
    name: value / value.sum(0)
    for name, value in by_size(lambda size: np.exp(GENERATOR.standard_normal((size, 2)))).items()
}
CENTRED = {name: value - value.mean(0) for name, value in SOFTMAX.items()}


@pytest.mark.parametrize("values", [SOFTMAX, CENTRED])
def test_a_size_with_nothing_to_tell_is_judged_if_others_tell(values: dict[str, Array]) -> None:
    every = outputs(cases(values, settled="n=1"))
    assert [golden.settled for golden in every] == [False, False, True, False]
    for golden in every:
        assert judge_output(golden, golden.eager, 4.0, every, {"y": golden}).outcome == "match"
        wrong = golden.eager + np.float32(0.01)
        assert judge_output(golden, wrong, 4.0, every, {"y": golden}).outcome == "mismatch"
    plain = outputs(cases(values))
    assert judge_output(plain[2], plain[2].eager, 4.0, plain, {"y": plain[2]}).outcome != "match"


def test_nothing_is_settled_where_no_other_size_tells_or_a_draw_is_another() -> None:
    dead = by_size(lambda size: np.zeros((size, 2)))
    assert not any(golden.settled for golden in outputs(cases(dead, settled="n=")))
    assert all(golden.gate for golden in outputs(cases(dead, settled="n=")))
    two = {**SOFTMAX, "n=1#2": np.array([[0.5, 0.25]])}
    assert not any(golden.settled for golden in outputs(cases(two, settled="n=1")))


@pytest.mark.parametrize("kind", ["one number", "zero", "a mask"])
def test_in_reduced_precision_it_is_held_to_its_numbers(kind: str) -> None:
    every = outputs(cases(KINDS[kind], sized=True))
    named = {str(at): golden for at, golden in enumerate(every)}
    seen = {name: judge_reduced(golden, golden.eager, every, False) for name, golden in named.items()}
    assert {judged.outcome for judged in seen.values()} == {"match"}
    if kind != "zero":
        assert judge_promise("snr_db", 30.0, named, seen).outcome == "match"
        half = {name: judge_reduced(golden, golden.eager * 0.5, every, False) for name, golden in named.items()}
        assert judge_promise("snr_db", 30.0, named, half).outcome != "match"
