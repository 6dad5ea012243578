"""Paddle Inference with oneDNN refuses nn.LayerNorm([2, 2])

tool: Paddle Inference
shows: fails: supports only last logical axis
needs: paddlepaddle
cause: paddle/phi/kernels/onednn/layer_norm_kernel.cc normalises the last axis only, and the choice of kernels does
    not ask.

The default predictor of 3.3 (oneDNN) fails in the first run.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm = paddle.nn.LayerNorm([2, 2])

    def forward(self, x):
        return self.norm(x)


net = Net()
net.eval()
x = np.array([[[1.0, 2.0], [3.0, 6.0]]], "float32")
expected = (x.astype("float64") - x.mean()) / np.sqrt(x.astype("float64").var() + 1e-5)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 2, 2], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
    config.enable_mkldnn()
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    actual = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what the predictor computes is wrong"
