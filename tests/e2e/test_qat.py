"""Fine-tuning with roundings, through the command line: what calibration alone loses, training brings back.

The digits' trained network is made uneven first: two channels behind the first block are 200 times as large, and what
reads them is 200 times as small. In float32 it computes the same; in 8 bits the two leave the others hardly a step.

That is too little for the 7 bits that activations of a `.pdmodel` have with `cpu: any` (0.71, and the gate says no):
there only the ranges are looked at.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.command import Done, exporter

LOUD = [3, 17]
#: Noise is judged against the float layer, which is another after training with roundings; accuracy is what counts.
#: The floor of the recipe, 0.975, is lowered by the loss that is promised, and has to be reached without the roundings
#: too: there the same checkpoint has had from 0.93 to 0.98, as the kernels of the CPU add up.
_BUDGET = "precisions.int8.budget"
BUDGETS = (f"{_BUDGET}.min_snr_db=3", f"{_BUDGET}.min_top1=0.9", f"{_BUDGET}.max_metric_loss=0.15")


@pytest.fixture(scope="module")
def workplace(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with a checkpoint whose channels are uneven."""
    place = tmp_path_factory.mktemp("qat") / "work"
    shutil.copytree(released, place, ignore=shutil.ignore_patterns("artifacts"))
    weights = load_file(next(place.glob("runs/digits/seed-0-*/best.safetensors")))
    factor = np.ones(32, "float32")
    factor[LOUD] = 200
    weights["norm1.weight"] *= factor
    weights["norm1.bias"] *= factor
    weights["conv2.weight"] /= factor.reshape(1, -1, 1, 1)
    save_file(weights, place / "uneven.safetensors")
    return place


def release(workplace: Path, name: str, *settings: str) -> Done:
    keys = [f"name={name}", "checkpoint=uneven.safetensors", *BUDGETS, *settings]
    options = [part for key in keys for part in ("--set", key)]
    return exporter("release", "specs/digits-int8.yaml", "--json", *options, cwd=workplace)


def accuracies(bundle: Path) -> dict[str, float]:
    checks = json.loads((bundle / "parity.json").read_text())["checks"]
    return {one["format"]: float(one["reason"].split()[1].rstrip(",")) for one in checks if one["kind"] == "metric"}


def manifest(bundle: Path) -> Any:
    return json.loads((bundle / "manifest.json").read_text())


def test_training_with_roundings_brings_back_what_calibration_loses(workplace: Path) -> None:
    calibrated = release(workplace, "calibrated", "formats=[onnx]", "engines=[onnxruntime]")
    assert calibrated.code == 1, calibrated.out + calibrated.err
    only = ("precisions.int8.formats=[onnx]", "engines=[paddle_inference,onnxruntime]")
    trained = release(workplace, "trained", "precisions.int8.ranges=trained", "precisions.int8.epochs=6", *only)
    assert trained.code == 0, trained.out + trained.err
    before = accuracies(workplace / "artifacts/calibrated/failed")
    after = accuracies(workplace / "artifacts/trained/1.0.0")
    assert (before.keys(), after.keys()) == ({"onnx"}, {"onnx"})
    assert after["onnx"] - before["onnx"] > 0.03, (before, after)
    assert "before training with roundings" in (workplace / "artifacts/trained/1.0.0/parity.json").read_text()


def test_the_bundle_says_what_was_trained_and_with_which_ranges(workplace: Path) -> None:
    told = manifest(workplace / "artifacts/trained/1.0.0")
    assert told["provenance"]["weights"]["checkpoint"] == "runs/trained.qat/best.safetensors"
    rounded = told["provenance"]["weights"]["rounded_in_training"]
    assert rounded["layers"] == ["conv1", "conv2", "linear"] and rounded["before"] > 0.98
    ranges = told["variants"]["onnx-int8"]["details"]["ranges"]
    assert ranges == {"trained": ["conv2d_0", "conv2d_1", "linear_0"], "calibrated": []}


def test_what_was_trained_is_not_trained_again_and_converts_alone(workplace: Path) -> None:
    run = workplace / "runs/trained.qat/run.json"
    before = run.stat().st_mtime_ns
    checkpoint = "checkpoint=runs/trained.qat/best.safetensors"
    keys = ("name=alone", checkpoint, "precisions.int8.ranges=trained")
    options = [part for key in keys for part in ("--set", key)]
    done = exporter("convert", "specs/digits-int8.yaml", "--out", "alone", *options, cwd=workplace)
    assert done.code == 0, done.err
    for variant in ("onnx-int8", "pdmodel-int8"):
        told = manifest(workplace / "alone")["variants"][variant]["details"]["ranges"]
        assert told == {"trained": ["conv2d_0", "conv2d_1", "linear_0"], "calibrated": []}
    assert run.stat().st_mtime_ns == before
