"""`exporter bench`: what is measured is whole, and what could not be measured is said. Speed itself is not tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.bench import percentile
from tests import faults
from tests.command import contents, exporter, refused

QUICK = ("--rounds", "2", "--seconds", "0.01", "-q")


def test_every_engine_at_every_size(bundle: Path, tmp_path: Path) -> None:
    before = contents(bundle)
    done = exporter(
        "bench", bundle, *QUICK, "--rounds", "1", "--engines", "onnxruntime,paddle_inference", "--json", cwd=tmp_path
    )
    assert done.code == 0, done.err
    told = done.json()
    runs = {"onnx/onnxruntime", "pdmodel/paddle_inference", "pir/paddle_inference"}
    assert {(f"{one['variant']}/{one['engine']}", one["size"]) for one in told["measured"]} == {
        (run, size) for run in runs for size in ("batch=1", "batch=2", "batch=5")
    }
    for size in ("batch=1", "batch=2", "batch=5"):
        found = [one for one in told["measured"] if one["size"] == size]
        assert [one["median"] for one in found] == sorted(one["median"] for one in found)
        assert found[0]["ratio"] == 1.0
        for one in found:
            assert 0 < one["median"] <= one["p95"] and one["calls"] >= 3 and one["spread"] == 1.0
            assert one["rows_per_second"] == pytest.approx(int(size[-1]) / one["median"])
            assert one["ratio"] == pytest.approx(one["median"] / found[0]["median"])
    assert set(told["loads"]) == runs and all(one["peak"] > 1 << 20 for one in told["loads"].values())
    assert told["loads"]["onnx/onnxruntime"]["provider"] == "CPUExecutionProvider"
    assert told["machine"]["cpu"]["cores"] >= 1 and told["failed"] == {}
    assert contents(bundle) == before, "a benchmark only reads"


def test_as_text(bundle: Path, tmp_path: Path) -> None:
    done = exporter("bench", bundle, *QUICK, "--engines", "onnxruntime", "--threads", "2", cwd=tmp_path)
    lines = done.out.splitlines()
    assert done.code == 0 and lines[0] == "small 1.0.0 (passed) on cpu, 2 threads, 2 rounds of 0.01 s"
    assert [one.split()[0] for one in lines if one.startswith("batch=")] == ["batch=1", "batch=2", "batch=5"]
    assert sum(one.startswith("onnx/onnxruntime ") for one in lines) == 4
    assert max(map(len, lines[2:])) <= 80


def test_what_does_not_load_is_said_and_the_rest_is_measured(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "bundle")
    model = copy / "onnx/model.onnx"
    assert b"Relu" in model.read_bytes()
    model.write_bytes(model.read_bytes().replace(b"Relu", b"Gelu"))  # whole, but its opset has none
    faults.reseal(copy)
    done = exporter("bench", copy, *QUICK, "--rounds", "1", "--engines", "onnxruntime,jit_load", "--json", cwd=tmp_path)
    told = done.json()
    assert done.code == 4
    assert {one["variant"] for one in told["measured"]} == {"pdmodel", "pir"}
    assert "the engine refused it" in told["failed"]["onnx/onnxruntime"]
    assert set(told["loads"]) == {"pdmodel/jit_load", "pir/jit_load"}


def test_an_artifact_that_computes_something_else_is_not_fast(bundle: Path, tmp_path: Path) -> None:
    def edit(content: dict[str, Any]) -> None:
        content["cases"][0]["outputs"]["logits"]["shape"] = [2, 11]

    copy = faults.copied(bundle, tmp_path / "bundle")
    content = json.loads((copy / "manifest.json").read_bytes())
    edit(content)
    faults.reseal(copy, content)
    done = exporter("bench", copy, *QUICK, "--engines", "onnxruntime", cwd=tmp_path)
    assert done.code == 4
    assert "not measured: onnx/onnxruntime: its outputs have the shapes" in done.out
    assert "median ms" not in done.out


def test_an_engine_that_cannot_run_here_is_exit_3(bundle: Path, tmp_path: Path) -> None:
    done = exporter("bench", bundle, *QUICK, "--engines", "paddle_inference_tensorrt", "--device", "cpu", cwd=tmp_path)
    assert done.code == 3
    assert "not measured: pdmodel/paddle_inference_tensorrt: " in done.out


def test_mistakes(bundle: Path, tmp_path: Path) -> None:
    refused(exporter("bench", bundle, "--engines", "onxruntime", cwd=tmp_path), 2, "did you mean 'onnxruntime'")
    refused(exporter("bench", bundle, "--engines", "eager", cwd=tmp_path), 2, "runs no variant of this bundle")
    refused(exporter("bench", tmp_path, cwd=tmp_path), 2, "no manifest.json")
    assert exporter("bench", bundle, "--rounds", "0", cwd=tmp_path).code == 2
    copy = faults.copied(bundle, tmp_path / "bundle")
    faults.flip_bit(copy / "golden.safetensors", -1)
    refused(exporter("bench", copy, cwd=tmp_path), 5, "golden.safetensors")


def test_a_bundle_without_cases_is_refused(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "bundle")
    content = json.loads((copy / "manifest.json").read_bytes())
    content["cases"] = []
    faults.reseal(copy, content)
    refused(exporter("bench", copy, cwd=tmp_path), 2, "records no case")


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=60), st.floats(0.01, 1))
def test_a_percentile_is_the_smallest_value_that_covers_its_share(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(one <= found for one in values) >= share * len(values) - 1e-9
    assert sum(one < found for one in values) < share * len(values)
