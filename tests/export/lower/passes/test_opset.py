"""Operators in the words of older opsets: the same numbers in ONNX Runtime, or a refusal that names the operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from exporter.base.errors import ModelError
from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes.graph import Graph
from exporter.export.lower.onnx_program.passes.opset import IR_VERSIONS, put_into

#: What an operator reads besides its first input; None stands for an input that is left out.
Constants: TypeAlias = Mapping[str, "Array | np.generic | None"]
ANY = ("a", "b", "c")
X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype("float32")
WHOLE = np.random.default_rng(1).integers(-9, 9, (2, 3, 4))


def written(x: Array, kind: str, constants: Constants, opset: int, **attributes: Any) -> onnx.ModelProto:
    """One operator on `x`, then on constants, at opset 17, put into another one."""
    dtype = helper.np_dtype_to_tensor_dtype(x.dtype)
    outputs = [f"y{number}" for number in range(2 if kind == "Split" else 1)]
    node = helper.make_node(
        kind, ["x", *("" if value is None else name for name, value in constants.items())], outputs, **attributes
    )
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", dtype, x.shape)],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    known = {name: np.asarray(value) for name, value in constants.items() if value is not None}
    edited = Graph(onnx.shape_inference.infer_shapes(_with(model, known)), known)
    edited.inputs = [one for one in edited.inputs if one.name == "x"]
    put_into(edited, opset)
    made = helper.make_graph(
        edited.nodes,
        "one",
        edited.inputs,
        edited.outputs,
        [numpy_helper.from_array(value, name) for name, value in edited.constants.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_VERSIONS[opset])


def _with(model: onnx.ModelProto, constants: dict[str, Array]) -> onnx.ModelProto:
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
    return model


def run(model: onnx.ModelProto, x: Array) -> list[Array]:
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, {"x": x}))


def vector(*numbers: int) -> Array:
    return np.asarray(numbers, "int64")


CASES: dict[str, tuple[Array, str, Constants, dict[str, Any]]] = {
    "squeeze": (X[:1], "Squeeze", {"axes": vector(0)}, {}),
    "unsqueeze": (X, "Unsqueeze", {"axes": vector(1)}, {}),
    "split": (X, "Split", {"sizes": vector(1, 2)}, {"axis": 1}),
    "sum": (X, "ReduceSum", {"axes": vector(0, 2)}, {"keepdims": 0}),
    "sum of all": (X, "ReduceSum", {}, {"keepdims": 1}),
    "softmax of the last": (X, "Softmax", {}, {"axis": -1}),
    "softmax of the first": (X, "Softmax", {}, {"axis": 0}),
    "softmax by default": (X, "Softmax", {}, {}),
    "log softmax": (X, "LogSoftmax", {}, {"axis": 1}),
    "reshape": (X, "Reshape", {"shape": vector(4, -1)}, {"allowzero": 0}),
    "reshape without zeros": (X, "Reshape", {"shape": vector(4, 6)}, {"allowzero": 1}),
    "a part of the shape": (X, "Shape", {}, {"start": 1, "end": 3}),
    "the end of the shape": (X, "Shape", {}, {"start": -1}),
    "hard swish": (X, "HardSwish", {}, {}),
    "layer norm": (
        X,
        "LayerNormalization",
        {"gain": np.arange(12, dtype="float32").reshape(3, 4), "bias": np.ones((3, 4), "float32")},
        {"axis": 1, "epsilon": 1e-3},
    ),
    "layer norm without bias": (X, "LayerNormalization", {"gain": np.arange(4, dtype="float32")}, {}),
    "at least": (X, "GreaterOrEqual", {"other": X[:, :, ::-1].copy()}, {}),
    "at most": (X, "LessOrEqual", {"other": X}, {}),
    "largest of integers": (WHOLE, "Max", {"a": WHOLE[::-1].copy(), "b": np.int64(2)}, {}),
    "smallest of integers": (WHOLE.astype("int32"), "Min", {"a": np.int32(-3)}, {}),
    "integers between two": (WHOLE, "Clip", {"low": np.int64(-2), "high": np.int64(5)}, {}),
    "integers from one on": (WHOLE, "Clip", {"low": np.int64(1)}, {}),
    "relu of integers": (WHOLE.astype("int32"), "Relu", {}, {}),
    "power": (np.abs(X), "Pow", {"exponent": np.int64(3)}, {}),
    "argmax": (X, "ArgMax", {}, {"axis": 1, "select_last_index": 0}),
    "rows of rows": (X, "GatherND", {"places": np.asarray([[1, 2], [0, 1]])}, {"batch_dims": 0}),
    "scatter": (
        X,
        "ScatterND",
        {"places": np.asarray([[1], [0]]), "rows": np.ones((2, 3, 4), "float32")},
        {"reduction": "none"},
    ),
    "resize by sizes": (
        X[None],
        "Resize",
        {"roi": None, "scales": None, "sizes": vector(1, 2, 6, 8)},
        {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
}


@pytest.mark.parametrize("opset", sorted(set(IR_VERSIONS) - {17}))
@pytest.mark.parametrize("name", CASES)
def test_an_operator_computes_the_same_in_the_words_of_every_opset(name: str, opset: int) -> None:
    x, kind, constants, attributes = CASES[name]
    wanted = run(written(x, kind, constants, 17, **attributes), x)
    got = run(written(x, kind, constants, opset, **attributes), x)
    assert len(got) == len(wanted)
    for one, other in zip(wanted, got, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(other, one, rtol=2e-6, atol=2e-6)


REFUSED = {
    "GridSample": (16, (X[None], "GridSample", {"grid": np.zeros((1, 5, 5, 2), "float32")}, {})),
    "Einsum": (12, (X, "Einsum", {}, {"equation": "abc->cab"})),
    "attribute reduction of ScatterND": (
        16,
        (X, "ScatterND", {"places": vector(1)[:, None], "rows": X[:1]}, {"reduction": "add"}),
    ),
    "attribute batch_dims of GatherND": (12, (X, "GatherND", {"places": vector(1, 0)[:, None]}, {"batch_dims": 1})),
    "Add of int16": (14, (WHOLE.astype("int16"), "Add", {"other": np.int16(1)}, {})),
    "Pow of int32": (12, (WHOLE.astype("int32"), "Pow", {"exponent": np.int32(2)}, {})),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_an_opset_cannot_say_is_refused_by_name_and_with_the_first_that_can(name: str) -> None:
    since, (x, kind, constants, attributes) = REFUSED[name]
    with pytest.raises(ModelError, match=f"opset {since - 1} has no {name}") as error:
        written(x, kind, constants, since - 1, **attributes)
    assert error.value.where == "opset" and f"`opset: {since}`" in str(error.value.hint)
    run(written(x, kind, constants, since, **attributes), x)


def test_axes_that_are_computed_cannot_be_an_attribute() -> None:
    axes = helper.make_node("Identity", ["given"], ["axes"])
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"])
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("given", TensorProto.INT64, [1]),
    ]
    graph = helper.make_graph([axes, node], "two", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ANY)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(ModelError, match="opset 12 takes the numbers of ReduceSum from the file"):
        put_into(Graph(model, {}), 12)
    put_into(Graph(model, {}), 13)


def test_bodies_are_rewritten_too() -> None:
    inner = helper.make_graph(
        [helper.make_node("Unsqueeze", ["x", "axes"], ["more"]), helper.make_node("Softmax", ["more"], ["z"], axis=1)],
        "then",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 2, 3])],
    )
    other = helper.make_graph(
        [helper.make_node("Unsqueeze", ["x", "axes"], ["w"])],
        "else",
        [],
        [helper.make_tensor_value_info("w", TensorProto.FLOAT, [1, 2, 3])],
    )
    node = helper.make_node("If", ["choice"], ["y"], then_branch=inner, else_branch=other)
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("choice", TensorProto.BOOL, []),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ANY)]
    model = helper.make_model(
        helper.make_graph([node], "main", inputs, outputs), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    graph = Graph(model, {"axes": vector(0)})
    put_into(graph, 11)
    made = helper.make_model(
        helper.make_graph(graph.nodes, "main", inputs, outputs),
        opset_imports=[helper.make_opsetid("", 11)],
        ir_version=IR_VERSIONS[11],
    )
    onnx.checker.check_model(made)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    x = X[0, :2, :3]
    soft = np.exp(x) / np.exp(x).sum(0)
    for choice, wanted in ((True, soft[None]), (False, x[None])):
        (got,) = session.run(None, {"x": x, "choice": np.asarray(choice)})
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
