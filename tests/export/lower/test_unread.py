"""An input that reaches no output, through code that the static check does not follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.child import Destination, ExportTracedRequest, LayerSource, export_traced
from exporter.process.workers import call

MODEL = """
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.dropout = paddle.nn.Dropout(0.5)  # an operator that does without one of its operands, the seed

    def forward(self, used, looped, unused, lost):
        given = {"used": used, "looped": looped, "unused": unused, "lost": lost}
        return self.pick(given)

    def pick(self, given):
        forgotten = given["lost"] * 2.0
        count = paddle.zeros([])
        while count < 2:
            count = count + given["looped"].sum().abs() + 1.0
        kept = paddle.zeros([3])
        kept[0] = self.dropout(given["used"]).sum()
        return kept + count
"""


@pytest.mark.parametrize(("format", "named"), [("pir", "'unused' or 'lost'"), ("pdmodel", "'unused'")])
def test_it_is_named_and_those_that_are_read_are_not(
    format: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forgetful.py").write_text(MODEL)
    (tmp_path / format).mkdir()
    monkeypatch.chdir(tmp_path)
    inputs = tuple(TensorSpec(name, "float32", ("b", 3)) for name in ("used", "looped", "unused", "lost"))
    request = ExportTracedRequest(
        format,
        (Destination(format, tmp_path / format),),
        LayerSource("forgetful:Net", None, 0, None, {}),
        Wish(inputs=inputs, writer="paddle2onnx"),
    )
    environment = {"FLAGS_enable_pir_api": "0"} if format == "pdmodel" else {}
    with pytest.raises(ModelError, match=f"no output depends on the input {named}") as refusal:
        call(export_traced, request, environment=environment)
    assert "take it out of inputs" in refusal.value.hint
