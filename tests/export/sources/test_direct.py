"""ONNX straight from a `.json`: the bytes that a trace of the replayed program gives, or the trace itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import paddle
import pytest
from paddle import nn
from paddle.static import InputSpec

from exporter.base.errors import CannotRun
from exporter.export.lower.convert import Conversion, convert_all
from exporter.process.workers import Setting
from exporter.prove.preflight.cases import observed
from exporter.spec.model import Spec
from exporter.spec.read import completed, validate
from tests.export.sources.networks import saved


class Plain(nn.Layer):
    """Convolutions in groups and transposed, norms, pooling, a resize by factors, split and joined channels."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2D(4, 8, 3, padding=1, stride=2, groups=2), nn.BatchNorm2D(8)
        self.up, self.last = nn.Conv2DTranspose(8, 4, 2, stride=2), nn.Linear(12, 5)
        self.kept = nn.BatchNorm2D(4)

    def forward(self, x):
        y = nn.functional.hardswish(self.norm(self.first(nn.functional.relu(self.kept(x)))))
        left, right = paddle.split(self.up(y), 2, axis=1)
        y = nn.functional.interpolate(y, scale_factor=2, mode="nearest")
        y = nn.functional.adaptive_avg_pool2d(paddle.concat([left, right * left, y], axis=1), 1).flatten(1)
        return nn.functional.softmax(self.last(y), axis=-1), y.mean()


class Doubled(nn.Layer):
    """No parameters."""

    def forward(self, x):
        return paddle.tanh(x) * 2


class Sevenths(nn.Layer):
    """It runs at no promised size."""

    def forward(self, x):
        return paddle.tanh(x).flatten().reshape([-1, 7])


def spec_of(folder: Path, **keys: object) -> Spec:
    return validate(completed({"source": str(folder), "formats": ["onnx"], **keys}), "spec.yaml")


def plain(layer: nn.Layer, folder: Path, size: int | None = 16) -> Spec:
    folder.mkdir()
    layer.eval()
    inputs = [InputSpec([None, 4, 16, size], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(layer, inputs, full_graph=True), str(folder / "inference"))
    return spec_of(folder)


def converted(spec: Spec, into: Path, *, traces: bool) -> tuple[Conversion, list[str]]:
    into.mkdir()
    said: list[str] = []
    trial = observed(spec)
    trial = replace(trial, of_file="") if traces else trial
    return convert_all(spec, None, into, Setting(say=said.append), None, trial), said


@pytest.mark.parametrize("layer", [Plain, Doubled])
def test_a_plain_program_is_written_without_paddle_as_its_trace_is(layer: type[nn.Layer], tmp_path: Path) -> None:
    paddle.seed(0)
    spec = plain(layer(), tmp_path / "saved")
    direct, said = converted(spec, tmp_path / "direct", traces=False)
    traced, _ = converted(spec, tmp_path / "traced", traces=True)
    files = [tmp_path / way / "onnx/model.onnx" for way in ("direct", "traced")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert replace(direct, modules={}) == replace(traced, modules={})
    assert said == ["writing onnx of inference.json"]
    assert "paddle" in traced.modules and "paddle" not in direct.modules
    assert "paddle.base.libpaddle" in direct.modules


@pytest.mark.parametrize("name", ["text", "deciding"])
def test_what_a_trace_would_write_otherwise_is_traced(name: str, tmp_path: Path) -> None:
    saved(name, tmp_path)
    keys = {"dims": {"ids_1": {"min": 3, "typical": 5, "max": 8}}} if name == "text" else {}
    _, said = converted(spec_of(tmp_path, **keys), tmp_path / "out", traces=False)
    assert said == ["writing onnx"]


def test_a_fixed_dim_is_traced(tmp_path: Path) -> None:
    plain(Doubled(), tmp_path / "saved")
    spec = spec_of(tmp_path / "saved", dims={"batch": {"min": 2, "typical": 2, "max": 2}})
    conversion, said = converted(spec, tmp_path / "out", traces=False)
    assert said == ["writing onnx"]
    assert conversion.outputs[0].shape == (2, 4, 16, 16)


def test_a_file_that_does_not_run_is_told_as_its_layer_is(tmp_path: Path) -> None:
    spec = plain(Sevenths(), tmp_path / "saved", None)
    with pytest.raises(CannotRun, match="forward at batch=1, width=64: "):
        converted(spec, tmp_path / "out", traces=False)
