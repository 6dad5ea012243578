"""paddle.clip(x, min=0.0) makes 3.4e38 of infinity

tool: Paddle
shows: wrong
needs: paddlepaddle onnx onnxruntime
cause: python/paddle/tensor/math.py puts the largest float32 where `max` is None, and clips by it.

A bound that was not asked for is applied. `np.clip(x, 0, None)` and ONNX Runtime's `Max` keep infinity.
"""

import numpy as np
import onnxruntime
import paddle
from onnx import TensorProto, helper

x = np.array([-1.0, 1.0, np.inf], "float32")
expected = np.clip(x.astype("float64"), 0, None)
print("expected by NumPy in float64:", expected.tolist())
nodes = [helper.make_node("Relu", ["x"], ["y"])]
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime:", session.run(None, {"x": x})[0].tolist())
actual = paddle.clip(paddle.to_tensor(x), min=0.0).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the result is wrong"
