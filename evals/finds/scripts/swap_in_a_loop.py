""".pdmodel: of two values that trade places in a loop one is lost

tool: Paddle
shows: wrong
needs: paddlepaddle
cause: `while_loop` (python/paddle/static/nn/control_flow.py) assigns what a turn gives to the variables of the loop
    one after the other, so the second assignment reads what the first has written.

`low, high = high, low + 5`, as in Fibonacci numbers, momentum or a beam. Nothing is said. The `.json` of the same
network is right.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.one = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(1.0))

    def forward(self, x):
        low, high = x, x + 1
        i = paddle.zeros([1])
        while i < 3:
            low, high = high, low + 5
            i = i + 1
        return (low - 2 * high) * self.one


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = -x.astype("float64") - 14.0
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 2], "float32", "x")]
    with paddle.pir_utils.DygraphOldIrGuard():
        paddle.jit.save(paddle.jit.to_static(Net(), input_spec=spec, full_graph=True), folder + "/net")
    config = paddle.inference.Config(folder + "/net.pdmodel", folder + "/net.pdiparams")
    config.switch_ir_optim(False)
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    actual = predictor.get_output_handle(predictor.get_output_names()[-1]).copy_to_cpu()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "the saved program is wrong"
