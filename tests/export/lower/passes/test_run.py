from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from exporter.base.readers.kinds.onnx import read_onnx
from exporter.base.tensors import TensorSpec, digest
from exporter.export.lower.stored import stored_digests
from tests.command import ROOT, environment
from tests.export.lower.passes.models import constant, kinds, made, model, same

BATCH = TensorSpec("x", "float32", ("batch", 4, 5))


def pictures(*shape: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).normal(size=shape).astype("float32")}


def flattened() -> list[onnx.NodeProto]:
    """`paddle.flatten(x, 1)` by sizes that are computed."""
    return [
        helper.make_node("Shape", ["x"], ["shape"]),
        constant("zero", [0], "int64"),
        constant("one", [1], "int64"),
        constant("rest", [-1], "int64"),
        helper.make_node("Slice", ["shape", "zero", "one", "zero"], ["batch"]),
        helper.make_node("Concat", ["batch", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]


def test_a_flatten_by_five_operators_is_one_and_takes_any_batch() -> None:
    before = model(flattened(), {"x": [None, 4, 5]})
    after = made(before, BATCH).content
    assert kinds(after) == {"Flatten": 1}
    for rows in (1, 3):
        same(before, after, pictures(rows, 4, 5))


def test_sizes_are_followed_through_casts_as_a_pdmodel_has_them() -> None:
    """The `shape` of a `.pdmodel` gives int32, which its reshapes want as int64."""
    nodes = flattened()
    nodes[0].output[0] = "whole"
    nodes.insert(1, helper.make_node("Cast", ["whole"], ["narrow"], to=TensorProto.INT32))
    nodes.insert(2, helper.make_node("Cast", ["narrow"], ["shape"], to=TensorProto.INT64))
    before = model(nodes, {"x": [None, 4, 5]})
    after = made(before, BATCH).content
    assert kinds(after) == {"Flatten": 1}
    same(before, after, pictures(3, 4, 5))


def test_sizes_that_are_known_keep_their_dtype() -> None:
    nodes = [
        constant("three", [3, 3, 3], "int32"),
        helper.make_node("Shape", ["x"], ["whole"]),
        helper.make_node("Cast", ["whole"], ["narrow"], to=TensorProto.INT32),
        helper.make_node("Mod", ["narrow", "three"], ["rest"]),
        helper.make_node("Cast", ["rest"], ["y"], to=TensorProto.FLOAT),
    ]
    before = model(nodes, {"x": [2, 4, 5]})
    after = made(before).content
    assert not kinds(after)["Shape"]
    same(before, after, pictures(2, 4, 5))


def test_the_sizes_of_outputs_are_called_as_the_spec_calls_them() -> None:
    graph = onnx.load_model_from_string(made(model(flattened(), {"x": ["batch", 4, 5]}), BATCH).content).graph
    (output,) = graph.output
    assert [dim.dim_param or dim.dim_value for dim in output.type.tensor_type.shape.dim] == ["batch", 20]


def test_a_reshape_to_two_new_sizes_is_left() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Shape", ["other"], ["elsewhere"]),
        constant("two", [2], "int64"),
        constant("rest", [-1], "int64"),
        constant("zero", 0, "int64"),
        helper.make_node("Gather", ["elsewhere", "zero"], ["size"]),
        helper.make_node("Unsqueeze", ["size", "axes"], ["vector"]),
        helper.make_node("Concat", ["vector", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    nodes.insert(0, constant("axes", [0], "int64"))
    before = model(nodes, {"x": [None, 4, 5], "other": [None, 1]})
    after = made(before).content
    assert kinds(after)["Reshape"] == 1 and kinds(after)["Shape"] == 1
    same(before, after, {**pictures(3, 4, 5), "other": np.ones((6, 1), "float32")})


def test_linear_layers_are_gemms_where_they_have_two_dimensions() -> None:
    rng = np.random.default_rng(0)
    nodes = [
        constant("w", rng.normal(size=(5, 3))),
        constant("b", rng.normal(size=3)),
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["y"]),
    ]
    for shape, expected in (((None, 5), {"Gemm": 1}), ((None, 4, 5), {"MatMul": 1, "Add": 1})):
        before = model(nodes, {"x": shape})
        after = made(before).content
        assert kinds(after) == expected
        same(before, after, pictures(2, *(one for one in shape if one)), within=1e-6)


def test_weights_are_initializers_and_nothing_unread_stays() -> None:
    nodes = [
        constant("w", np.ones((5, 3)) * 0.5),
        constant("never", np.ones(1000)),
        helper.make_node("Identity", ["x"], ["a"]),
        helper.make_node("MatMul", ["a", "w"], ["m"]),
        helper.make_node("Relu", ["m"], ["unread"]),
        helper.make_node("Identity", ["m"], ["y"]),
    ]
    before = model(nodes, {"x": [None, 5]}, imports=[("", 17), ("com.microsoft", 1)])
    content = made(before).content
    after = onnx.load_model_from_string(content)
    assert [one.op_type for one in after.graph.node] == ["MatMul"] and after.graph.node[0].output[0] == "y"
    assert [one.name for one in after.graph.initializer] == ["w"]
    assert [one.domain for one in after.opset_import] == [""]
    same(before, content, pictures(2, 5))


def test_an_input_that_is_put_out_keeps_its_identity() -> None:
    before = model([helper.make_node("Identity", ["x"], ["y"])], {"x": [None, 5]})
    after = made(before).content
    assert kinds(after) == {"Identity": 1}
    same(before, after, pictures(2, 5))


def test_additions_of_zero_go_and_others_stay() -> None:
    nodes = [
        constant("zero", 0.0),
        constant("one", [1.0]),
        constant("wide", [[[0.0]]]),
        helper.make_node("Add", ["x", "zero"], ["a"]),
        helper.make_node("Mul", ["one", "a"], ["b"]),
        helper.make_node("Sub", ["zero", "b"], ["c"]),
        helper.make_node("Add", ["c", "wide"], ["y"]),
    ]
    before = model(nodes, {"x": [None, 5]})
    after = made(before).content
    assert kinds(after) == {"Sub": 1, "Add": 1}, "0 - x is not x, and the last one adds a dimension"
    same(before, after, pictures(2, 5))


def test_weights_that_are_only_rearranged_are_rearranged_once_and_traced() -> None:
    rng = np.random.default_rng(0)
    gates, part = rng.normal(size=(8, 3)), rng.normal(size=(4, 3))
    nodes = [
        constant("gates", gates),
        constant("part", part),
        helper.make_node("Concat", ["gates", "part"], ["all"], axis=0),
        helper.make_node("Transpose", ["all"], ["w"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    before = model(nodes, {"x": [None, 3]})
    after = made(before)
    assert kinds(after.content) == {"MatMul": 1} and [len(parts) for parts in after.folded.values()] == [2]
    same(before, after.content, pictures(2, 3))


def test_a_body_keeps_reading_what_is_moved_outside() -> None:
    body = [
        helper.make_graph(
            [helper.make_node(kind, ["a"], [f"{kind}.y"])],
            kind,
            [],
            [helper.make_tensor_value_info(f"{kind}.y", TensorProto.FLOAT, None)],
        )
        for kind in ("Relu", "Neg")
    ]
    nodes = [
        constant("zero", 0.0),
        helper.make_node("Identity", ["x"], ["a"]),
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["positive"]),
        helper.make_node("If", ["positive"], ["y"], then_branch=body[0], else_branch=body[1]),
    ]
    before = model(nodes, {"x": [None, 5]})
    after = made(before).content
    assert kinds(after) == {"ReduceSum": 1, "Greater": 1, "If": 1}
    for sign in (1, -1):
        same(before, after, {"x": sign * np.arange(1, 11, dtype="float32").reshape(2, 5)})


CHILD = """
import inspect, json, sys
from pathlib import Path
import paddle
from paddle import nn
from exporter.export.lower.paddle2onnx import convert
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.base.tensors import TensorSpec
from exporter.export.trace.traced import trace

class Text(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2)
        self.turn, self.head = nn.GRU(16, 8, direction="bidirect"), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.turn(self.body(self.embed(x)))[0].mean(axis=1))

place = Path(sys.argv[1])
paddle.seed(0)
for name in sys.argv[2:]:
    net = Text() if name == "text" else getattr(paddle.vision.models, name)()
    for norm in net.sublayers():
        if isinstance(norm, nn.BatchNorm2D):  # fresh ones have mean 0 and variance 1, which hides mistakes
            norm._mean.set_value(paddle.randn(norm._mean.shape) * 0.1)
            norm._variance.set_value(paddle.rand(norm._variance.shape) + 0.5)
    net.eval()
    x = next(iter(inspect.signature(net.forward).parameters))
    spec = (x, "int64", ("batch", "seq")) if name == "text" else (x, "float32", ("batch", 3, 64, 64))
    folder = place / name
    folder.mkdir()
    with onnx.session(None):
        pir.write(trace(net, (TensorSpec(*spec),), None, {}), None, folder, Wish())
    (place / f"{name}.onnx").write_bytes(convert(folder, 17))
    (place / f"{name}.ours").mkdir()
    details = onnx.write(None, folder, place / f"{name}.ours", Wish(inputs=(TensorSpec(*spec),)))
    (place / f"{name}.ours/folded.json").write_text(json.dumps(details["folded"]))
"""
NETS = {
    "mobilenet_v2": {"Conv": 52, "Clip": 35, "Add": 10, "GlobalAveragePool": 1, "Flatten": 1, "Gemm": 1},
    "shufflenet_v2_x0_25": None,
    "densenet121": None,
    "text": None,
}


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("paddle2onnx", reason="paddle2onnx 2.1.0 has no wheel for Python 3.13")
    place = tmp_path_factory.mktemp("nets")
    (place / "child.py").write_text(CHILD)
    command = [sys.executable, str(place / "child.py"), str(place), *NETS]
    settings = {**environment(), "OMP_NUM_THREADS": "1", "POLYGRAPHY_AUTOINSTALL_DEPS": "0"}
    done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return place


@pytest.mark.parametrize("name", NETS)
def test_real_networks_compute_the_same_with_fewer_nodes(name: str, nets: Path) -> None:
    before, after = nets / f"{name}.onnx", nets / f"{name}.ours/model.onnx"
    old, new = kinds(before.read_bytes()), kinds(after.read_bytes())
    assert not {"Constant", "Identity"} & set(new) and 2 * sum(new.values()) < sum(old.values())
    assert NETS[name] in (None, new)
    rng = np.random.default_rng(0)
    for rows in (1, 3):
        x = rng.integers(0, 50, (rows, 7)) if name == "text" else rng.normal(size=(rows, 3, 64, 64)).astype("float32")
        same(before.read_bytes(), after.read_bytes(), {read_onnx(after).inputs[0].name: x}, within=2e-5)


def test_every_weight_of_a_real_network_is_the_networks_or_made_of_them(nets: Path) -> None:
    ours = nets / "mobilenet_v2.ours"
    trained = set(stored_digests(["mobilenet_v2/model.json", "mobilenet_v2/model.pdiparams"], nets).values())
    folded = json.loads((ours / "folded.json").read_text())
    assert len(folded) == 104 and all(set(parts) <= trained for parts in folded.values())
    stored = onnx.load(ours / "model.onnx").graph.initializer
    rest = {one.name: digest(numpy_helper.to_array(one)) for one in stored if one.name not in folded}
    assert {name for name, value in rest.items() if value in trained} == {"linear_0.w_0", "linear_0.b_0"}
    assert all(
        not numpy_helper.to_array(one).ndim for one in stored if one.name in rest and rest[one.name] not in trained
    )
