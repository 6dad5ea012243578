"""paddle.jit.save: a float64 tensor times 0.1 is off by 1e-8

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: python/paddle/pir/math_op_patch.py makes a `scale` of it, whose factor is a float32 tensor and whose bias a
    float32 attribute, whatever the dtype of the tensor is.

Every number that stands beside a float64 tensor (`x * 0.1`, `x + 0.1`, `x / 3`) is rounded to float32 in the saved
program, which is off by 1e-8 where eager mode is right to 1e-16. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x * 0.1


x = np.array([[1.0, 2.0], [3.0, 4.0]], "float64")
expected = x * 0.1
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float64", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected, rtol=1e-12, atol=0), "the saved program is wrong"
