"""A buffer or parameter that `forward` returns as it is is an output of its own; stored tensors keep their order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exporter.export.lower.convert import convert_all
from exporter.export.trace.layer import load_layer, parameters
from exporter.process.workers import Setting
from tests.command import ROOT
from tests.e2e.test_layers import spec_of

KEPT = {"grid": "grid", "ids": "ids", "weight": "fc.weight", "temporary": "temporary"}


def test_returned_tensors_are_outputs_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    made = convert_all(spec_of("Returned"), None, tmp_path, Setting())
    held = parameters(load_layer("tests.models.layers:Returned", None, 0))
    for artifact in made.artifacts:
        assert sorted(artifact.outputs) == sorted(artifact.native_outputs)
        kept = ("fc.weight", "grid") if artifact.format == "onnx" else ("fc.weight", "fc.bias", "grid", "ids")  # folded
        assert set(artifact.weights.values()) >= {made.parameters[name] for name in kept}
    assert made.output_names == ["grid", "y", "ids", "weight", "temporary", "scaled"]
    assert {output.name: output.shape for output in made.outputs if output.name in KEPT} == {
        name: tuple(np.shape(held[own])) for name, own in KEPT.items()
    }
