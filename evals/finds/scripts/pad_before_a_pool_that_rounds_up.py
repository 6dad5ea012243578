"""ONNX Runtime: Pad and AveragePool with ceil_mode lose the last window

tool: ONNX Runtime
shows: wrong
needs: onnx onnxruntime
cause: `PadFusion` (onnxruntime/core/optimizer/pad_fusion.cc) moves the padding into `pads` of the pool. A window that
    begins in that padding is left out with `ceil_mode`, and was there as long as the padding was elements.

The fused graph has three windows in place of four. What follows is broadcast or reshaped otherwise, or fails.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.arange(1.0, 6.0, dtype="float32").reshape(1, 1, 1, 5)
expected = np.array([[[[(0 + 1) / 2, (2 + 3) / 2, (4 + 5) / 2, 0]]]])
print("expected by the definition, in float64:", expected.tolist())
nodes = [
    helper.make_node("Pad", ["x", "pads"], ["padded"]),
    helper.make_node(
        "AveragePool", ["padded"], ["y"], kernel_shape=[1, 2], strides=[1, 2], ceil_mode=1, count_include_pad=1
    ),
]
pads = helper.make_tensor("pads", TensorProto.INT64, [8], [0, 0, 0, 1, 0, 0, 0, 1])
tensors = [
    helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 5]),
    helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:], [pads])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
settings = onnxruntime.SessionOptions()
settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
plain = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime without optimisation:", plain.run(None, {"x": x})[0].tolist())
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {"x": x})[0]
print("actual:", actual.tolist())
assert actual.shape == expected.shape and np.allclose(actual, expected), "the pool is wrong"
