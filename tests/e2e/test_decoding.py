"""A small decoder, run eight steps on its own cache: right, wrong in a few places, and one that ignores its cache."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from exporter.base.errors import BundleError
from exporter.base.tensors import load, save
from exporter.bundle.decoding import rollout_in
from exporter.bundle.manifest import Content
from exporter.bundle.open import open_bundle, released_spec
from exporter.prove.goldens.decoding import DECODING
from tests import faults
from tests.command import exporter
from tests.sampling import slow

MODEL = '''
import paddle
from paddle import nn


class Decoder(nn.Layer):
    """Attention over the past; from the place `since` to `until` it reads the next place instead."""

    def __init__(self, since=0, until=0, deaf=False):
        super().__init__()
        paddle.seed(3)
        self.since, self.until, self.deaf = since, until, deaf
        self.words, self.places = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.q, self.k, self.v, self.head = (nn.Linear(8, 8) for _ in range(4))
        for parameter in self.parameters():
            parameter.set_value(paddle.randn(parameter.shape) * 0.7)

    def forward(self, ids, place, mask, key, value):
        if self.until:
            place = place + paddle.logical_and(place >= self.since, place < self.until).astype("int64")
        x = self.words(ids) + self.places(place)
        keys = paddle.concat([key, self.k(x)], axis=1)
        values = paddle.concat([value, self.v(x)], axis=1)
        if self.deaf:
            return self.head(x + mask[:, -1:].unsqueeze(-1).astype("float32")), keys, values
        unseen = (1 - mask).astype("float32").unsqueeze(1) * -1e9
        weights = nn.functional.softmax(paddle.matmul(self.q(x), keys, transpose_y=True) * 0.35 + unseen, axis=-1)
        return self.head(x + paddle.matmul(weights, values)), keys, values
'''
SPEC: dict[str, Any] = {
    "name": "decoder",
    "version": "1.0.0",
    "model": "decoder:Decoder",
    "weights": "factory",
    "inputs": {
        "ids": {"dtype": "int64", "shape": ["batch", 1], "values": "integers(0,8)"},
        "place": {"dtype": "int64", "shape": ["batch", 1], "values": "integers(past,past+1)"},
        "mask": {"dtype": "int64", "shape": ["batch", "past+1"], "values": "integers(0,2)", "empty_rows": False},
        "key": {"dtype": "float32", "shape": ["batch", "past", 8]},
        "value": {"dtype": "float32", "shape": ["batch", "past", 8]},
    },
    "dims": {"batch": {"min": 1, "typical": 2, "max": 3}, "past": {"min": 1, "typical": 3, "max": 9}},
    "outputs": ["scores", "keys", "values"],
    "decoding": {"cache": {"key": "keys", "value": "values"}, "tokens": {"ids": "scores"}, "steps": 8},
}
BUNDLE = "out/decoder/1.0.0"


def write(folder: Path, name: str, **more: Any) -> str:
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({**SPEC, **more}, sort_keys=False))
    return f"{name}.yaml"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decoder")
    (folder / "decoder.py").write_text(MODEL)
    done = exporter("release", write(folder, "decoder"), "--out", "out", cwd=folder)
    assert done.code == 0, done.out + done.err
    return folder


def steps_in(report: Any) -> list[Any]:
    return [check for check in report["checks"] if check["kind"] == "decoding"]


def test_every_engine_runs_all_steps_on_its_own_cache(place: Path) -> None:
    report = json.loads((place / BUNDLE / "parity.json").read_text())
    checks = steps_in(report)
    runs = {(check["format"], check["engine"]) for check in checks}
    assert {("source", "eager"), ("pir", "jit_load"), ("pdmodel", "paddle_inference"), ("onnx", "onnxruntime")} <= runs
    assert len(checks) == 3 * len(runs) and {check["outcome"] for check in checks} == {"match"}
    scores = [check for check in checks if check["output"] == "scores"]
    assert {check["elements"] for check in scores} == {8 * 2 * 8}  # all steps of both rows
    assert all(0 < check["error_ratio"] <= 4 for check in scores)
    (note,) = [note for note in report["notes"] if note.startswith("decoding:")]
    assert "8 steps in a row" in note and "eager's own error goes in scores from" in note


def test_a_bundle_alone_is_run_again_step_by_step(place: Path) -> None:
    done = exporter("verify", BUNDLE, "--json", cwd=place)
    assert done.code == 0, done.err
    checks = steps_in(done.json())
    assert {check["outcome"] for check in checks} == {"match"} and len(checks) == 15


def one_off(place: Path) -> Path:
    """The files of the decoder whose place is one off in the steps that have 4 and 5 of past."""
    if not (place / "wrong").is_dir():
        wrong = write(place, "wrong", args={"since": 4, "until": 6}, decoding=None)
        assert exporter("convert", wrong, "--out", "wrong", cwd=place).code == 0
    return place / "wrong"


def verify_py(bundle: Path) -> tuple[int, Any]:
    command = [sys.executable, str(bundle / "verify.py"), "--only", "onnx", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=bundle.parent, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def test_the_script_of_the_bundle_runs_them_too(place: Path, tmp_path: Path) -> None:
    def of_steps(report: Any) -> dict[str, tuple[str, str]]:
        (run,) = report["runs"]
        return {output: (outcome, why) for kind, output, outcome, why in run["checks"] if kind == "decoding"}

    code, report = verify_py(place / BUNDLE)
    assert code == 0, report
    assert of_steps(report) == dict.fromkeys(SPEC["outputs"], ("match", ""))

    copy = faults.copied(place / BUNDLE, tmp_path / "late")
    shutil.copyfile(one_off(place) / "onnx/model.onnx", copy / "onnx/model.onnx")
    faults.reseal(copy)
    code, report = verify_py(copy)
    outcome, why = of_steps(report)["scores"]
    assert (code, outcome) == (1, "mismatch") and why.startswith("in step 4 of 8: error ratio"), report


def test_the_script_of_the_bundle_wants_the_steps_that_the_spec_has(place: Path, tmp_path: Path) -> None:
    def other(name: str, change: Callable[[Any], object]) -> tuple[int, Any]:
        copy = faults.copied(place / BUNDLE, tmp_path / name)
        content = json.loads((copy / "manifest.json").read_bytes())
        change(content)
        (copy / "manifest.json").write_text(json.dumps(content))
        faults.reseal(copy)
        return verify_py(copy)

    code, report = other("none", lambda content: content.update(decoding=[]))
    assert code == 1 and "records no steps of the decoder that its spec has" in "".join(report["against"])
    code, report = other("fewer", lambda content: content["decoding"].pop(2))
    assert code == 5 and "7 steps are recorded, and the spec has 8" in "".join(report["damaged"])


def test_a_step_holds_what_eager_chose_and_no_cache(place: Path) -> None:
    held = load(place / BUNDLE / DECODING)
    inputs = sorted(name for name in held if name.startswith("step=7/input"))
    assert inputs == [f"step=7/input/{name}" for name in ("ids", "mask", "place")]
    assert held["step=0/input/key"].shape == (2, 1, 8) and held["step=7/input/mask"].shape == (2, 9)
    assert (held["step=7/input/place"] == 8).all()
    assert np.array_equal(held["step=7/input/ids"][:, 0], held["step=6/eager/scores"][:, 0].argmax(-1))
    assert held["step=7/eager/keys"].shape == (2, 9, 8) and "step=6/eager/keys" not in held


@pytest.mark.parametrize("file", ["onnx/model.onnx", slow("pir/model.json"), slow("pdmodel/model.pdmodel")])
def test_a_place_that_is_one_off_in_a_few_steps_is_caught(place: Path, file: str) -> None:
    done = exporter("verify", "--reference", "decoder.yaml", "--artifact", one_off(place) / file, "--json", cwd=place)
    assert done.code == 1, done.err
    checks = [check for check in steps_in(done.json()) if check["format"] != "source"]
    assert {check["outcome"] for check in checks} == {"mismatch"}
    (scores,) = {check["reason"] for check in checks if check["output"] == "scores"}
    assert scores.startswith("in step 4 of 8 (past=4): error ratio")


def test_steps_that_an_empty_cache_would_pass_prove_nothing(place: Path) -> None:
    deaf = write(place, "deaf", args={"deaf": True}, formats=["pir"])
    done = exporter("release", deaf, "--out", "deaf", "--json", cwd=place)
    assert done.code == 1, done.err
    outcomes = {(check["output"], check["outcome"]) for check in steps_in(report_of(place / "deaf/decoder/failed"))}
    assert ("scores", "vacuous") in outcomes and ("keys", "match") in outcomes


def report_of(bundle: Path) -> Any:
    return json.loads((bundle / "parity.json").read_text())


def test_steps_that_the_spec_does_not_promise_are_refused(place: Path) -> None:
    longer = write(place, "longer", decoding={**SPEC["decoding"], "steps": 12}, formats=["pir"])
    done = exporter("release", longer, "--out", "longer", "--json", cwd=place)
    error = done.json()["error"]
    assert (done.code, error["where"]) == (2, "decoding.steps")
    assert "step 9 of the decoder has past=10" in error["what"] and "dims.past.max: 12" in error["hint"]


def test_what_a_manifest_says_of_the_steps_is_held_against_the_spec(place: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(place / BUNDLE, tmp_path / "bundle")
    bundle = open_bundle(folder)
    spec, golden = released_spec(bundle), folder / "golden.safetensors"
    content: Content = bundle.manifest
    kept = rollout_in(content, spec, golden)
    assert kept is not None and [case.name for case in kept.steps] == [f"step={at}" for at in range(8)]
    assert kept.emptied.name == "step=7:emptied"

    def refused(steps: Any, words: str) -> None:
        with pytest.raises(BundleError, match=words):
            rollout_in(content.model_copy(update={"decoding": tuple(steps)}), spec, golden)

    steps = content.decoding
    refused(steps[1:], "7 were recorded, and the spec plans 8")
    refused([steps[1], *steps[1:]], "has another seed or other sizes")
    refused([*steps[:-2], steps[-2].model_copy(update={"outputs": {}}), steps[-1]], "other outputs than are kept")
    refused([*steps[:-1], steps[-1].model_copy(update={"name": "step=6:emptied"})], "not the last step")
    assert rollout_in(content.model_copy(update={"decoding": ()}), spec, golden) is None
    held = load(folder / DECODING)
    for key, change, words in (
        ("step=3/input/ids", 1, "not what eager chose"),
        ("step=0/input/key", "float64", "is float64"),
        ("step=5/input/mask", None, "whole|wrong"),
    ):
        other = dict(held)
        if change is None:
            del other[key]
        else:
            other[key] = held[key].astype(change) if isinstance(change, str) else (held[key] + change) % 8
        save(folder / DECODING, other)
        refused(steps, words)


def test_a_bundle_without_its_steps_is_damaged(place: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(place / BUNDLE, tmp_path / "bundle")
    (folder / DECODING).unlink()
    done = exporter("verify", folder, cwd=place)
    assert done.code == 5 and DECODING in done.err
