"""OpenVINO: Softplus of -15 is off by a third

tool: OpenVINO
shows: wrong
needs: onnx onnxruntime openvino
cause: Presumably oneDNN's `eltwise_soft_relu`, by which the CPU plugin computes it: the values are those of log(1 +
    exp(x)) with 1 + exp(x) rounded to float32. Paddle Inference with oneDNN gives the same.

Softplus is how networks predict what is positive, such as variances and rates. Far below zero it is exp(x), and
exp(-15) is a number that float32 has.
"""

import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper

x = np.array([-8.0, -12.0, -15.0], "float32")
expected = np.log1p(np.exp(x.astype("float64")))
print("expected by NumPy in float64:", expected.tolist())
tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy"]
graph = helper.make_graph([helper.make_node("Softplus", ["x"], ["y"])], "graph", tensors[:1], tensors[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime:", session.run(None, {"x": x})[0].tolist())
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled({"x": x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected, rtol=1e-3, atol=0), "the softplus is wrong"
