"""The environment, examined: what is not as it should be is named, with its cure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from exporter.base import machine
from exporter.cli import doctor
from exporter.cli.doctor import Check, Diagnosis, Machine, State, as_text
from exporter.engines.base import Availability
from exporter.engines.device import nvidia_here
from exporter.engines.probe import availability
from exporter.process.workers import Limits
from tests.command import exporter


def test_this_environment_is_ready(tmp_path: Path) -> None:
    """The one that runs the tests must be; and an engine's version is the one that its package says."""
    done = exporter("doctor", "--device", "cpu", "--json", cwd=tmp_path)
    told = done.json()
    states = {one["what"]: one["state"] for one in told["checks"]}
    assert (done.code, told["ready"]) == (0, True), done.out
    for engine in ("eager", "static", "jit_load", "paddle_inference", "onnxruntime"):
        assert states[f"engine {engine} on cpu"] == "ok"
    assert states["converter paddle2onnx"] == "ok"
    found = {one["what"]: one["found"] for one in told["checks"]}
    assert found["engine eager on cpu"] == found.get("package paddlepaddle", found["engine eager on cpu"])
    assert told["machine"]["disk"]["path"] == str(tmp_path)


@pytest.mark.skipif(nvidia_here(), reason="needs a machine without a GPU")
def test_a_gpu_that_is_not_there_is_exit_3_and_every_engine_says_why(tmp_path: Path) -> None:
    done = exporter("doctor", "--device", "gpu", cwd=tmp_path)
    assert done.code == 3
    for engine in ("jit_load", "paddle_inference", "onnxruntime"):
        assert f"lacking  engine {engine} on gpu:0: " in done.out
    assert done.out.rstrip().splitlines()[-1].startswith("not ready: ")
    assert done.out.count("lacking ") < done.out.count("cure: ")


def test_a_device_that_is_none(tmp_path: Path) -> None:
    done = exporter("doctor", "--device", "tpu", cwd=tmp_path)
    assert (done.code, "'tpu' is no device" in done.err) == (2, True)


def test_an_engine_that_dies_when_it_is_imported_is_the_only_one_to_blame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, line in {"onnxruntime": "import os\nos.abort()\n", "openvino": "__version__ = '7.8'\n"}.items():
        (tmp_path / f"{name}.py").write_text(line)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    answers = availability(["onnxruntime", "openvino"], "cpu", Limits(60))
    assert "SIGABRT" in answers["onnxruntime"].why_not and answers["onnxruntime"].cure
    assert answers["openvino"] == Availability(version="7.8")


def test_a_package_out_of_its_range_is_lacking_and_one_for_training_only_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in {"ml_dtypes": "0.1", "paddle2onnx": "1.3.1", "scikit_learn": "1.0"}.items():
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = {one.what: one for one in doctor._packages()}
    assert found["package ml_dtypes"].state is State.LACKING
    assert found["package paddle2onnx"].state is State.ABSENT, "the second writer of ONNX: only a spec needs it"
    assert found["package paddle2onnx"].found == "1.3.1, not ==2.1.0"
    assert "paddle2onnx==2.1.0" in found["package paddle2onnx"].cure
    assert found["package scikit-learn"].state is State.ABSENT
    assert found["package numpy"].state is State.OK


@pytest.mark.parametrize(("version", "state"), [("1.31.1", State.OK), ("1.2.0", State.LACKING)])
def test_the_onnxruntime_for_cuda_stands_for_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, state: State
) -> None:
    folder = tmp_path / f"onnxruntime_gpu-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: onnxruntime-gpu\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    installed = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "onnxruntime" else installed(name))
    found = {one.what: one for one in doctor._packages()}
    assert found["package onnxruntime-gpu"].state is state and "package onnxruntime" not in found
    assert state is State.OK or "onnxruntime-gpu>=1.20" in found["package onnxruntime-gpu"].cure


def test_a_folder_that_cannot_be_written_to_is_lacking(tmp_path: Path) -> None:
    disk = machine.disk(tmp_path)
    assert disk["writable"] and 0 < disk["free"] <= disk["total"]
    disk["writable"] = False  # whoever runs the tests as root may write anywhere
    about = Machine(machine.cpu(), machine.memory(), disk, "Linux")
    states = {one.what: one.state for one in doctor._capacity(about)}
    assert states == {"cpu": State.NOTE, "memory": State.NOTE, "disk": State.LACKING}


def test_the_machine() -> None:
    cpu, memory = machine.cpu(), machine.memory()
    assert cpu["model"] and 1 <= cpu["cores"] <= (os.cpu_count() or 1)
    assert set(cpu["abilities"]) <= set(machine.ABILITIES)
    assert 0 < memory["available"] <= memory["total"]


def test_what_is_lacking_stands_last_and_no_control_character_passes() -> None:
    checks = (Check("engine x", State.LACKING, "\x1b[2Jno", "get it"), Check("python", State.OK, "3.11"))
    told = Diagnosis(checks, Machine.here())
    assert as_text(told) == (
        "ok       python: 3.11\n"
        "lacking  engine x: ?[2Jno\n"
        "         cure: get it\n"
        "not ready: 1 of 2 checks found something lacking\n"
    )
    assert not told.ready
