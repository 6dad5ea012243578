"""Names of a loop's variables, in a graph made by hand as paddle2onnx writes one."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from exporter.lower._scopes import with_own_names


def _looping() -> bytes:
    """`s` starts at x and is doubled three times; the loop's variable has the name of the value that it begins with."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["start", "start"], ["doubled"]),
            helper.make_node("Identity", ["go"], ["on"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("start", TensorProto.FLOAT, [2]),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("doubled", TensorProto.FLOAT, [2]),
        ],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["times"], value=helper.make_tensor("t", TensorProto.INT64, [], [3])),
            helper.make_node("Constant", [], ["go"], value=helper.make_tensor("g", TensorProto.BOOL, [], [True])),
            helper.make_node("Identity", ["x"], ["start"]),
            helper.make_node("Loop", ["times", "go", "start"], ["y"], body=body),
        ],
        "looping",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


def _with_own_names(content: bytes) -> bytes:
    model = onnx.load_from_string(content)
    with_own_names(model)
    return bytes(model.SerializeToString())


def test_every_name_is_given_once_and_the_loop_still_counts():
    content = _with_own_names(_looping())
    graph = onnx.load_from_string(content).graph
    body = graph.node[-1].attribute[0].g
    outer = {name for node in graph.node for name in node.output} | {one.name for one in graph.input}
    inner = {name for node in body.node for name in node.output} | {one.name for one in body.input}
    assert outer & inner == set()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": np.array([1.0, 2.0], "float32")})
    assert found.tolist() == [8.0, 16.0]


def test_twice_changes_nothing_more():
    once = _with_own_names(_looping())
    assert onnx.load_from_string(_with_own_names(once)) == onnx.load_from_string(once)


def test_a_graph_without_subgraphs_keeps_its_bytes():
    node = helper.make_node("Identity", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    content = bytes(helper.make_model(helper.make_graph([node], "g", values[:1], values[1:])).SerializeToString())
    assert _with_own_names(content) == content
