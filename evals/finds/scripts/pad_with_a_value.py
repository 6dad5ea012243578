"""paddle2onnx: F.pad fills with 0, whatever value is

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: Since Paddle 3.3 `pad_value` is a double (`a_f64`) in the saved program, which paddle2onnx 2.1.0 does not read
    (paddle2onnx/mapper/nn/pad3d.cc); it writes its default.

Detectors pad pictures with 114. Nothing is said.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.nn.functional.pad(x, [1, 1, 0, 0], value=3.0)


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[[[1.0, 2.0]]]], "float32")
expected = np.pad(x.astype("float64"), ((0, 0), (0, 0), (0, 0), (1, 1)), constant_values=3.0)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 1, 1, 2], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    paddle2onnx.export(
        folder + "/net.json", folder + "/net.pdiparams", folder + "/net.onnx", opset_version=17, optimize_tool="None"
    )
    session = onnxruntime.InferenceSession(folder + "/net.onnx", providers=["CPUExecutionProvider"])
actual = session.run(None, {session.get_inputs()[0].name: x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what paddle2onnx wrote is wrong"
