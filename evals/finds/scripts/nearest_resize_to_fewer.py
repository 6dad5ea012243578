"""ONNX Runtime: Resize (nearest) from 14 to 2 takes element 6 in place of 7

tool: ONNX Runtime
shows: wrong
needs: onnx onnxruntime
cause: onnxruntime/core/providers/cpu/tensor/upsample.cc divides the position by 2 / 14 in float32: 1 / 0.14285715 is
    below 7, and `floor` makes 6 of it.

`asymmetric` and `floor`: the second element lies at 1 * 14 / 2 = 7. Of all pairs of sizes below 200, 4 % differ
somewhere. Nothing is said. OpenVINO 2026.4 takes element 6, too.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

x = np.arange(14.0, dtype="float32").reshape(1, 1, 1, 14)
expected = x.astype("float64")[..., [0 * 14 // 2, 1 * 14 // 2]]
print("expected by the definition, in whole numbers:", expected.tolist())
node = helper.make_node(
    "Resize",
    ["x", "", "", "sizes"],
    ["y"],
    mode="nearest",
    nearest_mode="floor",
    coordinate_transformation_mode="asymmetric",
)
sizes = helper.make_tensor("sizes", TensorProto.INT64, [4], [1, 1, 1, 2])
tensors = [
    helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 14]),
    helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
]
graph = helper.make_graph([node], "graph", tensors[:1], tensors[1:], [sizes])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
print("expected by ONNX's reference:", ReferenceEvaluator(model).run(None, {"x": x})[0].tolist())
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {"x": x})[0]
print("actual:", actual.tolist())
assert np.array_equal(actual, expected), "the resize is wrong"
