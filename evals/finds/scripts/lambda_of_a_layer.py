"""paddle.jit.to_static: in a lambda that is an attribute, x.shape[0] of a dynamic batch is -1

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `convert_call` in python/paddle/jit/dy2static/convert_call_func.py does not convert a lambda, so `x.shape` is
    not replaced by the shape that the program computes.

`self.mean = lambda t: t.sum(0) / t.shape[0]` gives the negative of the sum in place of the mean. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.mean = lambda t: t.sum(0) / t.shape[0]

    def forward(self, x):
        return self.mean(x)


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64").mean(0)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
