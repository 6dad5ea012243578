"""paddle.jit.to_static: what a loop on a tensor changes in place is lost

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: python/paddle/jit/dy2static/transformers/loop_transformer.py carries only the names that the body assigns;
    `while_loop` (python/paddle/static/nn/control_flow.py) knows nothing of a value that an operator in place has
    replaced.

`y.add_(...)` within `while i < 3:` has no effect: neither in the next turn nor behind the loop. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x * 2
        i = paddle.zeros([1])
        while i < 3:
            y.add_(x)
            i = i + 1
        return y * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") * 5 * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
