"""paddle.jit.to_static: `def scaled(x, times=TIMES)` is a NameError

tool: Paddle
shows: fails: TIMES
needs: paddlepaddle
cause: `ast_to_func` in python/paddle/jit/dy2static/utils.py runs the rewritten `def` in a module of its own, and
    gives it the globals of the old one afterwards. Defaults are computed when the `def` runs.

A function that is called by forward, and whose default names a constant of its module, cannot be exported.
"""

import tempfile

import numpy as np
import paddle

TIMES = 3


def scaled(x, times=TIMES):
    return x * times


class Net(paddle.nn.Layer):
    def forward(self, x):
        return scaled(x)


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") * 3
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
