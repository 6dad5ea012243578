"""paddle.jit.save: a network that ends in `return x + 1` returns x

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `normalize_pir_program` in python/paddle/static/pir_io.py takes any `scale` by 1 for a copy that was put before
    a fetch, and fetches its operand if that has a name. `x + 1` is a `scale` by 1 too, with a bias of 1.

An output that is an input or a parameter plus a number is saved as the input or the parameter itself. Nothing is said
while it is saved, loaded or run. `to_static` without saving is right.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x + 1


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") + 1
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
