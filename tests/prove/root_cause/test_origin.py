"""A program that is wrong as it is traced: the first operator that is off, and the user's line that calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exporter.pipeline import Blaming, convert, verify
from exporter.process.workers import Setting
from exporter.prove.root_cause.align import TensorFact
from exporter.spec.model import Spec
from tests.command import ROOT

MODEL = ROOT / "tests/models/other_when_traced.py"


@pytest.fixture(autouse=True)
def where_the_models_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_whole_numbers_are_equal_or_off_beyond_measure() -> None:
    fact = TensorFact((2,), "int64", finite=True, e_ref=(0.0, 0.0))
    large = np.array([2**40, 2**40 + 1])
    assert fact.off(large, large) == 0 and fact.off(large, large + np.array([0, 1])) == np.inf


def test_what_is_float64_throughout_is_measured_by_its_own_rounding() -> None:
    narrow = TensorFact((1,), "float64", finite=True, e_ref=(0.0, 0.0))
    wide = TensorFact((1,), "float64", finite=True, e_ref=(0.0, 0.0), floor=2.0**-44)
    off = np.array([1.0 + 2.0**-26])
    assert narrow.off(np.ones(1), off) < 1 < 1000 < wide.off(np.ones(1), off)


@pytest.mark.parametrize(("kind", "operator"), [("Scaled", "scale"), ("Before", "add")])
def test_a_wrong_trace_is_blamed_on_its_line_and_operator_in_every_format(
    kind: str, operator: str, tmp_path: Path
) -> None:
    spec = Spec.model_validate(
        {
            "name": "traced",
            "model": f"tests.models.other_when_traced:{kind}",
            "weights": "factory",
            "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
            "dims": {"batch": {"min": 1, "typical": 2, "max": 3}},
            "formats": ["pir", "onnx"],
            "engines": ["jit_load", "onnxruntime"],
        }
    )
    assert convert(spec, tmp_path / "bundle", Setting()).bundle
    report = verify(tmp_path / "bundle", Setting(), blaming=Blaming(), code=ROOT)
    line = next(n for n, text in enumerate(MODEL.read_text().splitlines(), 1) if f"# off in {kind}" in text)
    blamed = {f"{blame.claim.format}/{blame.claim.engine}" for blame in report.blames}
    assert blamed == {"source/static", "pir/jit_load", "onnx/onnxruntime"}
    for blame in report.blames:
        assert blame.stage == "trace", str(blame)
        assert blame.line.endswith(f"other_when_traced.py:{line}"), str(blame)
        assert f"what is off first is made by operator {operator} (number " in blame.reason
        assert "engine fuses" not in str(blame)
