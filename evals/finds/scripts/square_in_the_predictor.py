"""Paddle Inference with oneDNN: y + y.square() is twice the square

tool: Paddle Inference
shows: wrong
needs: paddlepaddle
cause: `inplace_pass` lets the square be written over y, which is still to be read. Without that pass, or without
    oneDNN, it is right. `switch_ir_optim(False)` does not switch the pass off.

`square` and `pow` of a value that something else reads, too: every RMS norm and layer norm that is written out, such
as that between the stages of ConvNeXt, which is over 100 % wrong by this. Inputs are not overwritten, values are.
Nothing is said.
"""

import tempfile

import numpy as np
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x * 2
        return y + y.square()


def run(*without):
    config = paddle.inference.Config(folder + "/net.json", folder + "/net.pdiparams")
    config.enable_mkldnn()
    for name in without:
        config.delete_pass(name)
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


x = np.array([[1.0, 2.0, 3.0]], "float32")
expected = 2 * x.astype("float64") + (2 * x.astype("float64")) ** 2
print("expected by NumPy in float64:", expected.tolist())
print("expected by eager:", Net()(paddle.to_tensor(x)).tolist())
with tempfile.TemporaryDirectory() as folder:
    spec = [paddle.static.InputSpec([None, 3], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(Net(), input_spec=spec, full_graph=True), folder + "/net")
    print("expected by the predictor without inplace_pass:", run("inplace_pass").tolist())
    actual = run()
print("actual:", actual.tolist())
assert np.allclose(actual, expected), "what the predictor computes is wrong"
