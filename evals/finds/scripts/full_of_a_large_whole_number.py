"""paddle.full: in a program an int64 above 2**53 is off

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: The `value` of `pd_op.full` and `pd_op.full_int_array` is held as float64 (python/paddle/tensor/creation.py,
    `full`), where eager mode keeps the int64.

`paddle.full([2], 9007199254740993, "int64")` is 9007199254740992 in the saved program. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return paddle.full([2], 9007199254740993, "int64") + x


x = np.array([[0, 0], [1, 1]], "int64")
expected = np.array([[9007199254740993 + int(value) for value in row] for row in x])
print("expected by Python's whole numbers:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "int64", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.array_equal(actual, expected), "the saved program is wrong"
