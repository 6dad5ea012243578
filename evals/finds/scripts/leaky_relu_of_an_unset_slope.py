"""paddle2onnx: LeakyReLU has a slope of whatever was in memory

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: Since Paddle 3.3 `negative_slope` of `pd_op.leaky_relu` is a double (`a_f64`) in the saved program; paddle2onnx
    2.1.0 reads a float, and the member of its mapper that should hold it is never set.

The slope changes from run to run: tiny, 0 or 1e19. YOLO and GAN networks lose their negative halves. Nothing is said.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.nn.functional.leaky_relu(x, 0.75)


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[-1.0, -2.0, 3.0]], "float32")
expected = np.where(x > 0, x, 0.75 * x.astype("float64"))
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
