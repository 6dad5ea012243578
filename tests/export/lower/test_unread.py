"""An input that reaches no output, through code that the static check does not follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import ModelError
from exporter.process.workers import call

MODEL = """
import paddle


class Net(paddle.nn.Layer):
    def forward(self, used, looped, unused, lost):
        given = {"used": used, "looped": looped, "unused": unused, "lost": lost}
        return self.pick(given)

    def pick(self, given):
        forgotten = given["lost"] * 2.0
        count = paddle.zeros([])
        while count < 2:
            count = count + given["looped"].sum().abs() + 1.0
        kept = paddle.zeros([3])
        kept[0] = given["used"].sum()
        return kept + count
"""


@pytest.mark.parametrize(("format", "named"), [("pir", "'unused' or 'lost'"), ("pdmodel", "'unused'")])
def test_it_is_named_and_those_that_are_read_are_not(
    format: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forgetful.py").write_text(MODEL)
    (tmp_path / format).mkdir()
    monkeypatch.chdir(tmp_path)
    request = {
        "format": format, "into": str(tmp_path / format), "source": None, "model": "forgetful:Net", "checkpoint": None,
        "seed": 0, "outputs": None, "fixed": {}, "opset": None, "writer": "paddle2onnx", "held": [], "target": None,
        "inputs": [{"name": n, "dtype": "float32", "shape": ["b", 3]} for n in ("used", "looped", "unused", "lost")],
    }  # fmt: skip
    environment = {"FLAGS_enable_pir_api": "0"} if format == "pdmodel" else {}
    with pytest.raises(ModelError, match=f"no output depends on the input {named}") as refusal:
        call("exporter.export.lower.child:export", request, environment=environment)
    assert "take it out of inputs" in refusal.value.hint
