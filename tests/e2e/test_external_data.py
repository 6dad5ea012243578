"""An ONNX whose large tensors lie beside it, on its way through the verbs."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from safetensors.numpy import save_file

from tests.command import exporter

MODEL = """
import paddle


class Wide(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = paddle.nn.Linear(40, 64), paddle.nn.Linear(64, 3)

    def forward(self, x):
        return self.outer(paddle.nn.functional.relu(self.inner(x)))
"""
BUNDLE = "out/wide/1.0.0"
SPEC = """
name: wide
version: 1.0.0
model: wide:Wide
weights: factory
inputs: {x: {dtype: float32, shape: [batch, 40], values: normal}}
dims: {batch: {min: 1, typical: 3, max: 6}}
outputs: [y]
formats: [pir, onnx]
external_data_mb: 0.0
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wide")
    (folder / "wide.py").write_text(MODEL)
    (folder / "wide.yaml").write_text(SPEC)
    done = exporter("release", "wide.yaml", "--out", "out", cwd=folder)
    assert done.code == 0, done.out + done.err
    return folder


def test_only_large_tensors_lie_beside_the_model(place: Path) -> None:
    model = onnx.load(place / BUNDLE / "onnx/model.onnx", load_external_data=False)
    apart = [tensor for tensor in model.graph.initializer if tensor.external_data]
    assert [list(tensor.dims) for tensor in apart] == [[40, 64]]
    assert (place / BUNDLE / "onnx/model.onnx.data").stat().st_size == 12288  # three pages for 10,240 bytes


def test_the_bundle_is_judged_drilled_and_handed_over(place: Path) -> None:
    verified = exporter("verify", BUNDLE, "--source", ".", cwd=place)
    assert verified.code == 0, verified.out
    drilled = exporter("drill", BUNDLE, "--formats", "onnx", "--source", ".", "--json", cwd=place)
    assert drilled.code == 0 and drilled.json()["survived"] == [], drilled.out + drilled.err
    handed = exporter("handoff", BUNDLE, "--to", "plain", "--variant", "onnx", "--out", "plain", cwd=place)
    assert handed.code == 0 and "verified here: yes" in handed.out + handed.err
    assert (place / "plain/model/model.onnx.data").is_file()


def test_one_wrong_number_beside_the_model_is_seen(place: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "changed"
    shutil.copytree(place / BUNDLE, bundle)
    numbers = np.memmap(bundle / "onnx/model.onnx.data", "<f4", "r+")
    numbers[7] *= -1
    numbers.flush()
    done = exporter("verify", str(bundle), cwd=place)
    assert done.code == 5 and "model.onnx.data" in done.err, done.err


def test_a_model_of_another_tool_is_judged_with_the_files_that_it_names(place: Path, tmp_path: Path) -> None:
    model = onnx.load(place / BUNDLE / "onnx/model.onnx")
    for factor, code in ((1, 0), (1.01, 1)):
        foreign = tmp_path / str(factor)
        foreign.mkdir()
        weight = next(tensor for tensor in model.graph.initializer if list(tensor.dims) == [40, 64])
        weight.CopyFrom(
            onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight) * np.float32(factor), weight.name)
        )
        onnx.save_model(model, foreign / "their.onnx", save_as_external_data=True, location="their.weights")
        model = onnx.load(foreign / "their.onnx")
        reference = ("--reference", f"{BUNDLE}/pir/model.json", "--dim", "batch=1..6")
        done = exporter("verify", *reference, "--artifact", str(foreign / "their.onnx"), cwd=place)
        assert done.code == code, done.out + done.err


def test_int8_of_it_is_that_of_one_that_holds_its_tensors_itself(place: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(8, 40)).astype("float32")
    save_file({"x": rows}, place / "rows.safetensors")
    low = "precisions: {fp32: {}, int8: {formats: [onnx], samples: 8, data: rows.safetensors}}\n"
    for name, spec in (("apart", SPEC), ("whole", SPEC.replace("external_data_mb: 0.0\n", ""))):
        (place / f"{name}.yaml").write_text(spec + low)
        done = exporter("convert", f"{name}.yaml", "--out", name, cwd=place)
        assert done.code == 0, done.err
    assert (place / "apart/onnx/model.onnx.data").is_file() and not (place / "whole/onnx/model.onnx.data").exists()
    made = [(place / name / "onnx-int8/model.onnx").read_bytes() for name in ("apart", "whole")]
    assert made[0] == made[1] and len(made[0]) < 6_500
