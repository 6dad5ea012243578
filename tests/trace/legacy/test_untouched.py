"""Programs that go to paddle2onnx as they are: just those that the rewrites would leave as they are."""

import json
from pathlib import Path

import paddle
import pytest
from paddle.nn import functional as F
from paddle.static import InputSpec

from exporter.trace.legacy.onnx.untouched import untouched
from exporter.workers import call


class Joined(paddle.nn.Layer):
    """Lists of tensors, numbers and a dropout: what stands between convolutions."""

    def __init__(self):
        super().__init__()
        self.features = paddle.nn.Sequential(
            paddle.nn.Conv2D(3, 8, 3, padding=1), paddle.nn.BatchNorm2D(8), paddle.nn.ReLU6()
        )

    def forward(self, x):
        left, right = paddle.split(self.features(x), 2, axis=1)
        pooled = F.adaptive_avg_pool2d(paddle.concat([right, left * right], axis=1), 1)
        return F.dropout(F.softmax(pooled.flatten(1)), 0.5, training=False)


class Plain(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm = paddle.nn.BatchNorm2D(3, data_format="NHWC")
        self.conv = paddle.nn.Conv2D(3, 4, 1, data_format="NHWC")


class NormLast(Plain):
    def forward(self, x):
        return self.norm(x)


class ConvLast(Plain):
    def forward(self, x):
        return self.conv(x)


class Averaged(paddle.nn.Layer):
    def forward(self, x):
        return F.adaptive_avg_pool2d(x, 2)


class Total(paddle.nn.Layer):
    def forward(self, x):
        return F.relu(x).sum()


class Narrow(paddle.nn.Layer):
    def forward(self, x):
        return paddle.multiply(x.astype("int8"), x.astype("int8")).astype("float32")


class Endless(paddle.nn.Layer):
    def forward(self, x):
        return paddle.add(x, paddle.full([1], float("inf")))


class Large(paddle.nn.Layer):
    def forward(self, x):
        return paddle.add(x.astype("int64"), paddle.full([1], 16777217, "int64"))


class Counting(paddle.nn.Layer):
    def forward(self, x):
        while x.sum() < 10:
            x = paddle.add(x, x)
        return x


class Foreign(paddle.nn.Layer):
    """dy2static keeps what it made of a text: two forwards of one text would be told at one line."""

    def forward(self, given):
        return paddle.erfinv(given)


def _program(layer, shape, tmp_path):
    layer.eval()
    static = paddle.jit.to_static(layer, input_spec=[InputSpec(shape, "float32")], full_graph=True)
    paddle.jit.save(static, str(tmp_path / "model"))
    return (tmp_path / "model.json").read_bytes()


@pytest.mark.parametrize("kind", [NormLast, ConvLast, Averaged, Total, Narrow, Endless, Large, Counting, Foreign])
def test_what_a_rewrite_may_change_is_traced_anew(kind, tmp_path):
    assert not untouched(_program(kind(), [None, 5, 5, 3] if issubclass(kind, Plain) else [None, 3, 5, 5], tmp_path))


def test_what_stands_in_a_region_is_traced_anew(tmp_path):
    program = json.loads(_program(Joined(), [None, 3, 8, 8], tmp_path))
    block = program["program"]["regions"][0]["blocks"][0]
    block["ops"][-1]["regions"] = [{"blocks": [{"args": [], "ops": []}]}]
    assert not untouched(json.dumps(program).encode())


def _files(model, inputs, place):
    """The ONNX file from the PIR file, and that of the layer traced anew; the first is None where no file will do."""
    request = {
        "model": model, "checkpoint": None, "seed": 0, "inputs": [inputs], "outputs": None, "fixed": {},
        "opset": None, "writer": "paddle2onnx", "held": [], "target": None, "source": None,
    }  # fmt: skip
    made = {}
    for name, format, source in (("pir", "pir", None), ("taken", "onnx", str(place / "pir")), ("anew", "onnx", None)):
        (place / name).mkdir()
        asked = {**request, "format": format, "into": str(place / name), "source": source}
        asked["outputs"] = ["output_0"] if source else None
        made[name] = call("exporter.lower._child:export", asked)["artifact"]["details"]
    taken = not made["taken"]["traced_anew"]
    return (place / "taken/model.onnx").read_bytes() if taken else None, (place / "anew/model.onnx").read_bytes()


def _same(model, size, tmp_path, name="x"):
    shape = ["batch", 3, size, size]
    taken, anew = _files(model, {"name": name, "dtype": "float32", "shape": shape}, tmp_path)
    assert taken is not None, "the file of PIR will do for it"
    assert taken == anew


@pytest.mark.parametrize("model", [f"{__name__}:Joined", "paddle.vision.models:squeezenet1_1"])
def test_the_file_is_the_one_of_the_layer_traced_anew(model, tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    _same(model, 64, tmp_path, "inputs" if "squeezenet" in model else "x")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "name"),
    [
        ("resnet18", "x"),
        ("resnext50_32x4d", "x"),
        ("mobilenet_v1", "x"),
        ("mobilenet_v2", "x"),
        ("mobilenet_v3_small", "x"),
        ("shufflenet_v2_swish", "inputs"),
        ("alexnet", "inputs"),
    ],
)
def test_the_file_of_each_kind_of_network(network, name, tmp_path):
    _same(f"paddle.vision.models:{network}", 224, tmp_path, name)
