"""paddle.jit.to_static: row = y[0]; row[1] = 9 does not change y

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `__setitem__` on a value of a program makes a new value for `row` (python/paddle/base/variable_index.py). Eager
    mode's `row` is a view of `y`. Operators such as `add_` on a view are refused
    (python/paddle/utils/inplace_utils.py); `__setitem__` is not.

What is written into a view does not show in the tensor behind it. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x * 2
        row = y[0]
        row[1] = 9.0
        return y * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = np.array([[3.0, 13.5], [9.0, 12.0], [15.0, 18.0]])
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
