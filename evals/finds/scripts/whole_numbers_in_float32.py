"""paddle.jit.save: an int64 tensor plus or times a whole number above 2**24 is off

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: python/paddle/pir/math_op_patch.py makes a `scale` of it, whose bias is a float32 attribute and whose factor a
    float32 tensor, whatever the dtype of the tensor is.

`x + 16777217` and `x * 16777217` of int64 are exact in eager mode. In the saved program 16777217 is 16777216. Ids
that are moved by an offset and hashes become other ids. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x * 2 + 16777217


x = np.array([[1, 2], [3, 4]], "int64")
expected = np.array([[int(value) * 2 + 16777217 for value in row] for row in x])
print("expected by Python's whole numbers:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "int64", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.array_equal(actual, expected), "the saved program is wrong"
