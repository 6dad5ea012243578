"""Paddle Inference with oneDNN: the maximum of a row of -inf is -3.4e38

tool: Paddle Inference
shows: wrong
needs: paddlepaddle
cause: Presumably oneDNN's `reduction_max`, which begins with the smallest finite float32.

The largest of -inf is -inf, in eager mode and in NumPy.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.max(x, -1) * 1.0


net = Net()
net.eval()
x = np.full([1, 4], -np.inf, "float32")
expected = x.astype("float64").max(-1)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 4], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
    config.enable_mkldnn()
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    actual = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
print("actual:", actual.tolist())
assert np.array_equal(actual, expected), "what the predictor computes is wrong"
