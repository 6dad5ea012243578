"""Which probing cases tell anything, whether rows depend on each other, and whose argmax a label is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from exporter.base.numbers.golden import SPREAD, GoldenCase
from exporter.base.numbers.sample import SAMPLE
from exporter.prove.goldens.finish import batch_note, find_scores
from exporter.prove.goldens.telling import AMPLIFIED, amplified, untelling
from tests.prove.compare.goldens import cases_of
from tests.prove.goldens.test_finish import VALUES, recorded


def test_the_limits_are_those_of_the_docs() -> None:
    assert (SAMPLE, AMPLIFIED) == (65_536, 16.0)


@pytest.mark.parametrize(("off", "told"), [(4e-10, False), (9e-10, False), (2e-9, True)])
def test_a_row_alone_may_differ_by_the_rounding_of_float64(off: float, told: bool) -> None:
    assert bool(batch_note([recorded("", VALUES), recorded("one_row", VALUES[:1] * (1 + off))])) == told


@pytest.mark.parametrize(("off", "told"), [(1e-9, False), (1.5e-9, True)])
def test_the_largest_difference_of_a_row_counts(off: float, told: bool) -> None:
    rows = np.array([[1.0, 1.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0, 0.0]])
    alone = rows[:1] + np.array([0.0, 0.0, 0.0, 0.0, off])
    assert bool(batch_note([recorded("", rows), recorded("one_row", alone)])) == told


def test_every_output_that_depends_is_named() -> None:
    """Of three outputs two change where the row stands alone; one spread among them makes all of them untold."""
    batch, alone = recorded("", VALUES), recorded("one_row", VALUES[:1])
    for case, rows, factor in ((batch, VALUES, 1.0), (alone, VALUES[:1], 2.0)):
        for name, times in (("z", factor), ("w", 1.0), ("v", factor)):
            case.facts = case.facts.with_output(name, case.facts.outputs["y"])
            case.tensors[f"{case.case.name}/truth/{name}"] = rows * times
    assert batch_note([batch, alone]) == ["in z, v a row's result depends on the other rows of its batch"]
    batch.facts = batch.facts.with_output("w", replace(batch.facts.outputs["w"], method=SPREAD))
    assert batch_note([batch, alone]) == []


def test_what_amplifies_is_told_by_the_worse_norm_beside_the_worst_plain_case() -> None:
    def case(*e_ref: float, gate: str = "", name: str = "y") -> GoldenCase:
        (made,) = cases_of([(4, 6)])
        return GoldenCase("c", {}, {name: replace(made, name=name, e_ref=(e_ref[0], e_ref[1]), gate=gate)}, "c")

    plain = [case(1e-6, 2e-6), case(3e-6, 1e-6), case(9e-3, 9e-3, gate="shut")]
    (told,) = amplified(case(1e-6, 6e-5), plain)
    assert told == "it amplifies rounding 20 times as much as the cases that the spec promises"
    assert amplified(case(6e-5, 1e-6), plain) and not amplified(case(4.5e-5, 4.5e-5), plain)
    assert not amplified(case(16 * 3e-6, 1e-6), plain) and amplified(case(16.5 * 3e-6, 1e-6), plain)
    assert amplified(case(1e-6, 6e-5), plain[2:]) == [], "of what is shut nothing is known"
    whole = GoldenCase(
        "c", {}, {"y": replace(plain[0].outputs["y"], eager=np.zeros((4, 6), int), e_ref=(1.0, 1.0))}, "c"
    )
    assert amplified(whole, plain) == [], "whole numbers have no rounding"
    two = GoldenCase("c", {}, {**case(1e-6, 6e-5).outputs, **case(1e-6, 9e-5, name="z").outputs}, "c")
    both = [GoldenCase("p", {}, {**one.outputs, "z": one.outputs["y"]}, "p") for one in plain]
    assert len(amplified(two, both)) == 2


@pytest.mark.parametrize("marks", [{"constant": True}, {"sized": True}, {}])
def test_what_no_value_decides_leaves_no_case_out(marks: dict[str, bool]) -> None:
    """It tells nothing in any case; what values decide does."""
    rows = cases_of([(4, 6)] * 4)
    shut = [replace(output, name="k", gate="it proves nothing", **marks) for output in cases_of([(4, 6)] * 4)]
    names = ["batch=4", "batch=4#2", "batch=4#3", "batch=4:large"]
    goldens = [
        GoldenCase(name, {"batch": 4}, {"y": y, "k": k}, name) for name, y, k in zip(names, rows, shut, strict=True)
    ]
    assert untelling(goldens, 4.0) == ({} if marks else {"batch=4:large": "it proves nothing"})


def test_labels_have_scores_where_they_are_their_argmax_in_every_case() -> None:
    scores = np.array([[2.0, 1.0, 0.0], [3.0, 0.0, 1.0], [0.0, 0.0, 5.0]])
    case = {"s": scores, "t": scores[::-1], "label": scores.argmax(1), "flag": np.array([True, False, True])}
    assert find_scores([case]) == {"label": ("s", 1)}, "booleans are no labels"
    two = {"s": np.array([[0.0, 1.0], [1.0, 0.0]]), "flag": np.array([True, False]), "real": np.array([1.0, 0.0])}
    assert find_scores([two]) == {}, "nor are real numbers"
    other = {**case, "label": np.array([0, 0, 0])}
    assert find_scores([case, other]) == {} and find_scores([other, case]) == {}
    alike = {**case, "t": scores, "deep": np.array([[[3]]]), "label32": scores.argmax(1).astype("int32")}
    assert find_scores([alike]) == {"label": ("s", 1), "label32": ("s", 1)}, "the first of two that would do"
    assert find_scores([{**case, "label": scores.argmax(0)}, {**case, "label": scores.argmax(0)}]) == {
        "label": ("s", 0)
    }
    assert find_scores([{**case, "label": case["label"].astype("uint8")}]) == {"label": ("s", 1)}
