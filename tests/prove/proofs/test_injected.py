from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from exporter.base.tensors import Array, save
from exporter.engines.cost import beyond
from exporter.export.lower.base import Artifact
from exporter.export.lower.precision.int8_onnx import run
from exporter.export.lower.precision.kinds.int8 import plugin as int8
from exporter.process.workers import Limits, Setting
from exporter.prove.judge.judge import harness_of
from exporter.prove.proofs.quantisation import injected
from exporter.prove.proofs.quantisation.injected import Sources, sources_of_noise
from exporter.prove.proofs.quantisation.noise import _CUT_OFF, Suffering
from tests.export.lower.passes.models import constant, made, model
from tests.export.lower.precision.test_int8 import FIRST, SECOND, order
from tests.export.lower.precision.test_int8 import artifact as stored
from tests.prove.proofs.subjects import subject


def spread() -> bytes:
    """Two linear layers, and between them values beside others that are a thousand times as large."""
    nodes = [
        constant("one.w_0", FIRST),
        constant("many", 1000),
        constant("two.w_0", np.concatenate([SECOND, np.zeros_like(SECOND)])),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Mul", ["hidden", "many"], ["large"]),
        helper.make_node("Concat", ["hidden", "large"], ["both"], axis=1),
        helper.make_node("MatMul", ["both", "two.w_0"], ["y"]),
    ]
    return made(model(nodes, {"x": [None, 16]})).content


def test_noise_is_blamed_on_what_gives_it_and_not_on_the_layer_behind(tmp_path: Path) -> None:
    nameless = onnx.ModelProto.FromString(spread())  # as other converters may leave the nodes
    for node in nameless.graph.node:
        node.ClearField("name")
    details = dict(int8.write(order(tmp_path, nameless.SerializeToString())))
    inputs = np.random.default_rng(5).standard_normal((8, 16)).astype("float32")
    save(tmp_path / "golden.safetensors", {"batch=4/input/x": inputs})
    plain, low = stored(tmp_path, "onnx", {}), stored(tmp_path, "onnx-int8", details)
    heard: list[str] = []
    hearing = Setting(on_event=lambda event: heard.append(event["doing"]))
    sources = sources_of_noise(subject(plain, low, folder=tmp_path).bench(), low, hearing)
    assert "rounding the weights of one alone" in heard
    assert {"the weights of one", "the weights of two", "the input x"} < set(sources.ratios["y"])
    assert sources.worst("y").startswith(
        "most of the noise arises in what Concat.2 gives: this alone, rounded, leaves "
    )
    alone = subject(low, folder=tmp_path).bench()
    assert sources_of_noise(alone, low, Setting()) == Sources(), "there is no float32 to put a rounding into"
    assert sources.worst("another") == ""


RNG = np.random.default_rng(3)
STORED = {
    "one.w_0": RNG.standard_normal((3, 4)).astype("float32"),
    "two.w_0": RNG.standard_normal((4, 2)).astype("float32"),
    "shift": RNG.standard_normal(4).astype("float32"),
}
LOW = {
    "one.codes": RNG.integers(-127, 128, (3, 4)).astype("int8"),
    "one.steps": RNG.uniform(0.01, 0.02, 4).astype("float32"),
    "one.zeros": np.zeros(4, "int8"),
    "shift.codes": RNG.integers(-127, 128, 4).astype("int8"),
    "step": np.float32(0.03),
    "zero": np.int8(0),
    "coarse": np.float32(0.25),
    "middle": np.uint8(100),
    "two.half": RNG.standard_normal((4, 2)).astype("float16"),
    "factor": np.float32(2),
}


def graph(nodes: list[onnx.NodeProto], stored: dict[str, Array]) -> onnx.ModelProto:
    proto = onnx.ModelProto.FromString(model(nodes, {"x": [None, 3]}, ["y", "square"]))
    for output, size in zip(proto.graph.output, (2, 4), strict=True):
        output.CopyFrom(helper.make_tensor_value_info(output.name, TensorProto.FLOAT, [None, size]))
    proto.graph.initializer.extend(numpy_helper.from_array(np.asarray(value), name) for name, value in stored.items())
    return proto


def net(x: str, one: str, h: str, shift: str, r: str, two: str) -> list[onnx.NodeProto]:
    """Two layers with an addition between them, whose result another node takes twice."""
    return [
        helper.make_node("MatMul", [x, one], ["h"], "mm"),
        helper.make_node("Add", [h, shift], ["r"], "add"),
        helper.make_node("MatMul", [r, two], ["y"], "last"),
        helper.make_node("Mul", [r, r], ["square"], "mul"),
    ]


def rounded(value: str, step: str, zero: str, name: str) -> list[onnx.NodeProto]:
    return [
        helper.make_node("QuantizeLinear", [value, step, zero], [f"{name}.q"], f"{name}.q"),
        helper.make_node("DequantizeLinear", [f"{name}.q", step, zero], [name], f"{name}.dq"),
    ]


def both() -> tuple[onnx.ModelProto, onnx.ModelProto]:
    mm, add, last, mul = net("xr", "oner", "hr", "shiftr", "rr", "twor")
    low = [
        helper.make_node("DequantizeLinear", ["one.codes", "one.steps", "one.zeros"], ["oner"], "one.dq", axis=1),
        helper.make_node("DequantizeLinear", ["shift.codes", "step", "zero"], ["shiftr"], "shift.dq"),
        helper.make_node("Cast", ["two.half"], ["twor"], "two.cast", to=TensorProto.FLOAT),
        *rounded("x", "coarse", "middle", "xr"),
        mm,
        *rounded("h", "step", "zero", "hr"),
        add,
        *rounded("r", "coarse", "middle", "rr"),
        last,
        mul,
    ]
    return graph(net("x", "one.w_0", "h", "shift", "r", "two.w_0"), STORED), graph(low, LOW)


def coarse(value: Array, step: str, zero: str) -> Array:
    low, high = (0, 255) if LOW[zero].dtype == np.uint8 else (-128, 127)
    codes = np.clip(np.round(value / LOW[step]) + LOW[zero].astype("float32"), low, high)
    return np.asarray((codes - LOW[zero].astype("float32")) * LOW[step])


def computed(x: Array, /, **instead: Array) -> dict[str, Array]:
    """What the network gives with some of its values rounded by hand."""
    given = {**STORED, **instead}
    h = given.get("x", x) @ given["one.w_0"]
    r = given.get("h", h) + given["shift"]
    r = coarse(r, "coarse", "middle") if "r" in given else r
    return {"y": r @ given["two.w_0"], "square": r * r}


def test_each_rounding_is_put_into_the_plain_file_alone() -> None:
    x = RNG.standard_normal((2, 3)).astype("float32")
    files = dict(injected._roundings(*both()))
    h = x @ STORED["one.w_0"]
    expected = {
        "the weights of one": computed(x, **{"one.w_0": LOW["one.codes"] * LOW["one.steps"]}),
        "the constant of add": computed(x, shift=LOW["shift.codes"] * LOW["step"]),
        "the weights of two": computed(x, **{"two.w_0": LOW["two.half"].astype("float32")}),
        "the input x": computed(x, x=coarse(x, "coarse", "middle")),
        "what one gives": computed(x, h=coarse(h, "step", "zero")),
        "what add gives": computed(x, r=x),
    }
    assert [*files] == [*expected]
    plain = computed(x)
    for place, content in files.items():
        (found,) = run(content, [{"x": x}])
        for name, value in expected[place].items():
            assert np.allclose(found[name], value, rtol=1e-4, atol=1e-4), (place, name)
        assert not np.allclose(found["y"], plain["y"], rtol=1e-3), place


def test_what_the_low_file_does_not_round_is_left_alone() -> None:
    """A weight on the left, a value that is cast, a constant that is computed, and what the plain file has not."""
    plain, low = both()
    for proto in (plain, low):
        proto.graph.node[-1].name = ""
    computed_codes = helper.make_node("Identity", ["shift.codes"], ["made.codes"], "identity")
    low.graph.node.insert(0, computed_codes)
    nodes = {node.name: node for node in low.graph.node}
    nodes["shift.dq"].input[0] = "made.codes"
    nodes["xr.dq"].CopyFrom(helper.make_node("Cast", ["xr.q"], ["xr"], "xr.dq", to=TensorProto.FLOAT))
    nodes["mm"].input[:] = ["oner", "xr"]
    low.graph.node.append(helper.make_node("Identity", ["rr"], ["spare"], "in the low file alone"))
    {node.name: node for node in plain.graph.node}["mm"].input[:] = ["one.w_0", "x"]
    assert [place for place, _ in injected._roundings(plain, low)] == [
        "the weights of two",
        "what mm gives",
        "what add gives",
    ]


def test_a_constant_that_is_taken_or_handed_on_as_it_is_stored_is_not_rounded() -> None:
    plain, low = both()
    nodes = {node.name: node for node in low.graph.node}
    nodes["shift.dq"].CopyFrom(helper.make_node("Identity", ["shift.codes"], ["shiftr"], "shift.dq"))
    nodes["last"].input[1] = "two.half"
    places = [place for place, _ in injected._roundings(plain, low)]
    assert "the weights of one" in places and not {"the constant of add", "the weights of two"} & {*places}


def test_what_the_plain_file_computes_is_no_constant_of_it() -> None:
    plain, low = both()
    plain.graph.node.insert(0, helper.make_node("Identity", ["shift"], ["shift.made"], "maker"))
    {node.name: node for node in plain.graph.node}["add"].input[1] = "shift.made"
    places = [place for place, _ in injected._roundings(plain, low)]
    assert "what maker gives" in places and "the constant of add" not in places


def test_the_measurement_may_take_as_long_as_four_hundred_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Limits, tuple[str, ...]]] = []
    monkeypatch.setattr(injected, "call", lambda _job, _request, limit, *, imports, **_: asked.append((limit, imports)))
    costs = {"onnx/onnxruntime": {"seconds": 100.0, "megabytes": 512.0}}
    plain = Artifact("onnx", "fp32", ("onnx/model.onnx",), ("x",), ("y",), ("y",))
    low = replace(plain, precision="int8", files=("onnx-int8/model.onnx",))
    sources_of_noise(subject(plain, low, folder=tmp_path, costs=costs).bench(), low, Setting())
    ((limit, imports),) = asked
    assert limit.beyond == beyond(costs["onnx/onnxruntime"], 400) and imports == ("onnx", "onnxruntime")


@pytest.mark.parametrize("axis", [0, 1])
def test_codes_are_multiplied_along_their_axis(axis: int) -> None:
    codes = np.arange(6, dtype="int8").reshape(2, 3)
    steps = np.arange(1.0, (2, 3)[axis] + 1, dtype="float32")
    stored = {"c": codes, "s": steps, "one": np.array([0.5], "float32")}
    node = helper.make_node("DequantizeLinear", ["c", "s"], ["w"], another=7, axis=axis)
    expected = codes * (steps[:, None] if axis == 0 else steps)
    assert injected._multiplied(node, stored).tolist() == expected.tolist()
    assert injected._multiplied(node, stored).dtype == np.float32
    plain = helper.make_node("DequantizeLinear", ["c", "s"], ["w"])
    assert axis or injected._multiplied(plain, stored).tolist() == expected.tolist(), (
        "the first axis, where none stands"
    )
    alone = helper.make_node("DequantizeLinear", ["c", "one"], ["w"], axis=axis)
    assert injected._multiplied(alone, stored).tolist() == (codes / 2).tolist()


def test_the_most_costly_is_named_and_of_two_alike_the_first_by_name() -> None:
    sources = Sources({"y": {"the input x": 20.06, "what b gives": 10.04, "what a gives": 10.04}})
    assert sources.worst("y") == "most of the noise arises in what a gives: this alone, rounded, leaves 10.0 dB"
    assert sources.worst("z") == Sources().worst("y") == ""


def test_where_nothing_can_be_measured_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    details = dict(int8.write(order(tmp_path, spread())))
    save(tmp_path / "golden.safetensors", {"batch=4/input/x": np.ones((8, 16), "float32")})
    plain, low = stored(tmp_path, "onnx", {}), stored(tmp_path, "onnx-int8", details)
    bench = subject(plain, low, folder=tmp_path).bench()
    assert sources_of_noise(replace(bench, cases=()), low, Setting()) == Sources()
    said: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(injected, "_NEEDS", ("numpy", "a_package_that_is_not_here"))
        assert sources_of_noise(bench, low, Setting(say=said.append)) == Sources() and not said
    pir = replace(plain, format="pir"), replace(low, format="pir")
    assert sources_of_noise(subject(*pir, folder=tmp_path).bench(), pir[1], Setting()) == Sources()
    (tmp_path / low.main).write_bytes(b"no model")
    assert sources_of_noise(bench, low, Setting()) == Sources()


@pytest.mark.parametrize(
    ("worst", "source"),
    [
        (f"the layer that suffers most is one, at 3.0 dB{_CUT_OFF}", "the layer that suffers most is one, at 3.0 dB"),
        ("the layer that suffers most is one, at 3.0 dB", "most of the noise arises in what b gives"),
    ],
)
def test_where_this_cpu_cuts_products_off_that_is_the_cause(worst: str, source: str, tmp_path: Path) -> None:
    """No single rounding shows it."""
    low = Artifact("onnx", "int8", ("onnx-int8/model.onnx",), ("x",), ("y",), ("y",))
    harness = harness_of(subject(low, folder=tmp_path), (), Setting())
    harness._noise[low.variant] = Suffering([], worst, {})
    harness._sources[low.variant] = Sources({"y": {"what b gives": 10.0}})
    assert harness.source_of_noise(low, "y").startswith(source)
    assert harness.source_of_noise(low, "z") == worst
