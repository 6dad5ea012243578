"""An input that is the same in every case: what depends on it is not shown, and every report says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bundle.test_verify_py import run
from tests.command import exporter

MODEL = """
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.mix, self.kinds = nn.Linear(4, 3), nn.Embedding(5, 3)

    def forward(self, x, kind):
        return paddle.tanh(self.mix(x)) + self.kinds(kind)
"""
SPEC = """
name: kinds
version: "1"
model: models.kinds:Net
weights: factory
inputs:
  x: {{dtype: float32, shape: [batch, 4]}}
  kind: {{dtype: int64, shape: [batch], values: "{values}"}}
dims: {{batch: {{min: 1, typical: 4, max: 6}}}}
formats: [onnx]
engines: [onnxruntime]
"""
SAID = (
    "input 'kind' is 0 in every case: nothing shows what depends on it, and an artifact that ignores it would pass; "
    "give it `values:` that vary (the upper bound of integers(0,1) is exclusive)"
)


@pytest.mark.parametrize("values", ["integers(0,1)", "integers(0,5)"])
def test_an_input_that_never_varies_is_a_note_wherever_a_verdict_is_told(workplace: Path, values: str) -> None:
    (workplace / "models/kinds.py").write_text(MODEL)
    (workplace / "net.yaml").write_text(SPEC.format(values=values))
    expected = values == "integers(0,1)"
    done = exporter("release", "net.yaml", cwd=workplace)
    assert done.code == 0 and (SAID in done.out + done.err) == expected, done.out + done.err
    bundle = workplace / "artifacts/kinds/1"
    assert (SAID in json.loads((bundle / "parity.json").read_text())["notes"]) == expected
    assert ("is exclusive)" in (bundle / "report.html").read_text()) == expected
    verified = exporter("verify", str(bundle), "--json", cwd=workplace)
    assert verified.code == 0 and (SAID in verified.json()["notes"]) == expected
    code, said = run(bundle)
    assert code == 0 and (SAID in said) == expected, said
