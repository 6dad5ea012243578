"""paddle.jit.to_static: max(x.shape[0] - 2, 0) cannot be exported

tool: Paddle
shows: fails: bool(Tensor) is not supported
needs: paddlepaddle
cause: dy2static does not convert `max` and `min`, so Python compares and asks a value of the program for its truth.

Correct Python that works in eager mode cannot be exported.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x[max(x.shape[0] - 2, 0) :] * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64")[1:] * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
