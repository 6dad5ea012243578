"""The dtype that a program declares of each value is held against the one that its kernel gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.export.trace.fixes import fixes_in_force
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import trace
from exporter.prove.preflight.declared import WrittenProgram, compare_dtypes
from exporter.spec.model import Spec
from tests.command import ROOT


@pytest.mark.parametrize(("without", "operators"), [((), set()), (("declared",), {"unique"})])
def test_an_operator_that_is_declared_otherwise_is_named(
    without: tuple[str, ...], operators: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    spec = Spec.model_validate(
        {
            "name": "counted",
            "model": "tests.models.counted:Counted",
            "weights": "factory",
            "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
            "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
            "formats": ["pir"],
        }
    )
    with fixes_in_force("pir", without), pir.session(None):
        traced = trace(load_layer(spec.factory, None, 0), spec.input_specs(), None, {})
        pir.write(traced, None, tmp_path, Wish())
    others = compare_dtypes(WrittenProgram(tmp_path, spec)).others
    assert {other.operator for other in others} == operators
    assert {(other.declared, other.computed) for other in others} <= {("float32", "int64")}
