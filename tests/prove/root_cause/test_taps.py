"""Tapped artifacts compute what they computed before, and show every step of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import BundleError, UsageError
from exporter.base.readers import read
from exporter.base.readers.wire import root
from exporter.base.registry import Registry
from exporter.base.tensors import load
from exporter.engines.base import Runnable
from exporter.engines.job import EngineCase, EngineJob
from exporter.export.lower.convert import JUDGED_ONLY
from exporter.process.workers import Setting
from exporter.prove.root_cause.program import TAPS
from exporter.prove.root_cause.taps.base import field, varint
from tests.exported import OUTPUTS, as_ir, exported_artifacts
from tests.faults import truncate

MODELS = {"onnx": "model.onnx", "pdmodel": "model.pdmodel", "pir": "model.json", "openvino": "model.xml"}
ENGINE = {"onnx": "onnxruntime", "pdmodel": "paddle_inference", "pir": "jit_load", "openvino": "openvino"}


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = exported_artifacts(tmp_path_factory)
    (folder / "openvino").mkdir()
    as_ir(folder / "onnx/model.onnx", folder / "openvino/model.xml")
    return folder


def test_every_format_has_a_tap() -> None:
    formats: Registry[Any] = Registry("exporter.export.lower", "format")
    assert set(TAPS.names()) == {*formats.names(), *JUDGED_ONLY}


@pytest.mark.parametrize("format", MODELS)
def test_a_tapped_artifact_shows_its_steps_and_puts_out_the_same(format: str, artifacts: Path, tmp_path: Path) -> None:
    native = [one.name for one in read(artifacts / format / MODELS[format]).outputs]
    before = {path.name: path.read_bytes() for path in (artifacts / format).iterdir()}
    (tmp_path / "tapped").mkdir()
    names = TAPS[format](artifacts / format, tmp_path / "tapped")
    assert list(names[: len(native)]) == native
    assert len(set(names)) == len(names) > 15, "conv, norm, relu, flatten, and twelve linear layers"
    assert {path.name: path.read_bytes() for path in (artifacts / format).iterdir()} == before
    values = run(format, tmp_path / "tapped", names, artifacts, tmp_path / "values")
    plain = run(format, artifacts / format, tuple(native), artifacts, tmp_path / "plain")
    assert set(values) == set(names)
    for name in native:
        # ONNX Runtime fuses less when it must put out what lies between.
        assert np.allclose(values[name], plain[name], rtol=1e-5)
        assert format in ("onnx", "openvino") or values[name].tobytes() == plain[name].tobytes()
    shapes = {value.shape for value in values.values()}
    assert {(2, 4, 8, 8), (2, 256), (2, 10)} <= shapes
    golden = load(artifacts / "golden.safetensors")
    near = [np.allclose(plain[name], golden[f"batch=2/eager/{one}"]) for name, one in zip(native, OUTPUTS, strict=True)]
    assert all(near)


def run(format: str, folder: Path, names: tuple[str, ...], artifacts: Path, into: Path) -> dict[str, Any]:
    into.mkdir()
    artifact = Runnable(format, folder, MODELS[format], ("image",), names)
    job = EngineJob(ENGINE[format], artifact, artifacts / "golden.safetensors", (EngineCase("batch=2", "batch=2"),))
    answer = job.run(into, Setting())
    assert not answer.refusal, answer
    return load(into / "0.safetensors")


@pytest.mark.parametrize("format", MODELS)
def test_a_damaged_program_is_refused(format: str, artifacts: Path, tmp_path: Path) -> None:
    damaged, into = tmp_path / format, tmp_path / "tapped"
    damaged.mkdir()
    into.mkdir()
    (damaged / MODELS[format]).write_bytes((artifacts / format / MODELS[format]).read_bytes())
    truncate(damaged / MODELS[format])
    with pytest.raises((BundleError, UsageError)):
        TAPS[format](damaged, into)
    assert not list(into.iterdir())


def test_only_what_some_operator_reads_is_fetched(artifacts: Path, tmp_path: Path) -> None:
    """The saved statistics of a batch norm are read by nobody, and may not even be allocated."""
    names = TAPS["pir"](artifacts / "pir", tmp_path)
    program = json.loads((tmp_path / "model.json").read_text())
    operators = program["program"]["regions"][0]["blocks"][0]["ops"]
    norm = next(one for one in operators if one["#"] == "1.batch_norm_")
    assert f"%{norm['O'][0]['%']}" in names
    assert not {f"%{one['%']}" for one in norm["O"][1:]} & set(names)


@given(number=st.integers(1, (1 << 29) - 1), content=st.binary(max_size=300))
def test_fields_are_written_as_they_are_read(number: int, content: bytes) -> None:
    (found,) = root(field(number, content), "here")
    assert found.number == number
    assert found.owner.content[found.start : found.stop] == content


@given(number=st.integers(0, (1 << 64) - 1))
def test_numbers_are_written_as_they_are_read(number: int) -> None:
    encoded = varint(number)
    assert root(encoded, "here").varint(0, len(encoded)) == (number, len(encoded))
