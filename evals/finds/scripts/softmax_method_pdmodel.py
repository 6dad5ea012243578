""".pdmodel: x.softmax() is None

tool: Paddle
shows: fails: NoneType
needs: paddlepaddle
cause: Since 3.3 `Tensor.softmax` is python/paddle/tensor/compat_softmax.py, which has no branch for legacy programs
    and returns nothing.

Eager mode and `.json` are right.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.one = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(1.0))

    def forward(self, x):
        return x.softmax(-1) * 1.5


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = 1.5 * np.exp(x.astype("float64")) / np.exp(x.astype("float64")).sum(-1, keepdims=True)
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
