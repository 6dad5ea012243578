"""paddle.nn.RNN of a dynamic number of steps: the saved program never ends in Paddle Inference

tool: Paddle Inference
shows: hangs
needs: paddlepaddle
cause: `_rnn_static_graph` in python/paddle/nn/layer/rnn.py counts the steps by `paddle.increment` in place, which the
    condition of the saved `while` does not see.

It works in eager mode, is traced and saved. The first run of the saved program never ends.
"""

import tempfile

import numpy as np
import paddle

net = paddle.nn.RNN(paddle.nn.SimpleRNNCell(2, 2))
for parameter in net.parameters():
    paddle.nn.initializer.Constant(0.25)(parameter)
net.eval()
x = np.ones([2, 3, 2], "float32")
state = np.zeros([2, 2])
for step in range(3):
    state = np.tanh(
        x[:, step].astype("float64").sum(1, keepdims=True) * 0.25 + state.sum(1, keepdims=True) * 0.25 + 0.5
    )
    state = np.repeat(state, 2, 1)
print("expected by NumPy in float64:", state.tolist())
print("expected by eager:", net(paddle.to_tensor(x))[1].tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, None, 2], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
    config.switch_ir_optim(False)
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    actual = predictor.get_output_handle(predictor.get_output_names()[-1]).copy_to_cpu()
print("actual:", actual.tolist())
assert np.allclose(actual, state), "what the predictor computes is wrong"
