"""paddle.to_tensor: in a program a number of float64 is rounded to float32

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `_to_tensor_static` in python/paddle/tensor/creation.py casts the array to the default dtype first (`fix numpy
    default dtype`), and then to the dtype that was asked for.

`paddle.to_tensor(0.1, dtype="float64")` is 0.10000000149011612 in the saved program, so that all of a float64 program
is off by 1e-8, where eager mode is right to 1e-16. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x * paddle.to_tensor(0.1, dtype="float64")


x = np.array([[1.0, 2.0], [3.0, 4.0]], "float64")
expected = x * 0.1
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float64", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected, rtol=1e-12, atol=0), "the saved program is wrong"
