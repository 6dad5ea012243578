"""paddle.jit.save: a tensor that is returned twice is one output

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `_get_output_vars` in python/paddle/jit/api.py appends an output only if it is not in `ValueSet(result_list)`
    already.

`return y, y`, as in a network whose last feature map is also the first of a list. Whoever reads outputs by their
place reads another one. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x * 2
        return y, y, x * 3


net = Net()
x = np.array([[1.0, 2.0]], "float32")
expected = [(x.astype("float64") * factor).tolist() for factor in (2, 2, 3)]
print("expected by NumPy in float64:", expected)
print("expected by eager:", [output.tolist() for output in net(paddle.to_tensor(x))])
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 2], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    actual = [output.tolist() for output in paddle.jit.load(folder + "/net")(paddle.to_tensor(x))]
print("actual:", actual)
assert actual == expected, "the saved program is wrong"
