"""ONNX through the child that writes it: the user's line, the same bytes, and what paddle2onnx writes by itself."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import ChildCrashed, EnvironmentLacks, ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.lower import child as lower
from exporter.export.lower import paddle2onnx
from exporter.export.lower.base import Wish
from exporter.export.lower.child import Destination, ExportRequest, ExportTracedRequest, LayerSource
from exporter.export.lower.convert import convert_all
from exporter.process.job import job
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, Setting, call
from exporter.spec.model import Spec
from tests.command import ROOT

NO_WHEEL = "paddle2onnx 2.1.0 has no wheel for Python 3.13"

MODEL = """
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2D(3, 6, 3), nn.BatchNorm2D(6), nn.Linear(6, 4)

    def forward(self, x):
        y = nn.functional.relu(self.norm(self.conv(x))).mean([2, 3])
        y[:, 1:3] = 0.5
        return self.head(y)


class Unknown(nn.Layer):
    def forward(self, x):
        y = paddle.poisson(x * 0.5)  # nothing reads it
        z = paddle.tanh(x)
        return paddle.poisson(z)


class Named(nn.Layer):
    def forward(self, x):
        return paddle.tanh(paddle.poisson(x))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nets.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def export(
    model: str, format: str, folder: Path, source: Path | None = None, writer: str = "program"
) -> Mapping[str, Any]:
    folder.mkdir()
    layer = LayerSource(f"nets:{model}", None, 0, ("y",), {})
    wish = Wish(inputs=(TensorSpec("x", "float32", ("batch", 3, 8, 8)),), writer=writer)
    if source:
        request = ExportRequest(format, folder, source, ("y",), layer, wish)
        return call(lower.export, request, environment=SINGLE_THREAD, imports=PADDLE).artifact.details
    several = ExportTracedRequest(format, (Destination(format, folder),), layer, wish)
    answer = call(lower.export_traced, several, environment=SINGLE_THREAD, imports=PADDLE)
    return answer.written[format].artifact.details


def test_the_file_is_the_same_whether_pir_is_released_beside_it_or_not(place: Path) -> None:
    export("Net", "pir", place / "pir")
    for number, source in enumerate((place / "pir", place / "pir", None)):
        export("Net", "onnx", place / f"{number}", source)
    contents = {(place / f"{number}/model.onnx").read_bytes() for number in range(3)}
    assert len(contents) == 1


@pytest.mark.parametrize("beside", [True, False], ids=["with pir", "alone"])
def test_what_cannot_be_written_is_refused_at_the_users_line(beside: bool, place: Path) -> None:
    if beside:
        export("Named", "pir", place / "pir")
    with pytest.raises(ModelError, match=r"operator poisson .* has no conversion") as refusal:
        export("Named", "onnx", place / "onnx", place / "pir" if beside else None)
    line = MODEL.splitlines().index("        return paddle.tanh(paddle.poisson(x))") + 1
    assert refusal.value.where == f"{place}/nets.py:{line}"
    assert "leave onnx out" in refusal.value.hint


def test_of_operators_that_nothing_reads_the_line_is_one_of_the_same_name(place: Path) -> None:
    with pytest.raises(ModelError) as refusal:
        export("Unknown", "onnx", place / "onnx")
    lines = [number for number, line in enumerate(MODEL.splitlines(), 1) if "paddle.poisson" in line]
    assert refusal.value.where in [f"{place}/nets.py:{line}" for line in lines]


def test_paddle2onnx_writes_its_own_file_as_it_is(place: Path) -> None:
    pytest.importorskip("paddle2onnx", reason=NO_WHEEL)
    export("Net", "pir", place / "pir")
    details = export("Net", "onnx", place / "onnx", place / "pir", "paddle2onnx")
    own = call(by_paddle2onnx, PirFiles(place / "pir"), Limits(code=ROOT))
    assert own == Content((place / "onnx/model.onnx").read_bytes().hex())
    assert (details["writer_asked"], details["opset_asked"]) == ("paddle2onnx", 17) and "folded" not in details


@dataclass(frozen=True)
class PirFiles:
    folder: Path


@dataclass(frozen=True)
class Content:
    digits: str


@job
def by_paddle2onnx(request: PirFiles) -> Content:
    import paddle2onnx

    files = [f"{request.folder}/model.{suffix}" for suffix in ("json", "pdiparams")]
    content = paddle2onnx.export(
        *files, opset_version=17, auto_upgrade_opset=True, enable_onnx_checker=True, optimize_tool="None"
    )
    return Content(content.hex())


def test_where_paddle2onnx_ends_the_process_the_error_names_the_format(place: Path) -> None:
    pytest.importorskip("paddle2onnx", reason=NO_WHEEL)
    spec = Spec.model_validate({
        "name": "named", "model": "nets:Named", "weights": "factory", "formats": ["pir", "onnx"],
        "inputs": {"x": {"dtype": "float32", "shape": [2, 3]}}, "writer": "paddle2onnx",
    })  # fmt: skip
    (place / "into").mkdir()
    with pytest.raises(ChildCrashed, match=r"onnx: the child died by SIGABRT; it said: .*Paddle2ONNX") as refusal:
        convert_all(spec, None, place / "into", Setting(Limits(seconds=120)))
    assert "leave this format out" in refusal.value.hint


def test_where_paddle2onnx_is_not_installed_the_environment_lacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "paddle2onnx", None)
    with pytest.raises(EnvironmentLacks, match="paddle2onnx cannot be imported") as raised:
        paddle2onnx.convert(tmp_path, 17)
    assert "leave `writer` out" in raised.value.hint
    assert sys.version_info >= (3, 13) or "paddle2onnx==2.1.0" in raised.value.hint
