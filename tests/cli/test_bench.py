"""`exporter bench`: what is measured is whole, and what could not be measured is said. Speed itself is not tested."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.bundle.open import open_bundle
from exporter.deploy.bench.run import Measured, percentile
from exporter.deploy.bench.standing import Load, Standing, standings, told_of_winner
from exporter.deploy.bench.text import answer
from tests import faults
from tests.command import STORED, contents, exporter, refused

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
    assert max(map(len, lines[3:])) <= 80
    assert "note: eager itself was not timed: --source DIR, the folder of the model's code, times it too" in lines
    assert "variant/engine    x fastest  load s  peak MB   verdict" in lines


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


def test_a_bundle_of_convert_is_timed_on_inputs_drawn_from_its_interface(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "bundle")
    content = json.loads((copy / "manifest.json").read_bytes())
    content["cases"], content["verdict"] = [], "unverified"
    faults.reseal(copy, content)
    done = exporter("bench", copy, *QUICK, "--rounds", "1", "--engines", "onnxruntime", cwd=tmp_path)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert "note: the bundle records no case: inputs were drawn from its interface (image normal)" in lines
    sizes = [one.split()[0] for one in lines if one.startswith("batch=")]
    assert sizes == ["batch=1", "batch=2", "batch=3", "batch=5"]
    assert lines[-1] == "no winner: none of these runs has a verdict that it passed; see exporter verify"


def standing(variant: str, proof: str, slower: float, over_eager: float | None = None, spread: float = 1.0) -> Standing:
    return Standing(variant, "e", proof, slower, over_eager, load=0.5, peak=3 << 20, spread=spread)


SOURCE = standing("source", "the source", 6.0, 1.0)
ENDINGS = {
    "eager": (
        [standing("onnx", "passed", 1.0, 6.0), standing("pir", "passed", 2.0, 3.0), SOURCE],
        [
            "fastest of those that passed: onnx/e, 6.00 times as fast as source/eager",
            "next: pir/e; the first is 2.00 times as fast",
        ],
    ),
    "no source": ([standing("onnx", "passed", 1.0)], ["fastest of those that passed: onnx/e"]),
    "noise": (
        [standing("onnx", "passed", 1.0), standing("pir", "passed", 1.1, spread=1.2)],
        [
            "fastest of those that passed: onnx/e",
            "next: pir/e; the first is 1.10 times as fast, which is less than its rounds differ",
        ],
    ),
    "a faster one failed": (
        [standing("onnx", "failed", 1.0), standing("pir", "passed", 3.0)],
        ["fastest of those that passed: pir/e", "faster, and failed: onnx/e"],
    ),
    "eager is the fastest": (
        [replace(SOURCE, slower=1.0), standing("pir", "passed", 2.0, 0.5)],
        ["fastest of those that passed: pir/e, 0.50 times as fast as source/eager"],
    ),
    "none": (
        [standing("onnx", "unproven", 1.0)],
        ["no winner: none of these runs has a verdict that it passed; see exporter verify"],
    ),
    "nothing": ([], []),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_the_last_lines_name_the_winner_and_what_it_beats(case: str) -> None:
    found, said = ENDINGS[case]
    assert list(answer([one if one.variant != "source" else replace(one, engine="eager") for one in found])) == said


def test_a_run_has_passed_where_each_claim_on_it_and_on_its_files_holds(tmp_path: Path) -> None:
    copy = faults.copied(STORED, tmp_path / "bundle")
    report = json.loads((copy / "parity.json").read_text())
    for check in report["checks"]:
        if (check["format"], check["engine"], check["kind"]) == ("pir", "jit_load", "outputs"):
            check["outcome"] = "mismatch"
        if (check["format"], check["kind"]) == ("pdmodel", "weights"):
            check["outcome"] = "missing"
    (copy / "parity.json").write_text(json.dumps(report))
    faults.reseal(copy)
    runs = [("onnx", "onnxruntime"), ("pir", "jit_load"), ("pir", "paddle_inference"), ("pdmodel", "jit_load")]
    runs += [("onnx", "openvino"), ("source", "eager")]
    measured = [
        Measured(variant, engine, size, 3, (place + 1) * factor, 1.0, None, 1.0, 1.1)
        for place, (variant, engine) in enumerate(runs)
        for size, factor in (("a", 1.0), ("b", 4.0))
    ]
    loads = {f"{variant}/{engine}": Load("", "", 0.1, 1) for variant, engine in runs}
    found = standings(open_bundle(copy), measured, loads)
    assert [one.name for one in found] == ["/".join(run) for run in runs]
    assert [one.proof for one in found] == ["held", "failed", "held", "failed", "unproven", "the source"]
    assert told_of_winner(found) is None, "the bundle did not pass"
    found = standings(open_bundle(STORED), measured, loads)
    assert [one.proof for one in found] == ["passed", "passed", "passed", "passed", "unproven", "the source"]
    assert [one.slower for one in found] == [pytest.approx(place + 1) for place in range(6)]
    assert [one.over_eager for one in found] == [pytest.approx(6 / (place + 1)) for place in range(6)]
    best = told_of_winner(found)
    assert best is not None and (best["variant"], best["next"]) == ("onnx", "pir/jit_load")
    assert best["over_next"] == pytest.approx(2)


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=60), st.floats(0.01, 1))
def test_a_percentile_is_the_smallest_value_that_covers_its_share(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(one <= found for one in values) >= share * len(values) - 1e-9
    assert sum(one < found for one in values) < share * len(values)
