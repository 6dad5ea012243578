"""What Triton is told of a model is what ONNX Runtime reports of it, for tensors of every rank."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from exporter.base.errors import UsageError
from exporter.base.files import sha256_file
from exporter.bundle.open import open_bundle
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.write import TARGETS
from tests import faults

Shape = list[int | str]
BATCH = {"batch": {"min": 1, "typical": 2, "max": 5, "multiple_of": 1}}
SEQ = {"seq": {"min": 2, "typical": 3, "max": 8, "multiple_of": 1}}
_ORT = {"tensor(float)": "TYPE_FP32", "tensor(int64)": "TYPE_INT64", "tensor(bool)": "TYPE_BOOL"}


def a_bundle(base: Path, to: Path, inputs: dict[str, Shape], dims: dict[str, Any], file: dict[str, Shape]) -> Path:
    """The small bundle with another ONNX model: each input comes out as it is; `file`: what the file says else."""
    copy = faults.copied(base, to)
    made = [
        [
            helper.make_tensor_value_info(f"{side}{name}", TensorProto.FLOAT, file.get(name, shape))
            for name, shape in inputs.items()
        ]
        for side in ("", "out_")
    ]
    nodes = [helper.make_node("Neg", [name], [f"out_{name}"]) for name in inputs]
    model = helper.make_model(helper.make_graph(nodes, "g", *made), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, copy / "onnx/model.onnx")
    content = json.loads((copy / "manifest.json").read_bytes())
    outputs = {f"out_{name}": shape for name, shape in inputs.items()}
    content["variants"] = {
        "onnx": content["variants"]["onnx"]
        | {"inputs": list(inputs), "outputs": list(outputs), "native_outputs": list(outputs)}
    }
    content["inputs"] = [{"name": name, "dtype": "float32", "shape": shape} for name, shape in inputs.items()]
    content["outputs"] = [
        {"name": n, "dtype": "float32", "shape": [s if type(s) is int else -1 for s in shape]}
        for n, shape in outputs.items()
    ]
    content["dims"] = dims = {name: {"typical": dim["max"], "multiple_of": 1, **dim} for name, dim in dims.items()}
    points = [{name: dim[key] for name, dim in dims.items()} for key in ("min", "typical", "max")]
    facts = dict(content["cases"][0]["outputs"]["logits"])
    content["cases"] = [
        {
            "name": f"case{n}",
            "dims": point,
            "seed": n,
            "outputs": {name: facts | {"shape": [point.get(s, s) for s in shape]} for name, shape in outputs.items()},
        }
        for n, point in enumerate(points)
    ]
    path = copy / "onnx/model.onnx"
    for kind in ("pir", "pdmodel"):
        shutil.rmtree(copy / kind)
    kept = {name: facts for name, facts in content["files"].items() if name.split("/")[0] not in ("pir", "pdmodel")}
    content["files"] = kept
    content["files"]["onnx/model.onnx"] = {"sha256": sha256_file(path), "size": path.stat().st_size}
    declared = {name: {"dtype": "float32", "shape": shape, "values": "normal"} for name, shape in inputs.items()}
    content["spec"] |= {"inputs": declared, "dims": dims, "outputs": list(outputs)}
    faults.reseal(copy, content)
    return copy


@dataclass(frozen=True)
class Told:
    """What a config.pbtxt says."""

    batch: int
    dims: dict[str, list[int]]
    types: dict[str, str]
    text: str


def told(bundle: Path) -> Told:
    chosen = Chosen(open_bundle(bundle), "onnx")
    (text,) = (content for name, content in TARGETS["triton"].layout(chosen).items() if name.endswith(".pbtxt"))
    assert isinstance(text, bytes)
    batch = re.search(r"^max_batch_size: (\d+)$", text.decode(), re.M)
    tensors = re.findall(r'name: "(\w+)" data_type: (\w+) dims: \[ ([-\d, ]+) \] \} \]$', text.decode(), re.M)
    assert batch
    dims = {name: [int(size) for size in sizes.split(",")] for name, _, sizes in tensors}
    return Told(int(batch[1]), dims, {name: kind for name, kind, _ in tensors}, text.decode())


def accepted_by_triton(config: Told, model: Path) -> None:
    """Triton's own rules (`ValidateIOShape`, `CompareDimsSupported`), on what ONNX Runtime reports of the file."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    reported = [*session.get_inputs(), *session.get_outputs()]
    assert {tensor.name for tensor in reported} == set(config.dims)
    for tensor in reported:
        shape = [size if isinstance(size, int) else -1 for size in tensor.shape]
        dims = config.dims[tensor.name]
        assert dims and all(size == -1 or size >= 1 for size in dims)
        assert config.types[tensor.name] == _ORT[tensor.type]
        whole = [-1, *dims] if config.batch else dims
        assert len(whole) == len(shape), "the rank of a request is the rank of the model"
        if config.batch:
            assert shape[0] == -1, "a size that the file fixes is no batch"
        assert all(size in (-1, said) for size, said in zip(shape, whole, strict=True))


CASES: dict[str, tuple[dict[str, Shape], dict[str, Any], dict[str, Shape], int, dict[str, list[int]]]] = {
    # inputs, dims, what the file says else, max_batch_size, dims of the inputs
    "rank 1": ({"x": ["batch"]}, BATCH, {}, 0, {"x": [-1]}),
    "rank 2": ({"x": ["batch", 4]}, BATCH, {}, 5, {"x": [4]}),
    "rank 4": ({"x": ["batch", 3, 8, 8]}, BATCH, {}, 5, {"x": [3, 8, 8]}),
    "rank 1 beside rank 3": (
        {"x": ["batch", "seq", 4], "lengths": ["batch"]},
        BATCH | SEQ,
        {},
        0,
        {"x": [-1, -1, 4], "lengths": [-1]},
    ),
    "two dims": ({"x": ["batch", "seq"]}, BATCH | SEQ, {}, 5, {"x": [-1]}),
    "rank 1, no batch": ({"x": [7]}, {}, {}, 0, {"x": [7]}),
    "fixed batch": ({"x": [4, 3]}, {}, {}, 0, {"x": [4, 3]}),
    "a batch of one size": (
        {"x": ["batch", 3]},
        {"batch": {"min": 4, "typical": 4, "max": 4}},
        {},
        0,
        {"x": [4, 3]},
    ),
    "no batch in common": ({"x": ["batch", 3], "y": ["seq", 3]}, BATCH | SEQ, {}, 0, {"x": [-1, 3], "y": [-1, 3]}),
    "one without a batch": ({"x": ["batch", 3], "y": [6, 3]}, BATCH, {}, 0, {"x": [-1, 3], "y": [6, 3]}),
    "a batch in two places": ({"x": ["batch", "batch"]}, BATCH, {}, 0, {"x": [-1, -1]}),
    "fixed by the file": ({"x": ["batch", 3]}, BATCH, {"x": [2, 3]}, 0, {"x": [2, 3]}),
    "open in the file": ({"x": ["batch", 3]}, BATCH, {"x": ["b", "c"]}, 5, {"x": [3]}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_tensor_of_any_rank(bundle: Path, tmp_path: Path, name: str) -> None:
    inputs, dims, file, batch, expected = CASES[name]
    made = a_bundle(bundle, tmp_path / "bundle", inputs, dims, file)
    config = told(made)
    accepted_by_triton(config, made / "onnx/model.onnx")
    assert config.batch == batch, config.text
    assert {key: value for key, value in config.dims.items() if key in inputs} == expected
    assert "reshape" not in config.text, "requests have the shapes that the bundle tells"


def test_a_request_by_the_readme_is_one_by_the_config(bundle: Path, tmp_path: Path) -> None:
    """The shapes in the README's table, with every dim at its typical size, are what Triton is told to take."""
    made = a_bundle(bundle, tmp_path / "bundle", {"x": ["batch", "seq", 4], "n": ["batch"]}, BATCH | SEQ, {})
    config, manifest = told(made), open_bundle(made).manifest
    session = onnxruntime.InferenceSession(str(made / "onnx/model.onnx"), providers=["CPUExecutionProvider"])
    sizes = {name: dim["typical"] for name, dim in manifest.dims.items()}
    request = {
        one.name: np.zeros([sizes[size] if isinstance(size, str) else size for size in one.shape], "float32")
        for one in manifest.inputs
    }
    for name, value in request.items():
        whole = [-1, *config.dims[name]] if config.batch else config.dims[name]
        assert len(whole) == value.ndim
        assert all(size in (-1, had) for size, had in zip(whole, value.shape, strict=True))
    session.run(None, request)


@pytest.mark.parametrize(
    ("shape", "dtype", "said"),
    [
        ([], "float32", "x is a scalar"),
        ([0, 3], "float32", "x is always empty"),
        ([3], "bfloat16", "no type for input x"),
    ],
)
def test_what_triton_cannot_take_is_refused(bundle: Path, tmp_path: Path, shape: Shape, dtype: str, said: str) -> None:
    opened = open_bundle(a_bundle(bundle, tmp_path / "bundle", {"x": [3]}, {}, {"x": shape}))
    tensor = opened.manifest.inputs[0].model_copy(update={"dtype": dtype, "shape": tuple(shape)})
    outputs = [output.model_copy(update={"shape": tuple(shape)}) for output in opened.manifest.outputs]
    manifest = opened.manifest.model_copy(update={"inputs": (tensor,), "outputs": tuple(outputs)})
    with pytest.raises(UsageError, match=said):
        TARGETS["triton"].layout(Chosen(replace(opened, manifest=manifest), "onnx"))


def test_the_real_model(bundle: Path) -> None:
    accepted_by_triton(told(bundle), bundle / "onnx/model.onnx")
