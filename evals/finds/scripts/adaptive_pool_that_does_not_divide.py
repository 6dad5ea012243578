"""paddle2onnx: adaptive pooling is wrong where the bins do not divide the size

tool: paddle2onnx
shows: wrong
needs: paddlepaddle paddle2onnx onnxruntime
cause: paddle2onnx/mapper/nn/pool2d.cc, `IsSameSpan`: `in_size / out_size` divides whole numbers, so all spans come
    out equal and the check that should refuse never does. `AdaptivePool` then writes one kernel and one stride for
    all bins.

Five values into three bins. PSPNet, and VGG at other sizes than 224, are wrong by this. Nothing is said.
"""

import tempfile

import numpy as np
import onnxruntime
import paddle
import paddle2onnx


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.nn.functional.adaptive_avg_pool2d(x, [1, 3])


paddle.seed(0)
net = Net()
net.eval()
x = np.array([[[[1.0, 2.0, 4.0, 8.0, 16.0]]]], "float32")
expected = np.array([[[[1.5, 14 / 3, 12.0]]]])
print("expected by the definition, in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 1, 1, 5], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    paddle2onnx.export(
        folder + "/net.json", folder + "/net.pdiparams", folder + "/net.onnx", opset_version=17, optimize_tool="None"
    )
    session = onnxruntime.InferenceSession(folder + "/net.onnx", providers=["CPUExecutionProvider"])
actual = session.run(None, {session.get_inputs()[0].name: x})[0]
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what paddle2onnx wrote is wrong"
