"""paddle.jit.to_static: sum(row for row in x) of a dynamic batch never ends

tool: Paddle
shows: hangs
needs: paddlepaddle
cause: Python iterates over a value of the program, whose `__getitem__` takes any index: a dynamic dim ends no
    iteration (python/paddle/pir/math_op_patch.py has no `__iter__` that knows the length).

It works in eager mode. The trace never ends, and its memory grows. `list(x)`, `[*x]` and comprehensions over `x` do
the same.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return sum(row * 2 for row in x)


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64").sum(0) * 2
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
