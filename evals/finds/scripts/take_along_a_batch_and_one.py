"""paddle.take_along_axis of a dynamic batch and indices with a batch of 1: the saved program fails when it runs

tool: Paddle
shows: fails: non-singleton dimension
needs: paddlepaddle
cause: `infer_broadcast_shape` in python/paddle/tensor/manipulation.py takes the larger of -1 and 1, which is 1, as
    the size to broadcast to.

It works in eager mode, is traced and saved, and fails with any batch but 1.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.take_along_axis(x, paddle.to_tensor([[1, 0]]), 1) * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64")[:, ::-1] * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
