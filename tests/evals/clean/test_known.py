"""Each defect of :mod:`evals.clean.known`, in a file of one operator, in no gate."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import paddle
import pytest
from onnx import TensorProto, helper, numpy_helper

from evals.clean.known import DEFECTS
from evals.clean.networks import NETWORKS
from exporter.base.numbers.norms import error
from tests.command import ROOT

ROWS, STEPS, WIDTH, HIDDEN = 3, 5, 4, 3


def _file(operator: str, gates: int) -> bytes:
    draw = np.random.default_rng(0)
    shapes = {"W": (1, gates * HIDDEN, WIDTH), "R": (1, gates * HIDDEN, HIDDEN)}
    weights = [numpy_helper.from_array(draw.standard_normal(s).astype("float32"), n) for n, s in shapes.items()]
    node = helper.make_node(operator, ["x", "W", "R", "", "lengths"], ["y"], hidden_size=HIDDEN)
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["steps", "rows", WIDTH]),
        helper.make_tensor_value_info("lengths", TensorProto.INT32, ["rows"]),
    ]
    graph = helper.make_graph(
        [node],
        "g",
        inputs,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["steps", 1, "rows", HIDDEN])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


@pytest.mark.parametrize(("operator", "gates"), [("GRU", 3), ("LSTM", 4), ("RNN", 1)])
def test_openvino_ignores_lengths(operator: str, gates: int) -> None:
    """After a row's end the standard wants zeros: ONNX Runtime gives them, OpenVINO does not.

    Should this fail, OpenVINO is mended: take the defect out of the list.
    """
    onnxruntime, openvino = pytest.importorskip("onnxruntime"), pytest.importorskip("openvino")
    content = _file(operator, gates)
    x = np.random.default_rng(1).standard_normal((STEPS, ROWS, WIDTH)).astype("float32")
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(content), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for lengths, differs in (([5, 5, 5], False), ([2, 3, 5], True)):
        inputs = {"x": x, "lengths": np.array(lengths, "int32")}
        right, seen = session.run(None, inputs)[0], compiled(inputs)[0]
        after = np.arange(STEPS)[:, None] >= np.array(lengths)
        assert not right[:, 0][after].any(), "zeros after the end of a row"
        assert (np.abs(right - seen).max() > 0.01) == differs


class Soft(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        return paddle.nn.functional.softplus(x)


def test_the_soft_relu_of_onednn_and_openvino_is_rough_far_below_zero(tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino")
    x = np.linspace(-16, -8, 64, dtype="float32").reshape(4, 16)
    truth = np.log1p(np.exp(x.astype("float64")))
    eager = error(truth, Soft()(paddle.to_tensor(x)).numpy())
    assert error(truth, _onednn(Soft(), x, tmp_path))[0] > 8 * eager[0]
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 16]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Softplus", ["x"], ["y"])], "g", tensors[:1], tensors[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    core = openvino.Core()
    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", settings)
    assert error(truth, compiled({"x": x})[0])[0] > 8 * eager[0]


class Doubled(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        return paddle.nn.functional.interpolate(x, scale_factor=2, mode="nearest")


def test_onednn_refuses_to_interpolate_by_a_factor(tmp_path: Path) -> None:
    x = np.ones((1, 3, 4, 4), "float32")
    with pytest.raises(NotImplementedError, match="DoubleAttribute"):
        _onednn(Doubled(), x, tmp_path)


def _convolve(place: str, slope: str) -> None:
    """The child of the next test."""
    act = paddle.nn.LeakyReLU(float(slope)) if slope else paddle.nn.ReLU()
    layer = paddle.nn.Sequential(paddle.nn.Conv2D(3, 3, 3), act)
    layer.eval()
    _onednn(layer, np.ones((1, 3, 6, 6), "float32"), Path(place))


@pytest.mark.parametrize(("slope", "code"), [("", 0), ("0.01", -11)])
def test_the_default_predictor_dies_of_a_leaky_relu(tmp_path: Path, slope: str, code: int) -> None:
    call = f"from tests.evals.clean.test_known import _convolve; _convolve({str(tmp_path)!r}, {slope!r})"
    done = subprocess.run([sys.executable, "-c", call], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == code, done.stderr.decode()[-2000:]


def test_every_defect_is_of_a_network_that_is_checked() -> None:
    assert {network for network, _ in DEFECTS} <= set(NETWORKS)


def _onednn(layer: Any, x: Any, place: Path) -> Any:
    """What the predictor at its default computes, with oneDNN."""
    from paddle import inference

    spec = [paddle.static.InputSpec([None, *x.shape[1:]], "float32", "x")]
    traced = paddle.jit.to_static(layer, input_spec=spec, full_graph=True, backend=None)
    paddle.jit.save(traced, str(place / "model"))
    config = inference.Config(str(place / "model.json"), str(place / "model.pdiparams"))
    config.disable_gpu()
    config.disable_glog_info()
    config.enable_mkldnn()
    predictor = inference.create_predictor(config)
    predictor.get_input_handle("x").copy_from_cpu(x)
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


def test_onednn_s_log_softmax_errs_ten_times_as_much_as_eager(tmp_path: Path) -> None:
    layer = paddle.nn.Sequential(paddle.nn.LogSoftmax(-1))
    x = np.random.default_rng(0).standard_normal((64, 16)).astype("float32")
    wide = x.astype("float64")
    truth = wide - np.log(np.exp(wide).sum(-1, keepdims=True))
    eager = error(truth, layer(paddle.to_tensor(x)).numpy())
    onednn = error(truth, _onednn(layer, x, tmp_path))
    assert eager[1] < 2.0**-24 and onednn[1] > 8 * eager[1]


def test_onednn_refuses_a_layer_norm_over_several_axes(tmp_path: Path) -> None:
    layer = paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3, padding=1), paddle.nn.LayerNorm([8, 6, 6]))
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 6)).astype("float32")
    with pytest.raises(ValueError, match="supports only last logical axis"):
        _onednn(layer, x, tmp_path)


SIZES = """
import sys, numpy, paddle
from paddle import inference
from paddle.vision.models import shufflenet_v2_x0_25
layer, prefix = shufflenet_v2_x0_25(num_classes=10), sys.argv[1] + "/model"
layer.eval()
spec = [paddle.static.InputSpec([None, 3, 64, 64], "float32", "x")]
paddle.jit.save(paddle.jit.to_static(layer, input_spec=spec, full_graph=True), prefix)
predictor = inference.create_predictor(inference.Config(prefix + ".json", prefix + ".pdiparams"))
for rows in (1, 2):
    predictor.get_input_handle("x").copy_from_cpu(numpy.ones((rows, 3, 64, 64), "float32"))
    predictor.run()
    print("rows", rows)
"""


def test_onednn_refuses_a_second_batch_size_of_shufflenet_where_it_has_no_avx2(tmp_path: Path) -> None:
    """No operator and no block of it does so by itself."""
    ran = {}
    for level in ("AVX", "AVX2"):
        command = [sys.executable, "-c", SIZES, str(tmp_path)]
        environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": level}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        ran[level] = [line for line in done.stdout.splitlines() if line.startswith("rows")]
    assert ran == {"AVX": ["rows 1"], "AVX2": ["rows 1", "rows 2"]}
