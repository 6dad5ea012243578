"""Paddle Inference with oneDNN ignores the threshold of softplus

tool: Paddle Inference
shows: wrong
needs: paddlepaddle
cause: The oneDNN kernel of `softplus` hands on `beta` alone; oneDNN's soft ReLU has no threshold.

`nn.Softplus(threshold=1)` is x where x is above 1. The default predictor of 3.3 (oneDNN) gives log(1 + exp(x))
everywhere. Nothing is said.
"""

import tempfile

import numpy as np
import paddle

net = paddle.nn.Softplus(beta=1, threshold=1)
net.eval()
x = np.array([[0.5, 1.5, 3.0]], "float32")
expected = np.where(x > 1, x.astype("float64"), np.log1p(np.exp(x.astype("float64"))))
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 3], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
    config.enable_mkldnn()
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    actual = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what the predictor computes is wrong"
