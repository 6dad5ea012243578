"""paddle2onnx ignores approximate=True of GELU

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: paddle2onnx/mapper/activation/activation.cc, `GeluMapper`: it writes the exact GELU by Erf and never reads
    `approximate`.

Models trained with the approximation (GPT-2, many BERTs) are off by up to 5e-4 in each layer. Nothing is said.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.nn.functional.gelu(x, approximate=True)


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[-2.0, 1.0, 2.0]], "float32")
expected = 0.5 * x.astype("float64") * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x.astype("float64") ** 3)))
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
