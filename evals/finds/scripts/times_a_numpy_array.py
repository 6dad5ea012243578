"""paddle.jit.to_static: x * np.array(...) ends the process (SIGSEGV)

tool: Paddle
shows: SIGSEGV
needs: paddlepaddle
cause: NumPy's array takes `array * value` over, and asks the traced value for its elements. Not traced further in
    paddle/fluid/pybind/.

It works in eager mode. While it is traced the process ends by SIGSEGV, without an exception.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x * np.array([1.0, 2.0], "float32")


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") * [1.0, 2.0]
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
