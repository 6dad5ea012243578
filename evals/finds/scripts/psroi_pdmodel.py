""".pdmodel: paddle.vision.ops.psroi_pool reads memory that is not there

tool: Paddle
shows: SIGSEGV
needs: paddlepaddle
cause: The legacy branch of `psroi_pool` (python/paddle/vision/ops.py) leaves `boxes_num` out of the operator's
    inputs.

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
        boxes = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]]).astype("float32") + x[:1, :1, 0, 0] * 0
        return paddle.vision.ops.psroi_pool(x, boxes, paddle.full([1], 1, "int32"), 2) * self.one


x = np.ones([1, 8, 4, 4], "float32")
expected = np.ones([1, 2, 2, 2])
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 8, 4, 4], "float32", "x")]
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
