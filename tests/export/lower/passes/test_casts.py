"""A Cast between a Transpose and a product: ONNX Runtime makes it anew, and CUDA then has no kernel for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from tests.export.lower.passes.models import constant, made, model, run

INPUTS = {"x": np.random.default_rng(3).standard_normal((4, 3)).astype("float32")}
FIRST = ["Greater", "Cast", "Transpose", "MatMul"]


def product(*between: str) -> bytes:
    """What is true of x, turned, times x: in its rows and columns before the cast, as `between` says."""
    nodes = [constant("zero", 0), helper.make_node("Greater", ["x", "zero"], ["edges"])]
    value = "edges"
    for step in between:
        settings = {"perm": [1, 0]} if step == "Transpose" else {"to": onnx.TensorProto.FLOAT} if step == "Cast" else {}
        nodes.append(helper.make_node(step, [value], [value := f"{value}.{step}"], **settings))
    nodes.append(helper.make_node("MatMul", [value, "x"], ["y"]))
    return model(nodes, {"x": [4, 3]})


def steps(content: bytes) -> list[str]:
    return [node.op_type for node in onnx.load_model_from_string(content).graph.node]


def made_anew(content: bytes, folder: Path) -> int:
    """How many Casts ONNX Runtime makes while it loads a file."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder / "seen.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    seen = onnx.load(folder / "seen.onnx").graph.node
    return sum(node.op_type == "Cast" and "TransposeFusion" in node.name for node in seen)


def test_it_goes_before_the_transpose(tmp_path: Path) -> None:
    before = product("Transpose", "Cast")
    after = made(before).content
    assert made_anew(before, tmp_path), "where ONNX Runtime no longer makes it anew, delete casts.py"
    assert not made_anew(after, tmp_path)
    assert steps(after) == FIRST
    assert run(after, INPUTS)[0].tolist() == run(before, INPUTS)[0].tolist()


def test_a_transpose_that_something_else_reads_stays_for_it(tmp_path: Path) -> None:
    both = onnx.load_model_from_string(product("Transpose", "Cast"))
    both.graph.output.append(helper.make_tensor_value_info("edges.Transpose", onnx.TensorProto.BOOL, [3, 4]))
    before = both.SerializeToString()
    after = made(before).content
    assert not made_anew(after, tmp_path)
    assert steps(after) == ["Greater", "Transpose", *FIRST[1:]]
    for mine, theirs in zip(run(after, INPUTS), run(before, INPUTS), strict=True):
        assert mine.tolist() == theirs.tolist()


def test_a_cast_that_stands_first_stays(tmp_path: Path) -> None:
    after = made(product("Cast", "Transpose")).content
    assert steps(after) == FIRST
    assert not made_anew(after, tmp_path)
