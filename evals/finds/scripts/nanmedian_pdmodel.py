""".pdmodel: paddle.nanmedian ends the process that runs it

tool: Paddle
shows: SIGSEGV
needs: paddlepaddle
cause: The saved program has lost the operator's second output, `MedianIndex` (python/paddle/tensor/stat.py), into
    which the kernel writes.

It works in eager mode, is traced and saved, and ends the process in the first run.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.one = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(1.0))

    def forward(self, x):
        return paddle.nanmedian(x, axis=1) - 1.5 * self.one


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = np.median(x.astype("float64"), 1) - 1.5
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
