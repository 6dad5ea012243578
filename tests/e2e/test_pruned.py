"""Real networks cut to a share of their FLOPs, and released in every format (the digits: tests/cli/test_prune.py)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import exporter

SPEC = """
name: pruned
version: 1.0.0
model: paddle.vision.models:{network}
weights: factory
prune: {{flops: {share}, epochs: 0}}
inputs:
  x: {{dtype: float32, shape: [batch, 3, 64, 64]}}
dims:
  batch: {{min: 1, typical: 2, max: 3}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.7, 0.5])
@pytest.mark.parametrize("network", ["resnet18", "mobilenet_v2"])
def test_a_pruned_network_passes_the_gate_in_every_format(network: str, share: float, tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC.format(network=network, share=share))
    done = exporter("release", "spec.yaml", "--json", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    bundle = tmp_path / "artifacts/pruned/1.0.0"
    checks = json.loads((bundle / "parity.json").read_text())["checks"]
    assert {one["outcome"] for one in checks} == {"match"}
    assert {one["format"] for one in checks} >= {"pir", "pdmodel", "onnx"}
    pruned = json.loads((bundle / "manifest.json").read_text())["provenance"]["weights"]["pruned"]
    assert pruned["flops"]["after"] <= share * pruned["flops"]["before"]
