"""Layers with constants behind them, as ONNX: a file that computes both at once is right, whatever the ratio is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import paddle
import pytest
from onnx import numpy_helper
from paddle import nn

from exporter.base.references import factory_text
from exporter.base.tensors import TensorMap, TensorSpec, load, save_scratch
from exporter.engines.base import Runnable, SourceModel
from exporter.engines.kinds.onnxruntime import plugin as onnxruntime
from exporter.export.lower.base import Wish
from exporter.export.lower.child import Destination, ExportTracedRequest, LayerSource, export_traced
from exporter.prove.root_cause.align import FreshProgram, Observed, Place
from exporter.prove.root_cause.child import ObserveRequest, TraceRequest, observe, trace_anew
from exporter.prove.root_cause.constants import scaled_error
from exporter.prove.root_cause.locate import locate_inside
from exporter.prove.root_cause.program import tap_of
from exporter.prove.root_cause.witness import Witness

#: What a model's own code does behind a layer; the second argument is a buffer with a number for each channel.
BEHIND: Mapping[str, Callable[[paddle.Tensor, paddle.Tensor], paddle.Tensor]] = {
    "plus": lambda x, c: x + 2.0,
    "minus": lambda x, c: x - 0.5,
    "from": lambda x, c: 3.0 - x,
    "times": lambda x, c: x * 0.3,
    "over": lambda x, c: x / 7.0,
    "negative": lambda x, c: -x,
    "plus_channels": lambda x, c: x + c,
    "times_channels": lambda x, c: c * x,
    "over_channels": lambda x, c: x / c,
    "plus_times": lambda x, c: (x + 2.0) * 0.5,
    "scale": lambda x, c: paddle.scale(x, 2.0, 1.0, bias_after_scale=False),
    "plus_relu": lambda x, c: nn.functional.relu(x + 2.0),
    "times_sigmoid": lambda x, c: nn.functional.sigmoid(x * 0.5),
    "turned_plus": lambda x, c: x.flatten(1) + 1.0,
    "square": lambda x, c: x * x,
    "power": lambda x, c: x**2,
}
LAYERS: Mapping[str, tuple[tuple[int, ...], Callable[[], nn.Layer]]] = {
    "conv1d": ((3, 10), lambda: nn.Conv1D(3, 4, 3)),
    "conv2d": ((3, 6, 6), lambda: nn.Conv2D(3, 4, 3, padding=1)),
    "conv2d_without_bias": ((3, 6, 6), lambda: nn.Conv2D(3, 4, 3, bias_attr=False)),
    "conv2d_groups": ((4, 6, 6), lambda: nn.Conv2D(4, 4, 3, groups=2)),
    "deconvolution": ((3, 5, 5), lambda: nn.Conv2DTranspose(3, 4, 2, stride=2)),
    "deconvolution_groups": ((4, 5, 5), lambda: nn.Conv2DTranspose(4, 4, 2, stride=2, groups=2)),
    "linear": ((4, 5), lambda: nn.Linear(5, 6)),
    "conv_norm": ((3, 6, 6), lambda: nn.Sequential(nn.Conv2D(3, 4, 3), _trained(nn.BatchNorm2D(4)))),
    "layer_norm": ((4, 6), lambda: nn.LayerNorm(6)),
    "group_norm": ((4, 6, 6), lambda: nn.GroupNorm(2, 4)),
    "prelu": ((4, 6, 6), lambda: nn.PReLU(4)),
}


def _trained(norm: nn.Layer) -> nn.Layer:
    for name, value in (("_mean", (-0.4, 0.7)), ("_variance", (0.4, 2.0)), ("weight", (0.5, 1.5)), ("bias", (-1, 1))):
        tensor = getattr(norm, name)
        tensor.set_value(paddle.uniform(tensor.shape, min=value[0], max=value[1]))
    return norm


class Sweep(nn.Layer):  # type: ignore[misc]
    """The layer anew for each piece of code behind it; each is an output."""

    def __init__(self, layer: str) -> None:
        super().__init__()
        paddle.seed(5)
        shape, make = LAYERS[layer]
        self.eval()
        for name in BEHIND:
            self.add_sublayer(name, make())
            self[name].eval()
            given = paddle.randn([1, *shape])
            channels = self[name](given).shape[1]
            rank = len(self[name](given).shape)
            self.register_buffer(f"c_{name}", paddle.uniform([1, channels] + [1] * (rank - 2), min=0.5, max=2.0))

    def __getitem__(self, name: str) -> nn.Layer:
        return self._sub_layers[name]

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return tuple(behind(self[name](x), getattr(self, f"c_{name}")) for name, behind in BEHIND.items())


def make(layer: str) -> Sweep:
    return Sweep(layer)


def _written(layer: str, folder: Path) -> tuple[Runnable, SourceModel]:
    """The sweep's ONNX, and how its layer is built anew."""
    model = factory_text("tests.prove.root_cause.test_constants:make", {"layer": layer})
    inputs = (TensorSpec("x", "float32", ("n", *LAYERS[layer][0])),)
    outputs = tuple(BEHIND)
    source = LayerSource(model, None, 5, outputs, {})
    into = folder / "onnx"
    into.mkdir()
    request = ExportTracedRequest("onnx", (Destination("onnx", into),), source, Wish(None, None, inputs))
    written = export_traced(request).written["onnx"].artifact
    runnable = Runnable("onnx", into, Path(written.main).name, ("x",), written.native_outputs)
    return runnable, SourceModel(model, None, 5, inputs, outputs, {})


def _inside(artifact: Runnable, folder: Path, inputs: TensorMap) -> TensorMap:
    folder.mkdir()
    names = tap_of("onnx")(artifact.path.parent, folder)
    tapped = Runnable("onnx", folder, artifact.model, artifact.inputs, names)
    with onnxruntime.open(tapped, "cpu") as session:
        return session.run(inputs)


@pytest.fixture(params=LAYERS)
def swept(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Runnable, Witness, TensorMap]:
    """The ONNX file, what the layer computes sublayer by sublayer, and the inputs."""
    artifact, source = _written(request.param, tmp_path)
    shape = (2, *LAYERS[request.param][0])
    inputs = {"x": np.random.default_rng(3).standard_normal(shape).astype("float32")}
    golden, into = tmp_path / "golden.safetensors", tmp_path / "observed"
    save_scratch(golden, {f"case/input/{name}": value for name, value in inputs.items()})
    into.mkdir()
    request = ObserveRequest(source, golden, "case", into)
    trace = observe(request)
    answer = trace_anew(TraceRequest(request, trace))
    assert not answer.why_not
    program = FreshProgram(load(into / "fresh.safetensors"), derived=answer.derived)
    return artifact, Witness(Observed(trace, load(into / "values.safetensors")), lambda: program), inputs


def test_a_right_file_is_right_inside(swept: tuple[Runnable, Witness, TensorMap], tmp_path: Path) -> None:
    artifact, witness, inputs = swept
    place = locate_inside(witness, _inside(artifact, tmp_path / "tapped", inputs), 4.0)
    assert _told(witness, place) == ""
    model = onnx.load(artifact.path)
    for number, weight in enumerate(_weights(model)):
        faulty = Runnable("onnx", tmp_path / f"faulty{number}", artifact.model, artifact.inputs, artifact.outputs)
        faulty.folder.mkdir()
        with _off_by_a_thousandth(weight):
            onnx.save(model, faulty.path)
        place = locate_inside(witness, _inside(faulty, faulty.folder / "tapped", inputs), 4.0)
        assert _told(witness, place), f"{weight.name} is off, wherever a constant was computed together with it"


def _weights(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    """What layers multiply by; constants of the model's own code are no sublayer's."""
    products = [node for node in model.graph.node if node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul")]
    read = {name for node in products for name in node.input[1:2]}
    return [one for one in model.graph.initializer if one.name in read]


@contextlib.contextmanager
def _off_by_a_thousandth(weight: onnx.TensorProto) -> Iterator[None]:
    kept, value = weight.SerializeToString(), numpy_helper.to_array(weight).copy()
    value.flat[np.abs(value).argmax()] *= 1.001
    weight.CopyFrom(numpy_helper.from_array(value, weight.name))
    yield
    weight.ParseFromString(kept)


def _told(witness: Witness, place: Place | None) -> str:
    return "" if place is None else f"{witness.observed.calls[place.call].path}: {place.error_ratio:.3g}"


def test_an_error_is_scaled_as_the_values_are() -> None:
    before = np.random.default_rng(0).standard_normal((2, 3, 4))
    shift = np.array([10.0, -20.0, 30.0]).reshape(1, 3, 1)
    after = 0.5 * before + shift
    by_max, _ = scaled_error(before, after, (1e-6, 1e-6))
    assert by_max * np.abs(after).max() == pytest.approx(0.5e-6 * np.abs(before).max())
    assert scaled_error(before, before.reshape(6, 4), (1e-6, 2e-6)) == pytest.approx((1e-6, 2e-6))
