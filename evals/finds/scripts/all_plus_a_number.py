"""paddle.all(x) + 1.5: the saved program fails when it runs

tool: Paddle
shows: fails: does not match
needs: paddlepaddle
cause: `all` and `any` of what is not bool are declared with the operand's dtype in the program, and their kernels
    give bool. The kernel of what follows is chosen by the declared dtype.

It works in eager mode, is traced and saved, and fails in every run.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return (paddle.all(x, axis=-1) + 1.5) * 2.0


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = np.full([3], 5.0)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
