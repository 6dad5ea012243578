"""F.log_sigmoid(-inf) is NaN

tool: Paddle
shows: wrong
needs: paddlepaddle onnx onnxruntime
cause: `LogSigmoidFunctor` in paddle/phi/kernels/funcs/activation_functor.h: with temp = max(-x, 0) it computes -x -
    temp, which is infinity less infinity.

The logarithm of the sigmoid of -inf is -inf. NumPy and ONNX Runtime give it.
"""

import numpy as np
import onnxruntime
import paddle
from onnx import TensorProto, helper

x = np.array([-np.inf, -1.0, np.inf], "float32")
expected = -np.logaddexp(0, -x.astype("float64"))
print("expected by NumPy in float64:", expected.tolist())
nodes = [
    helper.make_node("Neg", ["x"], ["minus"]),
    helper.make_node("Softplus", ["minus"], ["soft"]),
    helper.make_node("Neg", ["soft"], ["y"]),
]
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime:", session.run(None, {"x": x})[0].tolist())
actual = paddle.nn.functional.log_sigmoid(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the result is wrong"
