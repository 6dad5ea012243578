"""ONNX Runtime: Range of int64 above 2**53 is empty

tool: ONNX Runtime
shows: wrong
needs: onnx onnxruntime
cause: Presumably onnxruntime/core/providers/cpu/generator/range.cc, which computes the number of elements as (limit -
    start) / delta in double: there both ends are the same number.

Nothing is said: the result has no elements.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

start = 2**60
expected = np.arange(start, start + 3)
print("expected by NumPy in int64:", expected.tolist())
inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, []) for name in ("start", "limit", "delta")]
output = helper.make_tensor_value_info("y", TensorProto.INT64, ["n"])
graph = helper.make_graph([helper.make_node("Range", ["start", "limit", "delta"], ["y"])], "graph", inputs, [output])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
feeds = {"start": np.array(start), "limit": np.array(start + 3), "delta": np.array(1)}
print("expected by ONNX's reference:", ReferenceEvaluator(model).run(None, feeds)[0].tolist())
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, feeds)[0]
print("actual:", actual.tolist())
assert np.array_equal(actual, expected), "the range is wrong"
