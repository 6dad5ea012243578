"""verify.py on a GPU: ONNX Runtime alone, and where the CPU took over that is no run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exporter.engines.device import nvidia_here
from tests.bundle.test_verify_py import run
from tests.command import ROOT

PRETENDED = str(ROOT / "tests/engines/pretended_gpu")


def test_on_a_gpu_onnx_is_judged_and_told(bundle: Path) -> None:
    before = sorted(bundle.rglob("*"))
    code, said = run(bundle, "--device", "gpu", "--only", "onnx", PYTHONPATH=PRETENDED)
    assert code == 0 and "onnxruntime" in said and "on gpu:0" in said and "verdict: partial" in said, said
    assert sorted(bundle.rglob("*")) == before, "it left something in the bundle"


def test_paddle_is_not_run_on_a_gpu_and_that_is_no_pass(bundle: Path) -> None:
    code, said = run(bundle, "--device", "gpu:0", "--json", PYTHONPATH=PRETENDED)
    told = json.loads(said)
    outcomes = {(one["variant"], one["outcome"]) for one in told["runs"]}
    assert code == 3 and outcomes == {("onnx", "passed"), ("pir", "not run"), ("pdmodel", "not run")}
    _, said = run(bundle, "--device", "gpu:0", PYTHONPATH=PRETENDED)
    assert "ONNX Runtime alone" in said and "--only onnx leaves out" in said


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("idle", "cannot run here"),
        ("late", "it ran on CPUExecutionProvider"),
        ("tf32", "use_tf32 0 was asked for, and 1 is in effect"),
    ],
)
def test_where_the_cpu_or_tf32_took_over_nothing_was_run(how: str, said: str, bundle: Path) -> None:
    code, told = run(bundle, "--device", "gpu:0", "--only", "onnx", PYTHONPATH=PRETENDED, PRETENDED_GPU=how)
    assert (code, said in told) == (3, True), told


def test_values_that_the_gpu_left_to_the_cpu_are_said(bundle: Path) -> None:
    """They are judged wherever they were computed."""
    code, told = run(bundle, "--device", "gpu:0", "--only", "onnx", PYTHONPATH=PRETENDED, PRETENDED_GPU="half")
    assert code == 0 and "values computed elsewhere: Cast 1" in told, told


@pytest.mark.skipif(nvidia_here(), reason="needs a machine without a GPU")
def test_without_a_gpu_it_is_not_run(bundle: Path) -> None:
    code, told = run(bundle, "--device", "gpu", "--only", "onnx")
    assert code == 3 and "CUDAExecutionProvider" in told, told


@pytest.mark.parametrize("word", ["tpu", "cpu:1", "gpu:", "gpu:x", ""])
def test_a_device_that_is_none_is_a_mistake(word: str, bundle: Path) -> None:
    code, told = run(bundle, "--device", word)
    assert code == 2 and "is no device" in told


@pytest.mark.gpu
@pytest.mark.skipif(not nvidia_here(), reason="needs an NVIDIA GPU")
def test_on_a_real_gpu(bundle: Path) -> None:
    code, told = run(bundle, "--device", "gpu", "--only", "onnx")
    assert code in (0, 3) and ("on gpu:0" in told or "cannot run here" in told or "has no CUDA" in told), told
