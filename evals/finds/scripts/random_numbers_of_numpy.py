"""paddle.jit.to_static: np.random.default_rng(7).standard_normal(2) in forward waits for ever

tool: Paddle
shows: hangs
needs: paddlepaddle
cause: `is_api_in_module` in python/paddle/jit/dy2static/transformers/utils.py looks up a method of what a call
    returns by running the call, while the lock of the conversion is held; the conversion of the call then takes that
    lock a second time.

A table of fixed random numbers, made in forward. It works in eager mode. The trace never ends, and uses no processor
time.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        return x + paddle.to_tensor(np.random.default_rng(7).standard_normal(2).astype("float32"))


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") + np.random.default_rng(7).standard_normal(2)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
