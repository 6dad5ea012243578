"""A format and its engine that an installed package adds, from the spec to the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import environment, exporter, refused

POINTS = """[exporter.export.lower]
copied = toy_format:plugin

[exporter.engines]
copied_run = toy_engine:plugin
"""
FORMAT = """
from exporter.export.lower.kinds.onnx import Onnx

class Copied(Onnx):
    '''ONNX under a name of its own, so that a reader of its files is there.'''

plugin = Copied()
"""
ENGINE = """
from exporter.engines.kinds.onnxruntime import OnnxRuntime

class CopiedRun(OnnxRuntime):
    formats = ("copied",)

plugin = CopiedRun()
"""
MODEL = """
import paddle

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(4, 3)

    def forward(self, x):
        return paddle.nn.functional.gelu(self.fc(x))
"""
SPEC = """name: toy
version: 1.0.0
model: net:Net
weights: factory
inputs:
  x: {dtype: float32, shape: [batch, 4]}
dims:
  batch: {min: 1, typical: 2, max: 4}
outputs: [y]
formats: [pir, copied]
engines: [jit_load, copied_run]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and its spec, and a package beside them that adds a format and an engine."""
    folder = tmp_path_factory.mktemp("formats")
    about = folder / "packages" / "toy-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    (folder / "packages/toy_format.py").write_text(FORMAT)
    (folder / "packages/toy_engine.py").write_text(ENGINE)
    (folder / "net.py").write_text(MODEL)
    (folder / "spec.yaml").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def bundle(home: Path) -> Path:
    done = exporter("convert", "spec.yaml", "--out", "made", cwd=home, env=with_package(home))
    assert done.code == 0, done.err
    return home / "made"


def with_package(home: Path) -> dict[str, str]:
    return environment(PYTHONPATH=str(home / "packages"))


def test_a_spec_may_ask_for_it(home: Path, bundle: Path) -> None:
    facts = exporter("inspect", bundle, "--json", cwd=home, env=with_package(home)).json()
    assert {"pir", "copied"} == set(facts["variants"])
    assert (bundle / "copied/model.onnx").is_file()


def test_where_the_package_is_not_installed_that_is_said(home: Path, bundle: Path) -> None:
    refused(
        exporter("convert", "spec.yaml", "--out", "other", cwd=home), 2, "none of pir, pdmodel, onnx", "spec.yaml:10"
    )
    said = ("variant copied is of the format 'copied', which nothing here knows", "exporter.export.lower")
    refused(exporter("inspect", bundle, cwd=home), 5, *said)


@pytest.mark.slow
def test_a_release_judges_it_in_its_engine_and_a_drill_leaves_it_out(home: Path) -> None:
    done = exporter("release", "spec.yaml", "--out", "released", cwd=home, env=with_package(home))
    assert done.code == 0, done.err
    assert "copied/copied_run" in done.out and "copied/weights" in done.out
    bundle = home / "released/toy/1.0.0"
    drilled = exporter("drill", bundle, "--faults", "4", cwd=home, env=with_package(home))
    assert drilled.code == 0 and "copied was left out" in drilled.out + drilled.err
    named = exporter("drill", bundle, "--formats", "copied", cwd=home, env=with_package(home))
    refused(named, 2, "no fault can be planted in format 'copied'", "exporter.bundle.drill.programs")
