"""ONNX Runtime: a float16 product of a transposed tensor ends the process while it is loaded (SIGSEGV)

tool: ONNX Runtime
shows: SIGSEGV
needs: onnx onnxruntime
cause: `MatmulTransposeFusion` makes a FusedMatMul with transBatchA=1, of which there is no float16 kernel on the CPU;
    `NchwcTransformer` then reads a kernel that is not there.

A transpose that moves the first axis back, as behind a recurrent layer, and a product. Without optimisation it is
right.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.arange(8, dtype="float16").reshape(2, 2, 2)
expected = x.astype("float64").transpose(1, 0, 2) @ np.full([2, 2], 0.5)
print("expected by NumPy in float64:", expected.tolist())
nodes = [
    helper.make_node("Transpose", ["x"], ["turned"], perm=[1, 0, 2]),
    helper.make_node("MatMul", ["turned", "w"], ["y"]),
]
weight = helper.make_tensor("w", TensorProto.FLOAT16, [2, 2], [0.5] * 4)
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT16, [2, 2, 2]) for name in "xy"]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:], [weight])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
settings = onnxruntime.SessionOptions()
settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
plain = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime without optimisation:", plain.run(None, {"x": x})[0].tolist())
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {"x": x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the product is wrong"
