"""paddle2onnx returns the final state of the last layer alone

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: paddle2onnx/mapper/nn/rnn.cc, `Opset7`: `h_out` and `c_out` are overwritten layer by layer, and the last ones
    become the program's final states.

Two layers in both directions have four final states. The ONNX has two. Nothing is said.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = paddle.nn.LSTM(2, 2, num_layers=2, direction="bidirect")

    def forward(self, x):
        return self.lstm(x)[1][0]


paddle.seed(0)
net = Net()
net.eval()
x = np.ones([1, 2, 2], "float32")
paddle.set_default_dtype("float64")
wide = Net()
paddle.set_default_dtype("float32")
for parameter, narrow in zip(wide.parameters(), net.parameters(), strict=True):
    parameter.set_value(narrow.astype("float64"))
expected = wide.lstm(paddle.to_tensor(x.astype("float64")))[1][0].numpy()
print("expected by Paddle in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 2, 2], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    paddle2onnx.export(
        folder + "/net.json", folder + "/net.pdiparams", folder + "/net.onnx", opset_version=17, optimize_tool="None"
    )
    session = onnxruntime.InferenceSession(folder + "/net.onnx", providers=["CPUExecutionProvider"])
actual = session.run(None, {session.get_inputs()[0].name: x})[0]
print("actual:", actual.tolist())
assert actual.shape == expected.shape and np.allclose(actual, expected, atol=1e-5), "what paddle2onnx wrote is wrong"
