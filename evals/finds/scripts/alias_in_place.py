"""paddle.jit.to_static: an operator in place changes a tensor under one of its names only

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `add_` returns a new value in a program, and python/paddle/jit/dy2static/ follows it under the name that was
    used. Another name, a list or a dict still holds the old value.

`z = y; z.add_(x); return y` returns what `y` was before. Nothing is said. The check that refuses operators in place
on views does not know of another name.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x * 2
        parts = [y]
        y.add_(x)
        return parts[0] * 1.5


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
