"""paddle2onnx: the sum of all elements has the shape [1]

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: paddle2onnx gives a reduction over all axes the shape [1]; Paddle has tensors without axes since 2.5.

`x.sum()` has no axes in Paddle. What is stacked or broadcast with it gets another shape. Nothing is said.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x.sum()


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[1.0, 2.0]], "float32")
expected = x.astype("float64").sum()
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
assert actual.shape == expected.shape and np.allclose(actual, expected), "what paddle2onnx wrote is wrong"
