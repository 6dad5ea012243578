"""paddle.jit.to_static: `condition and list.append(x)` appends whatever the condition is

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `convert_logical_and` in python/paddle/jit/dy2static/convert_operators.py calls the lambda of the right side
    while tracing, without the condition.

In eager mode nothing is appended where the mean is not above 9. In the saved program the list has an element. Nothing
is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        seen = []
        _ = x.mean() > 9 and seen.append(x)
        return x * (1.5 + len(seen))


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
