"""paddle.jit.to_static: a set comprehension before a loop over the same name is a SyntaxError

tool: Paddle
shows: fails: no binding for nonlocal 'number'
needs: paddlepaddle
cause: `FunctionNameLivenessAnalysis` in python/paddle/jit/dy2static/transformers/utils.py knows the scope of list and
    dict comprehensions (`visit_ListComp`), and neither of sets nor of generators. It then declares the variable
    `nonlocal` where it has no binding.

Correct Python that works in eager mode cannot be exported.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        skipped = {number for number in (1.0, 2.0)}
        for number in (1.0, 3.0):
            if number not in skipped:
                x = x * number
        return x


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") * 3
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec([None, 2], "float32", "x")], full_graph=True)
    paddle.jit.save(net, folder + "/net")
    actual = paddle.jit.load(folder + "/net")(paddle.to_tensor(x)).numpy()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
