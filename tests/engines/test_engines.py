"""What each engine promises beyond the contract: precision, optimisations, threads; each as it is in effect."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evals.levels import KEPT_OFF, bfloat16_is_kept_off
from exporter.base.readers import read
from exporter.process.job import Job
from exporter.process.workers import SINGLE_THREAD, Limits, call
from tests.command import ROOT, exporter
from tests.engines.engine_children import (
    Facts,
    Folder,
    Nothing,
    Small,
    dtypes_of_the_predictor,
    openvino_precision,
    paddle_threads,
    predictors,
    static_programs,
)
from tests.exported import exported_artifacts

Q = TypeVar("Q")
LIMITS = Limits(seconds=300)


@pytest.fixture(scope="module")
def request_of_small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """Where the small network lies, and what its files call its outputs."""
    folder = exported_artifacts(tmp_path_factory)
    models = {"pir": "model.json", "pdmodel": "model.pdmodel", "onnx": "model.onnx"}
    outputs = {name: tuple(one.name for one in read(folder / name / path).outputs) for name, path in models.items()}
    return Small(Path(folder), outputs)


def in_child(job: Job[Q, Facts], request: Q, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    monkeypatch.chdir(ROOT)
    return call(job, request, LIMITS, environment=SINGLE_THREAD).facts


def test_strict_predictor_equals_eager_and_the_default_one_runs_other_kernels(
    request_of_small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = in_child(predictors, request_of_small, monkeypatch)
    for format in ("pir", "pdmodel"):
        strict, default = found[f"paddle_inference {format}"], found[f"paddle_inference_default {format}"]
        assert strict["bit_equal"]
        assert not strict["effective"]["ir_optim"] and not strict["effective"]["onednn"]
        assert default["effective"]["ir_optim"] and default["effective"]["onednn"]
        assert 0 < default["error"] < 1e-5
    # TensorRT's own check, on a program that Paddle's passes changed and TensorRT did not take.
    assert any(name.startswith("fused") or name == "fc" for name in found["program"]["operators"])
    assert found["program"]["tensorrt"].startswith("TensorRT took no part of this model")
    taken = found["program"]["taken"]
    assert taken["subgraphs"] == 1 and "fc" in taken["left_to_paddle"] and "feed" not in taken["left_to_paddle"]


def test_the_predictor_takes_and_gives_small_whole_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its handles would take int16 for int32, and refuse to give it."""
    assert in_child(dtypes_of_the_predictor, Folder(tmp_path), monkeypatch) == {"1": [True] * 3, "3": [True] * 3}


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells which OpenMP runtimes are loaded")
def test_paddle_computes_in_as_many_threads_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = in_child(paddle_threads, Nothing(), monkeypatch)
    assert found["effective"] == found["asked"] == [1, 2]
    if (os.cpu_count() or 1) < 2:
        pytest.skip("MKL starts no second thread on one core; what the runtimes say was checked")
    assert found["tasks"][1] > found["tasks"][0], "no second thread was ever started"


def test_static_runs_the_very_program_that_was_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each session traces the layer twice, and the program that is judged is not the one that is saved."""
    assert in_child(static_programs, Nothing(), monkeypatch) == {"programs": 1, "right": True}


@pytest.mark.skipif(bfloat16_is_kept_off(), reason=KEPT_OFF)
def test_openvino_computes_in_float32_where_it_would_not(
    request_of_small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = in_child(openvino_precision, request_of_small, monkeypatch)
    for format in ("onnx", "pdmodel"):
        one = found[format]
        assert one["effective"]["precision"] == "f32"
        assert one["ours_error"] < 1e-5
    if not found["has_bf16"]:
        pytest.skip("this CPU has no bfloat16, so OpenVINO's default is float32 too; the rest was checked")
    assert {found[format]["default"] for format in ("onnx", "pdmodel")} == {"bf16"}
    assert found["onnx"]["default_error"] > 100 * found["onnx"]["ours_error"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux gives a process one core")
def test_on_one_core_no_engine_is_asked_for_more_threads_than_there_are(released: Path, digits: Path) -> None:
    core = min(os.sched_getaffinity(0))
    one_core = {"preexec_fn": lambda: os.sched_setaffinity(0, {core})}
    done = exporter("verify", digits, "--engines", "openvino,onnxruntime", "--json", cwd=released, **one_core)
    told = done.json()
    assert (done.code, told["verdict"]) == (0, "partial"), done.err
    assert any(one["engine"] == "openvino" and ":threads=" in one["case"] for one in told["checks"])
    asked = [one["asked"]["threads"] for one in told["runs"] if one["engine"] == "openvino"]
    assert asked and set(asked) == {1}
