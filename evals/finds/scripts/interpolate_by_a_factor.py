"""Paddle Inference with oneDNN refuses F.interpolate(x, scale_factor=2)

tool: Paddle Inference
shows: fails: NotImplementedError
needs: paddlepaddle
cause: `ConvertPirAttribute2RuntimeAttribute`
    (paddle/fluid/framework/new_executor/instruction/onednn/onednn_instruction.cc) knows no array of float64, which
    the attribute `scale` is in Paddle 3.3.

The default predictor of 3.3 (oneDNN) fails in the first run with NotImplementedError.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.nn.functional.interpolate(x, scale_factor=2, mode="nearest") * 1.0


net = Net()
net.eval()
x = np.array([[[[1.0, 2.0]]]], "float32")
expected = x.astype("float64").repeat(2, 2).repeat(2, 3)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 1, 1, 2], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
    config.enable_mkldnn()
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    actual = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what the predictor computes is wrong"
