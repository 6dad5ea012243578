"""ONNX Runtime: ReduceMax of a row with NaN is a number, or NaN, by where the NaN stands

tool: ONNX Runtime
shows: wrong
needs: onnx onnxruntime paddlepaddle
cause: The reduction of onnxruntime/core/providers/cpu/reduction/reduction_ops.cc uses Eigen's `maxCoeff`, which
    compares and keeps the first.

NaN first gives NaN, NaN later is dropped. NumPy and Paddle give NaN for both. A row that is broken is not seen behind
the reduction.
"""

import numpy as np
import onnxruntime
import paddle
from onnx import TensorProto, helper

x = np.array([[np.nan, 1.0, 2.0, 3.0], [1.0, np.nan, 3.0, 2.0]], "float32")
expected = x.astype("float64").max(1)
print("expected by NumPy in float64:", expected.tolist())
print("expected by Paddle:", paddle.max(paddle.to_tensor(x), 1).tolist())
node = helper.make_node("ReduceMax", ["x"], ["y"], axes=[1], keepdims=0)
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
graph = helper.make_graph([node], "graph", tensors[:1], tensors[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {"x": x})[0]
print("actual:", actual.tolist())
assert np.array_equal(actual, expected, equal_nan=True), "the reduction is wrong"
