"""paddle.transpose by fewer axes than there are: eager keeps the rest, a saved program fails when it runs

tool: Paddle
shows: fails: Input dimension size should be equal
needs: paddlepaddle
cause: Eager mode keeps the axes that are not named behind; the shape inference of the executor demands as many axes
    as the tensor has, and tracing demands nothing.

`x.transpose([1, 0])` of three axes works in eager mode, is traced and saved, and fails in every run.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x.transpose([1, 0]) * 1.5


x = np.arange(12, dtype="float32").reshape(2, 3, 2)
expected = x.astype("float64").transpose(1, 0, 2) * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(
        Net(), input_spec=[paddle.static.InputSpec([None, 3, 2], "float32", "x")], full_graph=True
    )
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
