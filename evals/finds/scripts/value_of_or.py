"""paddle.jit.to_static: `a or b` of tensors is True or False in place of one of them

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `convert_logical_or` in python/paddle/jit/dy2static/convert_operators.py makes a `logical_or` of two tensors;
    Python gives the first whose truth is True.

`y = x.sum() or x` is `x.sum()` in eager mode. In the saved program it is True or False for each element of `x`.
Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x.sum() or x
        return y * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64").sum() * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert actual.shape == expected.shape and np.allclose(actual, expected), "the saved program is wrong"
