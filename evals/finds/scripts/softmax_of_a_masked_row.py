"""F.softmax of a row of -inf is 1/n if n is a multiple of 8, else NaN

tool: Paddle
shows: wrong
needs: paddlepaddle onnx onnxruntime
cause: Not traced further. Rows whose length is a multiple of 8 take another way on a CPU with AVX.

A row of attention in which everything is masked has no softmax: NaN by the definition, by NumPy and by ONNX Runtime.
Paddle gives 1/8 of eight values, and NaN of seven: the answer changes with the padding of a batch.
"""

import numpy as np
import onnxruntime
import paddle
from onnx import TensorProto, helper

x = np.full([1, 8], -np.inf, "float32")
expected = np.exp(x.astype("float64") - x.max()) / np.exp(x.astype("float64") - x.max()).sum()
print("expected by NumPy in float64:", expected.tolist())
nodes = [helper.make_node("Softmax", ["x"], ["y"])]
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime:", session.run(None, {"x": x})[0].tolist())
seven = paddle.nn.functional.softmax(paddle.to_tensor(x[:, :7]))
print("expected by Paddle of seven values:", seven.tolist())
actual = paddle.nn.functional.softmax(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected, equal_nan=True), "the result is wrong"
