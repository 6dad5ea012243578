"""Paddle Inference with oneDNN: a convolution and a leaky ReLU end the process (SIGSEGV)

tool: Paddle Inference
shows: SIGSEGV
needs: paddlepaddle
cause: `conv_activation_mkldnn_fuse_pass` (onednn in newer logs): it makes a FusedConv2dOp of the two, and the process
    ends in its Build.

With ReLU in place of leaky ReLU it runs. YOLOv3 and most detectors of that family have this pair.
"""

import tempfile

import numpy as np
import paddle

net = paddle.nn.Sequential(
    paddle.nn.Conv2D(1, 1, 1, weight_attr=paddle.nn.initializer.Constant(2.0)), paddle.nn.LeakyReLU(0.5)
)
net.eval()
x = np.array([[[[1.0, -1.0], [2.0, -2.0]]]], "float32")
expected = np.where(x > 0, 2.0, 1.0) * x.astype("float64")
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", net(paddle.to_tensor(x)).numpy().tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 1, 2, 2], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
    config.enable_mkldnn()
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    actual = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
print("actual:", actual.tolist())
assert np.allclose(actual, expected, atol=1e-5), "what the predictor computes is wrong"
