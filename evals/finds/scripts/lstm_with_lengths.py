"""paddle2onnx drops sequence_length of an LSTM

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: paddle2onnx/mapper/nn/rnn.cc, `MakeParamInputs`: the name of `sequence_lens` is always written empty.

Rows of a batch have 1 and 3 steps. Behind the end of a row Paddle gives zeros, and the final state is that of the
row's last step. The ONNX computes all steps of all rows. Nothing is said.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = paddle.nn.LSTM(2, 2)

    def forward(self, x, lengths):
        return self.lstm(x, sequence_length=lengths)[0]


paddle.seed(0)
net = Net()
net.eval()
x = np.ones([2, 3, 2], "float32")
lengths = np.array([1, 3], "int64")
paddle.set_default_dtype("float64")
wide = Net()
paddle.set_default_dtype("float32")
for parameter, narrow in zip(wide.parameters(), net.parameters(), strict=True):
    parameter.set_value(narrow.astype("float64"))


def alone(rows):
    """Run rows of one length in float64."""
    return wide.lstm(paddle.to_tensor(rows.astype("float64")))[0].numpy()


expected = np.stack([np.concatenate([alone(x[:1, :1]), np.zeros([1, 2, 2])], 1)[0], alone(x[1:])[0]])
print("expected by Paddle in float64, row by row, without lengths:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x), paddle.to_tensor(lengths)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 3, 2], "float32", "x"), paddle.static.InputSpec([None], "int64", "lengths")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    paddle2onnx.export(
        folder + "/net.json", folder + "/net.pdiparams", folder + "/net.onnx", opset_version=17, optimize_tool="None"
    )
    session = onnxruntime.InferenceSession(folder + "/net.onnx", providers=["CPUExecutionProvider"])
names = [value.name for value in session.get_inputs()]
actual = session.run(None, dict(zip(names, [x, lengths], strict=True)))[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what paddle2onnx wrote is wrong"
