"""paddle.jit.to_static: in a loop that grows a tensor, its shape is that of the first turn

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `while_loop` (python/paddle/static/nn/control_flow.py) traces the body once, with the static shapes that the
    loop begins with, though a turn changes them: `seen.shape[1]` is then the number 1.

The usual decoding loop: `seen = paddle.concat([seen, next], 1)`. Whatever the body computes from `seen.shape[1]`,
such as a position, is right in the first turn only. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        seen = x[:, :1]
        i = paddle.zeros([1])
        while i < 3:
            seen = paddle.concat([seen, seen[:, -1:] * seen.shape[1]], 1)
            i = i + 1
        return seen


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x[:, :1].astype("float64") * [1, 1, 2, 6]
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
