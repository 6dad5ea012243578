"""paddle.einsum: shape[0] of a product of a dynamic batch and a batch of 1 is the number 1

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `EinsumInferMeta` in paddle/phi/infermeta/multiary.cc takes the size of a label from its last operand.

The saved program computes the product rightly, and `y.shape[0]` is 1 in whatever follows. Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = paddle.einsum("bij,bjk->bik", x, paddle.ones([1, 2, 2]))
        return y.sum(0) / y.shape[0]


x = np.arange(12, dtype="float32").reshape(3, 2, 2)
expected = (x.astype("float64") @ np.ones([1, 2, 2])).mean(0)
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(
        Net(), input_spec=[paddle.static.InputSpec([None, 2, 2], "float32", "x")], full_graph=True
    )
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
