"""paddle.jit.to_static: the else of a for or a while loop is dropped

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: python/paddle/jit/dy2static/transformers/loop_transformer.py builds the loop of `node.body` and never reads
    `node.orelse`.

`for ... else:` runs the `else` where no `break` has left the loop. In the saved program it never runs. Nothing is
said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        for _ in range(3):
            x = x + 1
        else:
            x = x * 5
        return x * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = (x.astype("float64") + 3) * 5 * 1.5
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
