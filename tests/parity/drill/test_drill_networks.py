"""Drills on networks of every kind. Takes minutes each; the numbers of each drill are printed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.command import exporter

FAULTS = 120
IMAGES = "x: {dtype: float32, shape: [batch, 3, 16, 16]}"
NETWORKS = {
    "transformer": ('ids: {dtype: int64, shape: [batch, seq], values: "integers(0,50)"}', "pir, pdmodel, onnx"),
    "lstm": ("x: {dtype: float32, shape: [batch, 7, 6]}", "pir, pdmodel, onnx"),
    # jit_load does not run the legacy program of this one (Paddle 3.3.1), and the release says so.
    "branches": ("x: {dtype: float32, shape: [batch, 6]}", "pir, onnx"),
    "tiny": (IMAGES, "pir, pdmodel, onnx"),
    # paddle2onnx 2.1.0 writes its LeakyReLU with a slope of 0, and the release says so.
    "segments": (IMAGES, "pir, pdmodel"),
}


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_no_fault_survives(network: str, tmp_path: Path) -> None:
    inputs, formats = NETWORKS[network]
    shutil.copy(Path(__file__).with_name("networks.py"), tmp_path)
    engines = "jit_load, paddle_inference" + (", onnxruntime" if "onnx" in formats else "")
    dims = "batch: {min: 1, typical: 3, max: 5}" + (", seq: {min: 2, typical: 5, max: 9}" if "seq" in inputs else "")
    (tmp_path / "spec.yaml").write_text(
        f"name: {network}\nversion: '1'\nmodel: networks:{network}\ninputs:\n  {inputs}\ndims: {{{dims}}}\n"
        f"formats: [{formats}]\nengines: [{engines}]\n"
    )
    released = exporter("release", "spec.yaml", cwd=tmp_path)
    assert released.code == 0, released.out + released.err
    done = exporter("drill", f"artifacts/{network}/1", "--faults", str(FAULTS), "--json", cwd=tmp_path)
    told = done.json()
    print(network, json.dumps({key: value for key, value in told.items() if key != "faults"}))
    assert done.code == 0, told["survived"]
    assert told["planted"] >= FAULTS - 5
    assert told["caught"] + told["equivalent"] == told["planted"]
    assert told["caught"] / (told["planted"] - told["equivalent"]) >= 0.99
