"""OpenVINO: GRU with sequence_lens computes every row to the end

tool: OpenVINO
shows: wrong
needs: onnx onnxruntime openvino
cause: Not traced further. The lengths are an input of the compiled model; the CPU plugin computes every row to the
    end.

Rows of 1 and 3 steps. Behind the end of a row ONNX wants zeros. Nothing is said. OpenCV 5.0.0 and MNN 3.6.1 ignore
the lengths alike.
"""

import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper

x = np.ones([3, 2, 1], "float32")
lengths = np.array([1, 3], "int32")
weights = [helper.make_tensor(name, TensorProto.FLOAT, [1, 3, 1], [0.5] * 3) for name in "WR"]
node = helper.make_node("GRU", ["x", "W", "R", "", "lengths"], ["y"], hidden_size=1)
inputs = [
    helper.make_tensor_value_info("x", TensorProto.FLOAT, ["steps", "rows", 1]),
    helper.make_tensor_value_info("lengths", TensorProto.INT32, ["rows"]),
]
output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["steps", 1, "rows", 1])
graph = helper.make_graph([node], "graph", inputs, [output], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
feeds = {"x": x, "lengths": lengths}
expected = np.zeros([3, 2])
state = np.zeros(2)
for step in range(3):
    gate = 1 / (1 + np.exp(-0.5 - 0.5 * state))
    state = (1 - gate) * np.tanh(0.5 + 0.5 * gate * state) + gate * state
    expected[step] = np.where(step < lengths, state, 0)
print("expected by NumPy in float64, with zeros behind the end:", expected.tolist())
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
print("expected by ONNX Runtime:", session.run(None, feeds)[0][:, 0, :, 0].tolist())
core = openvino.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled(feeds)[0]
print("actual:", actual[:, 0, :, 0].tolist())
assert np.allclose(actual[:, 0, :, 0], expected, atol=1e-5), "the sequence is wrong"
