"""Paddle Inference with oneDNN: log_softmax errs 16 times as much as eager mode

tool: Paddle Inference
shows: wrong
needs: paddlepaddle
cause: Not traced further; oneDNN's `logsoftmax` on a CPU with AVX-512.

The error of the root mean square against float64, of 64 rows of 16 values.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.nn.functional.log_softmax(x, -1)


def error(value):
    return float(np.sqrt(np.mean((value - expected) ** 2)))


net = Net()
net.eval()
x = np.random.default_rng(0).standard_normal((64, 16)).astype("float32")
expected = x.astype("float64") - np.log(np.exp(x.astype("float64")).sum(-1, keepdims=True))
print("expected by NumPy in float64:", expected[0, :2].tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy()[0, :2].tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 16], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
    config.enable_mkldnn()
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    actual = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
print("actual:", actual[0, :2].tolist())
assert error(actual) < 4 * error(net(paddle.to_tensor(x)).numpy()), "what the predictor computes is wrong"
