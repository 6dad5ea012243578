"""paddle2onnx: a product of int64 above 2**24 is off by one

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: paddle2onnx computes the `scale` of whole numbers, which `x * 3` is, in float32.

Ids that are moved by an offset become other ids. Nothing is said. (The number is a tensor of int64 here, so that
`jit.save` keeps it.)
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x * 3 + paddle.full([1], 1, "int64")


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[5592405, 5592407]], "int64")
expected = np.array([[int(value) * 3 + 1 for value in row] for row in x])
print("expected by Python's whole numbers:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 2], "int64", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    paddle2onnx.export(
        folder + "/net.json", folder + "/net.pdiparams", folder + "/net.onnx", opset_version=17, optimize_tool="None"
    )
    session = onnxruntime.InferenceSession(folder + "/net.onnx", providers=["CPUExecutionProvider"])
actual = session.run(None, {session.get_inputs()[0].name: x})[0]
print("actual:", actual.tolist())
assert np.array_equal(actual, expected), "what paddle2onnx wrote is wrong"
