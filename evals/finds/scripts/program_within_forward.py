"""paddle.static.program_guard within forward: the trace ends in SIGSEGV

tool: Paddle
shows: SIGSEGV
needs: paddlepaddle
cause: What is computed inside belongs to the other program, whose values the traced program then uses.

Eager mode computes inside as outside. While it is traced the process ends by SIGSEGV, without an exception.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            y = paddle.equal(x, paddle.zeros_like(x))
        return y.astype("float32") + x * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
