"""A model with two named dims for the servers: scores, float32 [batch, 1], of ids, int64 [batch, seq]."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command import exporter
from tests.described import about

SOURCE = """
import paddle

class Scorer(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed, self.last = paddle.nn.Embedding(30, 8), paddle.nn.Linear(8, 1)

    def forward(self, ids):
        return paddle.tanh(self.last(self.embed(ids).mean(axis=1)))
"""


def released(folder: Path) -> Path:
    """Release it in a folder, and return the bundle."""
    keys = {"name": "scorer", "version": "1.0.0", "model": "scorer:Scorer", "weights": "factory", "outputs": ["score"]}
    keys |= {"formats": ["onnx"], "engines": ["onnxruntime"], "device": "cpu"}
    spec = about("ids=int64[batch,seq]: integers(0,30)", "batch=1..3..5 seq=2..5..8", **keys)
    (folder / "scorer.py").write_text(SOURCE)
    (folder / "scorer.yaml").write_text(json.dumps(spec))
    done = exporter("release", "scorer.yaml", "--quiet", cwd=folder)
    assert done.code == 0, done.out + done.err
    return folder / "artifacts/scorer/1.0.0"
