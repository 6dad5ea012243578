"""ONNX Runtime: a Scan over another axis of an empty tensor ends the process

tool: ONNX Runtime
shows: SIGFPE
needs: onnx onnxruntime
cause: Presumably the transpose of the scanned input (onnxruntime/core/providers/cpu/controlflow/scan_9.cc), which
    divides by a size that is 0. Scanned along axis 0, it is an error that can be caught.

A decoder whose batch is filtered has no row at times.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.zeros([2, 0], "float32")
expected = np.zeros([2])
print("expected by the definition, the initial state:", expected.tolist())
inner = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("state", "seen", "sum")]
body = helper.make_graph([helper.make_node("Add", ["state", "seen"], ["sum"])], "body", inner[:2], inner[2:])
node = helper.make_node("Scan", ["start", "x"], ["y"], body=body, num_scan_inputs=1, scan_input_axes=[1])
start = helper.make_tensor("start", TensorProto.FLOAT, [2], [0.0, 0.0])
tensors = [
    helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, "n"]),
    helper.make_tensor_value_info("y", TensorProto.FLOAT, [2]),
]
graph = helper.make_graph([node], "graph", tensors[:1], tensors[1:], [start])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {"x": x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the scan is wrong"
