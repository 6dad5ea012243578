""".pdmodel: paddle.matmul and 55 other functions cannot be exported since 3.2

tool: Paddle
shows: fails: must be
needs: paddlepaddle
cause: `matmul` is one of 56 functions that 3.2 and 3.3 moved to C++ (python/paddle/_paddle_docs.py). Their C++ entry
    knows no legacy program.

`.pdmodel` is still documented and is what paddle2onnx, Paddle Lite and Paddle Serving read. (The list in
`_paddle_docs.py` has sigmoid, sum, exp, sqrt, argmax, tanh, gelu and others.)
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.one = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(1.0))

    def forward(self, x):
        return paddle.matmul(x, paddle.ones([2, 2]))


x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
expected = x.astype("float64") @ np.ones([2, 2])
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
