"""The infer.py of a bundle: the steps in their own words, run where nothing of ours can be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from exporter.base.errors import UsageError
from exporter.base.tensors import save
from exporter.bundle.infer import INFER, PIPELINE, documents, infer_script, pipeline_file, why_not
from exporter.spec.model import Spec
from exporter.steps.chain import KINDS, read_chain, steps_of
from tests.command import environment

BEFORE: list[Any] = [
    {"decode": {"order": "bgr"}},
    {"resize": {"rule": "short", "size": 12}},
    {"crop": {"height": 8, "width": 8}},
    {"normalize": {"scale": 1 / 255, "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.2, 0.3]}},
    "layout",
]
AFTER: list[Any] = ["softmax", {"topk": {"k": 2}}, {"labels": {"names": ["猫", "dog", "bird"]}}]


def spec(before: list[Any], after: list[Any], **more: Any) -> Spec:
    sides = {"preprocess": before, "postprocess": after}
    both = {side: {"training": steps, "deployment": steps} for side, steps in sides.items() if steps}
    return Spec.model_validate(
        {
            "name": "small",
            "model": "a:b",
            "weights": "factory",
            "inputs": {"image": {"dtype": "float32", "shape": ["batch", 3, 8, 8]}},
            "dims": {"batch": {"min": 2, "typical": 2, "max": 4}},
            "outputs": ["scores_of"],
            "pipeline": {"samples": ["*.png"], **both, **more},
        }
    )


def bundle(folder: Path, of: Spec) -> Path:
    """As much of a bundle as infer.py reads: a model that sums each channel."""
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)
    axes = helper.make_tensor("axes", TensorProto.INT64, [2], [2, 3])
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", 3, 8, 8])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", 3])]
    model = helper.make_model(
        helper.make_graph([node], "g", inputs, outputs, [axes]), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 8
    onnx.save(model, folder / "model.onnx")
    variant = {"format": "onnx", "files": ["model.onnx"], "inputs": ["x"], "outputs": ["y"]}
    manifest = {
        "inputs": [{"name": "image", "dtype": "float32", "shape": ["batch", 3, 8, 8]}],
        "outputs": [{"name": "scores_of"}],
        "dims": {"batch": {"min": 2, "max": 4}},
        "variants": {"onnx": variant},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    for name, content in documents(of).items():
        (folder / name).write_bytes(content)
    return folder


def infer(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(folder / INFER), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment(), check=False)


def picture(path: Path, seed: int) -> Path:
    from PIL import Image

    Image.fromarray(np.random.RandomState(seed).randint(0, 256, (20, 31, 3)).astype(np.uint8)).save(path)
    return path


def test_a_file_is_answered_as_by_the_steps(tmp_path: Path) -> None:
    folder = bundle(tmp_path, spec(BEFORE, AFTER))
    files = [picture(tmp_path / f"{seed}.png", seed) for seed in range(3)]
    done = infer(folder, *files)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["sample"] for one in told] == ["0.png", "1.png", "2.png"]
    for file, one in zip(files, told, strict=True):
        raw = {"value": np.frombuffer(file.read_bytes(), dtype=np.uint8)}
        *_, ready = steps_of(read_chain(BEFORE), raw)
        *_, answer = steps_of(read_chain(AFTER), {"value": ready["value"].sum((1, 2))})
        assert one["answer"] == answer["value"].tobytes().decode()
        np.testing.assert_allclose(one["scores"], answer["scores"], rtol=1e-5)


def test_what_is_wrong_is_told_by_sample_and_step(tmp_path: Path) -> None:
    folder = bundle(tmp_path, spec(BEFORE, AFTER))
    (tmp_path / "broken.png").write_bytes(b"no picture")
    for arguments, code, said in (
        (["broken.png"], 2, "broken.png: step 1 (decode): it is no picture"),
        (["none.png"], 2, "none.png: cannot be read"),
        (["broken.png", "--variant", "pir"], 2, "name one of: onnx"),
    ):
        done = infer(folder, tmp_path / arguments[0], *arguments[1:])
        assert (done.returncode, done.stdout) == (code, "")
        assert said in done.stderr


def test_arrays_and_large_answers(tmp_path: Path) -> None:
    folder = bundle(tmp_path, spec(["layout"], []))
    values = {name: np.random.RandomState(at).rand(8, 8, 3).astype("float32") for at, name in enumerate("ab")}
    save(tmp_path / "two.safetensors", values)
    np.save(tmp_path / "one.npy", values["a"])
    done = infer(folder, tmp_path / "two.safetensors", tmp_path / "one.npy")
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["sample"] for one in told] == ["two.safetensors#a", "two.safetensors#b", "one.npy"]
    np.testing.assert_allclose(told[1]["answer"], values["b"].sum((0, 1)), rtol=1e-5)
    assert told[0]["answer"] == told[2]["answer"]
    np.save(tmp_path / "wrong.npy", values["a"][:4])
    done = infer(folder, tmp_path / "wrong.npy")
    assert done.returncode == 2
    assert "the model takes image as float32" in done.stderr and "float32[2, 3, 4, 8]" in done.stderr


@pytest.mark.parametrize("kind", KINDS.names())
def test_each_kind_of_step_stands_by_itself(kind: str) -> None:
    """In the script its class is made without pydantic and without anything of ours."""
    options = {
        "beside": {"name": "share", "what": "share", "size": 4},
        "cast": {"dtype": "float32"},
        "crop": {"height": 4, "width": 4},
        "ctc": {"characters": ["a"]},
        "labels": {"names": ["a"]},
        "normalize": {"mean": [0.5]},
        "pad": {"multiple_of": 4},
        "reshape": {"shape": [-1]},
        "resize": {"rule": "long", "size": 4, "library": "pillow"},
        "table": {"tokens": ["<td>"]},
        "take": {"output": "scores_of"},
        "tokenize": {"vocabulary": ["a"]},
        "warp": {"rule": "longest", "height": 8, "width": 6},
    }.get(kind, {})
    (link,) = read_chain([{kind: options}])
    script = infer_script(spec([{kind: options}], []))
    assert "import exporter" not in script and "from exporter" not in script
    space: dict[str, Any] = {"__name__": "infer", "__file__": "/infer.py"}
    exec(compile(script, "infer.py", "exec"), space)
    told = pipeline_file(spec([{kind: options}], [])).before[0]
    twin = space["KINDS"][told.step](**told.options)
    for value in (
        np.random.RandomState(0).randint(0, 256, (9, 7, 3)).astype(np.uint8),
        np.random.RandomState(0).rand(3, 6).astype("float32"),
        np.frombuffer(b"aba", dtype=np.uint8),
        np.array([0]),
    ):
        state = {"value": value, "scores_of": value}
        refusals = (UsageError, space["UsageError"], ValueError, IndexError)
        assert _outcome(twin.apply, state, refusals) == _outcome(link.apply, state, refusals)


def _outcome(apply: Any, state: dict[str, Any], refusals: tuple[type[Exception], ...]) -> object:
    """The arrays that come out, or in what words they are refused."""
    try:
        return {name: (value.dtype.name, value.tolist()) for name, value in apply(state).items()}
    except refusals as error:
        return type(error).__name__, str(error)


def test_a_function_of_the_model_s_code_leaves_no_script() -> None:
    own = spec([*BEFORE[:1], "recipes.digits:data"], AFTER)
    assert "recipes.digits:data is a function" in why_not(own)
    assert documents(own) == {}


def test_steps_that_are_folded_in_are_left_out() -> None:
    told = pipeline_file(spec(BEFORE, AFTER, fold=True))
    assert [step.step for step in told.before] == ["decode"]
    assert [step.step for step in told.after] == ["labels"]
    assert set(documents(spec(BEFORE, AFTER, fold=True))) == {INFER, PIPELINE}
