"""ONNX Runtime: MatMul of a transpose and a vector is computed without the transpose

tool: ONNX Runtime
shows: wrong
needs: onnx onnxruntime
cause: `MatmulTransposeFusion` (onnxruntime/core/optimizer/matmul_transpose_fusion.cc) makes a FusedMatMul with
    transA=1, whose kernel ignores transA where the right side is a vector.

From ORT_ENABLE_EXTENDED on, which is the default. Square matrices give wrong numbers; others, numbers of another
length. Nothing is said.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
expected = x.astype("float64").T @ [1.0, 10.0]
print("expected by NumPy in float64:", expected.tolist())
nodes = [
    helper.make_node("Transpose", ["x"], ["turned"], perm=[1, 0]),
    helper.make_node("MatMul", ["turned", "v"], ["y"]),
]
vector = helper.make_tensor("v", TensorProto.FLOAT, [2], [1.0, 10.0])
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [2, 2]), ("y", [2]))]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:], [vector])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
settings = onnxruntime.SessionOptions()
settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
plain = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime without optimisation:", plain.run(None, {"x": x})[0].tolist())
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {"x": x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the product is wrong"
