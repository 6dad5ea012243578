"""`check`, `convert`, `release` and `gate` say the same of the same finding, with the same consequence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.command import Done, exporter

SPEC = """name: {name}
version: 1.0.0
model: net:{model}
weights: factory
inputs: {{x: {{dtype: float32, shape: [batch, 4]}}}}
dims: {{batch: {{min: 1, typical: 2, max: 4}}}}
formats: [pir]
engines: [jit_load]
"""
NET = """import random

import paddle
from paddle import nn


class Linear(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)


class Blocked(Linear):
    def forward(self, x):
        return self.linear(x) * random.random()


class Fine(Linear):
    def forward(self, x, *rest):
        y = self.linear(x)
        if isinstance(y, paddle.nn.Layer):
            y = y + random.random()
        return {"score": y + paddle.uniform([1]) * 0.0, "box": paddle.tanh(y)}


class Lame(Linear):
    def forward(self, x):
        y = self.linear(x)
        return y + paddle.zeros([3, 4])[: len(x)]


class Dropping(Linear):
    def forward(self, x):
        return {"score": self.linear(x), "aux": None, "more": [paddle.tanh(x), 3]}
"""
#: By model: what each finding is (code, severity, a part of its words), and how every verb ends.
TRUTH = {
    "Blocked": ({("EX101", "error", "draws once, at export")}, 1),
    "Fine": (
        {
            ("EX108", "warning", "yet the export went through"),
            ("EX101", "warning", "does not run this line"),
            ("EX109", "info", "exporter's own export mends it"),
            ("EX136", "warning", "draws in evaluation"),
        },
        0,
    ),
    "Lame": ({("EX206", "error", "forward at batch=4")}, 4),
    "Dropping": (
        {
            ("EX109", "info", "exporter's own export mends it"),
            ("EX110", "error", "output 'aux' is None, output 'more.1' is the Python value 3; they will be missing"),
        },
        1,
    ),
}


def findings_in(done: Done) -> list[dict[str, Any]]:
    told = done.json()
    return list(told["error"]["findings"] if "error" in told else told["findings"])


SLOW = pytest.mark.slow  # four commands each; the shortest of them is the sample


@pytest.mark.parametrize("model", [pytest.param(name, marks=() if name == "Lame" else SLOW) for name in TRUTH])
def test_four_verbs_say_the_same_of_a_model(tmp_path: Path, model: str) -> None:
    expected, code = TRUTH[model]
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "specs").mkdir()
    spec = f"specs/{model.lower()}.yaml"
    (tmp_path / spec).write_text(SPEC.format(name=model.lower(), model=model))
    said = {}
    for verb in ("check", "convert", "release"):
        done = exporter(verb, spec, "--json", cwd=tmp_path)
        assert done.code == code, f"{verb}: {done.out}{done.err}"
        said[verb] = findings_in(done)
    done = exporter("gate", spec, "--json", cwd=tmp_path)
    (gated,) = done.json()["specs"]
    assert (done.code, gated["exit"]) == (code, code), f"gate: {done.out}{done.err}"
    said["gate"] = gated["findings"]
    for verb, findings in said.items():
        assert findings == said["release"], verb
    assert {(one["code"], one["severity"]) for one in said["check"]} == {part[:2] for part in expected}
    for one in said["check"]:
        assert any(one["code"] == other and words in one["message"] for other, _, words in expected), one
    assert (tmp_path / f"artifacts/{model.lower()}/1.0.0").exists() is (code == 0)
