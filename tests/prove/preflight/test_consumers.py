"""Consumers that a spec names: what stands in their way is refused, what can be got around is said."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from exporter.base.errors import ModelError
from exporter.engines.consumers.base import consumer_of
from exporter.engines.consumers.check import Finding
from exporter.engines.consumers.program import Place
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import Conversion
from exporter.process.workers import Setting
from exporter.prove.preflight import consumers
from exporter.prove.preflight.consumers import hold_for_consumers


def converted(folder: Path, classes: int, opset: int = 17, precision: str = "fp32") -> Conversion:
    """An ONNX of a given last size."""
    place = folder / precision
    place.mkdir()
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, classes]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(place / "model.onnx"))
    artifact = Artifact("onnx", precision, (f"{precision}/model.onnx",), ("x",), ("y",), ("y",), {})
    return Conversion((artifact,), (), {}, {}, (), ())


def test_what_a_consumer_cannot_take_is_refused(tmp_path: Path) -> None:
    told: list[str] = []
    wide = converted(tmp_path, 18_385)
    with pytest.raises(ModelError, match="rknn: x has a width of 18,385, over 16,383") as refused:
        hold_for_consumers(["paddle==2.6", "rknn"], wide, tmp_path, Setting(say=told.append))
    assert refused.value.where == "targets" and "take rknn out of targets" in refused.value.hint
    hold_for_consumers(["paddle==2.6"], wide, tmp_path / "no program is read", Setting(say=told.append))
    assert told == []


def test_the_line_of_the_user_s_code_is_named_where_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (limit,) = (limit for limit in consumer_of("rknn").limits if limit.kind == "size")
    finding = Finding("rknn", "too wide", limit, Place("add", "%3", "norm", "net.py:7"))
    monkeypatch.setattr(consumers, "check", lambda *_: [finding])
    with pytest.raises(ModelError, match="too wide") as refused:
        hold_for_consumers(["rknn"], converted(tmp_path, 16), tmp_path, Setting())
    assert refused.value.where == "net.py:7"


def test_what_can_be_got_around_is_said(tmp_path: Path) -> None:
    told: list[str] = []
    hold_for_consumers(["rknn"], converted(tmp_path, 16, opset=20), tmp_path, Setting(say=told.append))
    assert len(told) == 1 and told[0].startswith("warning: rknn: the ONNX has opset 20; asked for are 12 to 19")


def test_only_files_in_float32_are_looked_at(tmp_path: Path) -> None:
    narrow, plain = converted(tmp_path, 18_385, precision="fp16"), converted(tmp_path, 16)
    both = Conversion((*plain.artifacts, *narrow.artifacts), (), {}, {}, (), ())
    told: list[str] = []
    hold_for_consumers(["rknn"], both, tmp_path, Setting(say=told.append))
    assert told == []
