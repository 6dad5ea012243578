"""paddle.isin of a dynamic batch: math domain error while it is traced

tool: Paddle
shows: fails: math domain error
needs: paddlepaddle
cause: `isin` in python/paddle/tensor/math.py takes the number of elements to the power 0.145 to choose between two
    ways. With a dynamic dim that number is negative.

It works in eager mode and cannot be exported.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.isin(x, paddle.to_tensor([1.0, 4.0])).astype("float32")


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = np.isin(x, [1.0, 4.0]).astype("float64")
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
