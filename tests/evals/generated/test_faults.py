"""A planted fault is of a kind that is drawn, its holder is known, and the shares count those with an effect."""

from __future__ import annotations

from evals.generated.faults import Row, _material, chosen, report_of
from exporter.bundle.open import open_bundle
from tests.command import STORED


def test_faults_of_other_numbers_are_others_and_a_value_holds_each() -> None:
    bundle = open_bundle(STORED)
    kinds = set()
    for variant in bundle.manifest.variants:
        material = _material(bundle, variant)
        values = {value for node in material.program.nodes() for value in (*node.outputs, *node.inputs)}
        for seed in range(6):
            fault, held = chosen(bundle, variant, seed)
            assert fault is not None and fault == chosen(bundle, variant, seed)[0]
            assert held and set(held) <= {*values, *material.parameters}
            kinds.add((fault.family, fault.kind))
    assert len(kinds) >= 5
    assert {family for family, _ in kinds} == {"graph", "parameters"}


def _row(**more: object) -> Row:
    known = {"seed": 1, "variant": "onnx", "fault": "graph: x", "effect": "other values", "verdict": "failed"}
    return Row(**{**known, "by": ["outputs"], "looked": True, "dark": "Add 9", "named": True, **more})  # type: ignore[arg-type]


def test_what_has_no_effect_does_not_count_and_partial_is_a_pass() -> None:
    lines, reached = report_of([_row(), _row(effect="none", verdict="partial", by=[], named=False)])
    assert reached
    assert "caught: 1 of 1 (100.0%)" in lines
    lines, reached = report_of([_row(), _row(verdict="partial", by=[], named=False)])
    assert not reached
    assert "caught: 1 of 2 (50.0%)" in lines
    assert any(line.startswith("MISSED 1 onnx graph: x") for line in lines)


def test_an_operator_that_is_not_named_is_said() -> None:
    lines, reached = report_of([_row(), _row(named=False, dark="Mul 7")])
    assert not reached
    assert "NOT NAMED 1 onnx graph: x: Mul 7" in lines
    assert not report_of([])[1]
    assert not report_of([Row(3, verdict="its release ends with 4")])[1]
