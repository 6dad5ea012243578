"""Faults in a batch norm that says nothing of training: ONNX leaves out what is an operator's default."""

from __future__ import annotations

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from exporter.bundle.drill.programs.kinds.onnx import OnnxProgram


def test_a_batch_norm_without_attributes_can_be_set_to_training() -> None:
    channels = {name: np.full(3, value, "float32") for name, value in zip("sbmv", (1, 0, 5, 4), strict=True)}
    graph = helper.make_graph(
        [helper.make_node("BatchNormalization", ["x", *channels], ["y"])],
        "norm",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])],
        [numpy_helper.from_array(value, name) for name, value in channels.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    program = OnnxProgram.parse(helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString())
    (norm,) = [node for node in program.nodes() if node.kind == "batchnormalization"]
    x = np.array([[1.0, 2.0, 3.0], [3.0, 6.0, 9.0]], "float32")
    assert _computed(program, x).tolist() == ((x - 5) / 2).round(4).tolist()
    program.train(norm)
    assert _computed(program, x).tolist() == [[-1, -1, -1], [1, 1, 1]]  # by the statistics of the rows themselves


def _computed(program: OnnxProgram, x: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(program.encode(), providers=["CPUExecutionProvider"])
    return np.round(session.run(["y"], {"x": x})[0], 4)
