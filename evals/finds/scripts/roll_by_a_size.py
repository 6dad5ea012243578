"""paddle2onnx: roll by a computed shift becomes a file that ONNX Runtime refuses

tool: paddle2onnx
shows: fails: INVALID_ARGUMENT
needs: paddlepaddle paddle2onnx onnxruntime
cause: Presumably paddle2onnx/mapper/tensor/roll.cc, which reads `shifts` as an attribute; a tensor is not read, and
    the node's output is left without a node.

paddle2onnx says nothing. The file names a value that no node gives.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.roll(x, x.shape[1] // 2, 1) * 1.5


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[1.0, 2.0, 3.0, 4.0]], "float32")
expected = np.roll(x.astype("float64"), 2, 1) * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, None], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    paddle2onnx.export(
        folder + "/net.json", folder + "/net.pdiparams", folder + "/net.onnx", opset_version=17, optimize_tool="None"
    )
    session = onnxruntime.InferenceSession(folder + "/net.onnx", providers=["CPUExecutionProvider"])
actual = session.run(None, {session.get_inputs()[0].name: x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what paddle2onnx wrote is wrong"
