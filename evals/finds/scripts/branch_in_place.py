"""paddle.jit.to_static: what a branch on a tensor changes in place is lost behind the branch

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: python/paddle/jit/dy2static/convert_operators.py gives a branch only the names that it assigns. What an
    operator such as `add_` changes there is not among what `cond` returns.

`y.add_(x)` within `if x.mean() > 0:` has no effect on `y` behind the branch. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x * 2
        if x.mean() > 0:
            y.add_(x)
        return y * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") * 3 * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
