"""paddle.logsumexp of infinities is NaN

tool: Paddle
shows: wrong
needs: paddlepaddle onnx onnxruntime
cause: paddle/phi/kernels/impl/logsumexp_kernel_impl.h subtracts the largest value, and infinity less infinity is NaN.

The logarithm of the sum of exponentials of a row of -inf, as attention or CTC masks have it, is -inf, and that of a
row with inf is inf. NumPy's `logaddexp.reduce` and ONNX Runtime's `ReduceLogSumExp` give these.
"""

import numpy as np
import onnxruntime
import paddle
from onnx import TensorProto, helper

x = np.array([[-np.inf, -np.inf], [np.inf, 1.0], [0.0, 0.0]], "float32")
expected = np.logaddexp.reduce(x.astype("float64"), -1)
print("expected by NumPy in float64:", expected.tolist())
nodes = [helper.make_node("ReduceLogSumExp", ["x"], ["y"], axes=[1], keepdims=0)]
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime:", session.run(None, {"x": x})[0].tolist())
actual = paddle.logsumexp(paddle.to_tensor(x), -1).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the result is wrong"
