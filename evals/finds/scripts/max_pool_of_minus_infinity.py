"""F.max_pool2d of -inf gives -3.4e38

tool: Paddle
shows: wrong
needs: paddlepaddle onnx onnxruntime
cause: `MaxPool::initial` in paddle/phi/kernels/funcs/pooling.h is -FLT_MAX, and -inf is less.

The largest of a window of -inf is -inf. NumPy and ONNX Runtime give it.
"""

import numpy as np
import onnxruntime
import paddle
from onnx import TensorProto, helper

x = np.full([1, 1, 2, 2], -np.inf, "float32")
expected = x.astype("float64").max((2, 3), keepdims=True)
print("expected by NumPy in float64:", expected.tolist())
nodes = [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])]
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime:", session.run(None, {"x": x})[0].tolist())
actual = paddle.nn.functional.max_pool2d(paddle.to_tensor(x), 2).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the result is wrong"
