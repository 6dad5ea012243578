"""ONNX Runtime: Sigmoid of -20 is 0

tool: ONNX Runtime
shows: wrong
needs: onnx onnxruntime
cause: `MlasComputeLogistic` (onnxruntime/core/mlas/lib/logistic.cpp) clamps its argument to [-18, 18] and computes a
    rational approximation that is right to 1.3e-7 of one, not of the value.

The error relative to the value is 0.04 % at -8, 2 % at -12, and all of it below -18. Probabilities of rare classes,
and their logarithms, are lost. `1 / (1 + Exp(-x))` of the same engine is right.
"""

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.array([-8.0, -12.0, -20.0], "float32")
expected = 1 / (1 + np.exp(-x.astype("float64")))
print("expected by NumPy in float64:", expected.tolist())


def run(*nodes):
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy"]
    one = helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])
    graph = helper.make_graph(nodes, "graph", tensors[:1], tensors[1:], [one])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


steps = (("Neg", "x", "minus"), ("Exp", "minus", "power"), ("Add", "power one", "sum"), ("Reciprocal", "sum", "y"))
spelled = run(*(helper.make_node(kind, inputs.split(), [output]) for kind, inputs, output in steps))
print("expected by ONNX Runtime's Exp and Reciprocal:", spelled.tolist())
actual = run(helper.make_node("Sigmoid", ["x"], ["y"]))
print("actual:", actual.tolist())
assert np.allclose(actual, expected, rtol=1e-4, atol=0), "the sigmoid is wrong"
