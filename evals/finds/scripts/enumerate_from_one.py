"""paddle.jit.to_static: enumerate(x, start=1) is a TypeError

tool: Paddle
shows: fails: unexpected keyword argument 'start'
needs: paddlepaddle
cause: `convert_enumerate(*args)` in python/paddle/jit/dy2static/convert_operators.py takes no arguments by name, and
    is put in place of every `enumerate`.

Correct Python that works in eager mode cannot be exported. `zip(a, b, strict=True)` fails alike in
`convert_zip(*args)`.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        total = x * 0
        for number, column in enumerate(x.unbind(1), start=1):
            total = total + column.unsqueeze(1) * number
        return total


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") @ [[1.0, 1.0], [2.0, 2.0]]
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
