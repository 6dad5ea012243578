"""A model with its steps folded in: raw bytes in, the answer out, on each engine as by the steps and the layer."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from exporter.base.tensors import load
from exporter.bundle.open import open_bundle
from tests.command import environment, exporter, refused

#: As few cases and variants as leave every engine one.
FEWER = ("--set", "dims.batch.max=8", "--set", "formats=[pdmodel,onnx]")
FEWER_ENGINES = ("--set", "engines=[paddle_inference,onnxruntime,openvino]")


def digits(released: Path, place: Path) -> Path:
    """A working folder in which the digits are trained."""
    shutil.copytree(released, place, ignore=shutil.ignore_patterns("artifacts", "__pycache__"))
    return place


def test_digits_take_bytes_and_give_the_digit(released: Path, tmp_path: Path) -> None:
    work = digits(released, tmp_path / "work")
    done = exporter("release", "specs/digits-folded.yaml", "--json", *FEWER, *FEWER_ENGINES, cwd=work)
    assert done.code == 0, done.err
    bundle = open_bundle(work / done.json()["bundle"])
    (image,) = bundle.manifest.inputs
    assert (image.dtype, list(image.shape)) == ("uint8", ["batch", 8, 8, 1])
    answer = bundle.manifest.outputs[0]
    assert (answer.name, answer.dtype) == ("digit", "int64")
    checks = {(check["kind"], check["format"], check["engine"], check["output"]) for check in parity(bundle.folder)}
    assert {("folded", "source", "eager", "ready"), ("folded", "source", "eager", "answer")} <= checks
    for format, engine in (("pdmodel", "paddle_inference"), ("onnx", "onnxruntime"), ("pdmodel", "openvino")):
        assert ("outputs", format, engine, "digit") in checks
    golden = load(bundle.folder / "golden.safetensors")
    raw, answers = golden["batch=8/input/image"], golden["batch=8/eager/digit"]
    assert raw.dtype == np.uint8 and raw.max() == 16 and len(set(answers.tolist())) > 3
    samples = work / "specs/samples/digits.safetensors"
    command = [sys.executable, "-I", str(bundle.folder / "infer.py"), str(samples)]
    told = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment(), check=True).stdout
    by_name = {f"digits.safetensors#{name}": value.tobytes() for name, value in load(samples).items()}
    answered = {by_name[one["sample"]]: one["answer"] for one in map(json.loads, told.splitlines())}
    assert [answered[row.tobytes()] for row in raw] == answers.tolist()


def parity(bundle: Path) -> list[dict[str, str]]:
    return list(json.loads((bundle / "parity.json").read_text())["checks"])


def test_other_steps_behind_the_model_than_in_training_are_refused(workplace: Path) -> None:
    change = "pipeline.postprocess.deployment=[softmax, argmax]"
    done = exporter("release", "specs/digits-folded.yaml", "--set", change, cwd=workplace)
    refused(done, 2, "the steps behind a folded model are deployment's, and training has others")


def test_samples_need_a_pipeline(workplace: Path) -> None:
    done = exporter("release", "specs/digits.yaml", "--set", "inputs.image.values=samples", cwd=workplace)
    refused(done, 2, "'values: samples' fill what a pipeline with `fold: true` takes")


@pytest.mark.slow
def test_resnet_takes_pictures_of_another_size(workplace: Path) -> None:
    done = exporter("release", "specs/resnet-folded.yaml", "--json", cwd=workplace)
    assert done.code == 0, done.err
