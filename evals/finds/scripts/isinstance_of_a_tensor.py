"""paddle.jit.to_static: isinstance(x, paddle.Tensor) is False while a network is traced

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: A traced tensor is a `paddle.base.libpaddle.pir.Value`, which is not an instance of `paddle.Tensor`; dy2static
    does not convert `isinstance`.

The branch for what is no tensor is written into the saved program. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x * 2.5 if isinstance(x, paddle.Tensor) else x * 0.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") * 2.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
