"""paddle.jit.load: a .pdiparams that was cut short is loaded without a word

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: The reader of combined parameters does not ask whether the stream held as many bytes as a tensor needs. Not
    traced further.

A download or a copy that was cut short. The network runs with other weights.
"""

import tempfile
from pathlib import Path

import numpy as np
import paddle

net = paddle.nn.Linear(64, 1, weight_attr=paddle.nn.initializer.Constant(1.0))
x = np.ones([1, 64], "float32")
expected = x.astype("float64").sum(1, keepdims=True)
print("expected by NumPy in float64, or an error:", expected.tolist())
print("expected by eager, or an error:", net(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 64], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(net, input_spec=spec, full_graph=True), folder + "/net")
    weights = Path(folder, "net.pdiparams")
    weights.write_bytes(weights.read_bytes()[:-100])
    try:
        actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).tolist()
    except (OSError, RuntimeError, ValueError) as error:
        actual = type(error).__name__
print("actual:", actual)
assert isinstance(actual, str), "a file without its end was loaded: wrong"
