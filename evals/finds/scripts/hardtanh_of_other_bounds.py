"""paddle2onnx: Hardtanh clips to -1 and 1, whatever min and max are

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: paddle2onnx/mapper/activation/hardtanh.cc writes a Clip by its members' defaults; the bounds of the saved program
    are not read.

Nothing is said.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.nn.functional.hardtanh(x, -0.5, 0.5)


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[-3.0, 0.25, 3.0]], "float32")
expected = np.clip(x.astype("float64"), -0.5, 0.5)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 3], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    paddle2onnx.export(
        folder + "/net.json", folder + "/net.pdiparams", folder + "/net.onnx", opset_version=17, optimize_tool="None"
    )
    session = onnxruntime.InferenceSession(folder + "/net.onnx", providers=["CPUExecutionProvider"])
actual = session.run(None, {session.get_inputs()[0].name: x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what paddle2onnx wrote is wrong"
