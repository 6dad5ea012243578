"""Each defect of :mod:`tests.clean.known`, in a file of one operator, without anything of the exporter."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.clean.known import DEFECTS
from tests.clean.networks import NETWORKS

ROWS, STEPS, WIDTH, HIDDEN = 3, 5, 4, 3


def _file(operator: str, gates: int) -> bytes:
    draw = np.random.default_rng(0)
    shapes = {"W": (1, gates * HIDDEN, WIDTH), "R": (1, gates * HIDDEN, HIDDEN)}
    weights = [numpy_helper.from_array(draw.standard_normal(s).astype("float32"), n) for n, s in shapes.items()]
    node = helper.make_node(operator, ["x", "W", "R", "", "lengths"], ["y"], hidden_size=HIDDEN)
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["steps", "rows", WIDTH]),
        helper.make_tensor_value_info("lengths", TensorProto.INT32, ["rows"]),
    ]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["steps", 1, "rows", HIDDEN])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


@pytest.mark.parametrize(("operator", "gates"), [("GRU", 3), ("LSTM", 4), ("RNN", 1)])
def test_openvino_ignores_lengths(operator: str, gates: int) -> None:
    """After a row's end the standard wants zeros: ONNX Runtime gives them, OpenVINO does not.

    Should this fail, OpenVINO is mended: take the defect out of the list.
    """
    onnxruntime, openvino = pytest.importorskip("onnxruntime"), pytest.importorskip("openvino")
    content = _file(operator, gates)
    x = np.random.default_rng(1).standard_normal((STEPS, ROWS, WIDTH)).astype("float32")
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(content), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for lengths, differs in (([5, 5, 5], False), ([2, 3, 5], True)):
        inputs = {"x": x, "lengths": np.array(lengths, "int32")}
        right, seen = session.run(None, inputs)[0], compiled(inputs)[0]
        after = np.arange(STEPS)[:, None] >= np.array(lengths)
        assert not right[:, 0][after].any(), "zeros after the end of a row"
        assert (np.abs(right - seen).max() > 0.01) == differs


def test_every_defect_is_of_a_network_that_is_checked() -> None:
    assert {network for network, _ in DEFECTS} <= set(NETWORKS)
