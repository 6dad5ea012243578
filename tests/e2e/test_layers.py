"""Layers of many kinds through `convert` and `verify`: each passes, or is refused at its line with a cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import ModelError
from exporter.pipeline import convert, verify
from exporter.process.workers import Setting
from exporter.prove.judge.report import Report
from exporter.spec.model import Spec
from tests.command import ROOT

X = {"x": {"dtype": "float32", "shape": ["batch", 4]}}


def spec_of(name: str, *formats: str, inputs: dict[str, dict[str, object]] | None = None) -> Spec:
    return Spec.model_validate(
        {
            "name": "layer",
            "model": f"tests.models.layers:{name}",
            "weights": "factory",
            "inputs": inputs or X,
            "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
            "formats": formats or ["pir", "pdmodel", "onnx"],
        }
    )


def proven(spec: Spec, place: Path) -> Report:
    """The verdict on a bundle of the layer, judged with its code at hand."""
    convert(spec, place / "bundle", Setting())
    return verify(place / "bundle", Setting(), code=ROOT)


def failed(report: Report) -> dict[str, str]:
    verdict = report.verdict
    return {str(claim): found.reason for claim in verdict.plan if (found := verdict.of(claim)).outcome.value != "match"}


@pytest.fixture(autouse=True)
def where_the_models_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_what_only_a_legacy_trace_can_give_is_judged_without_a_trace_to_pir(tmp_path: Path) -> None:
    report = proven(spec_of("Compared", "pdmodel"), tmp_path)
    assert failed(report) == {} and report.verdict.passed
    assert {claim.engine for claim in report.verdict.plan if claim.format == "source"} == {"eager"}
    assert any(note.startswith("source/static was not planned: it traces to PIR") for note in report.notes)


def test_where_pir_cannot_be_traced_the_refusal_says_that_a_legacy_trace_goes_through(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="pir: trace: TypeError") as refused:
        convert(spec_of("Compared", "pir", "onnx"), tmp_path / "bundle", Setting())
    assert "tests/models/layers.py:" in refused.value.where
    assert refused.value.hint.startswith("write pdmodel alone (`formats: [pdmodel]`)")


@pytest.mark.parametrize("name", ["OfPyLayers", "Dtypes", "ByName", "Unread"])
def test_what_stock_exports_rightly_passes(name: str, tmp_path: Path) -> None:
    by_name = {**X, "gain": {"dtype": "float32", "shape": ["batch", 1]}}
    report = proven(spec_of(name, inputs=by_name if name == "ByName" else X), tmp_path)
    assert failed(report) == {} and report.verdict.passed
