"""paddle2onnx.export ends the process where an operator has no converter (SIGABRT)

tool: paddle2onnx
shows: SIGABRT
needs: paddlepaddle paddle2onnx onnxruntime
cause: The conversion calls `abort()` behind `Due to the unsupported operators, the conversion is aborted`, also when
    it was called from Python.

`F.celu`. No exception can be caught: a service, a notebook or a test runner that converts dies.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.nn.functional.celu(x, 0.5)


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[-1.0, 2.0]], "float32")
expected = np.where(x > 0, x, 0.5 * np.expm1(x.astype("float64") / 0.5))
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 2], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    paddle2onnx.export(
        folder + "/net.json", folder + "/net.pdiparams", folder + "/net.onnx", opset_version=17, optimize_tool="None"
    )
    session = onnxruntime.InferenceSession(folder + "/net.onnx", providers=["CPUExecutionProvider"])
actual = session.run(None, {session.get_inputs()[0].name: x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what paddle2onnx wrote is wrong"
