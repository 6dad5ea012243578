from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

from exporter.base.tensors import digest
from tests.export.lower.passes.models import constant, kinds, made, model, run, same

RNG = np.random.default_rng(0)
#: Kind of layer, shape of its weight, groups, channels that it puts out, and the shape of a picture without its batch.
LAYERS = {
    "plain": ("Conv", (6, 4, 3, 3), 1, 6, (4, 7, 7)),
    "grouped": ("Conv", (6, 2, 3, 3), 2, 6, (4, 7, 7)),
    "depthwise": ("Conv", (4, 1, 3, 3), 4, 4, (4, 7, 7)),
    "1d": ("Conv", (5, 4, 3), 1, 5, (4, 9)),
    "3d": ("Conv", (3, 2, 2, 2, 2), 1, 3, (2, 4, 4, 4)),
    "transposed": ("ConvTranspose", (4, 5, 3, 3), 1, 5, (4, 6, 6)),
    "transposed in groups": ("ConvTranspose", (4, 3, 2, 2), 2, 6, (4, 5, 5)),
}


def norm(channels: int, rng: np.random.Generator, source: str = "c") -> list[onnx.NodeProto]:
    weights = {
        "scale": rng.normal(1, 0.3, channels),
        "shift": rng.normal(0, 1, channels),
        "mean": rng.normal(0, 1, channels),
        "variance": rng.uniform(0.05, 4, channels),
    }
    nodes = [constant(name, value) for name, value in weights.items()]
    return [*nodes, helper.make_node("BatchNormalization", [source, *weights], ["y"], epsilon=1e-3)]


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias added behind"])
def test_batch_norm_goes_into_the_layer_before(name: str, bias: bool) -> None:
    kind, shape, groups, channels, picture = LAYERS[name]
    added = "b" if bias else "c"
    nodes = [constant("w", RNG.normal(size=shape)), helper.make_node(kind, ["x", "w"], ["c"], group=groups)]
    if bias:
        aligned = (1, channels, *(1,) * (len(shape) - 2))
        nodes += [
            constant("raw", RNG.normal(size=channels)),
            constant("shape", aligned, "int64"),
            helper.make_node("Reshape", ["raw", "shape"], ["aligned"]),
            helper.make_node("Add", ["c", "aligned"], ["b"]),
        ]
    before = model([*nodes, *norm(channels, RNG, added)], {"x": [None, *picture]})
    after = made(before)
    assert kinds(after.content) == {kind: 1}
    same(before, after.content, {"x": RNG.normal(size=(3, *picture)).astype("float32")}, within=1e-6)


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3), st.floats(1e-6, 1e6))
def test_folding_rounds_no_worse_than_the_batch_norm_did(seed: int, size: float, variance: float) -> None:
    """Both files against float64: however large or small the weights and the statistics are."""
    rng = np.random.default_rng(seed)
    weight, x = rng.normal(0, size, (4, 3, 1, 1)), rng.normal(size=(2, 3, 4, 4)).astype("float32")
    nodes = [constant("w", weight), helper.make_node("Conv", ["x", "w"], ["c"]), *norm(4, rng)]
    spread = numpy_helper.to_array(next(one for one in nodes if one.output[0] == "variance").attribute[0].t) * variance
    nodes = [constant("variance", spread) if one.output[0] == "variance" else one for one in nodes]
    before = model(nodes, {"x": [None, 3, 4, 4]})
    held = {
        one.output[0]: numpy_helper.to_array(one.attribute[0].t).astype("float64") for one in nodes if not one.input
    }
    scale, shift, mean, var = (held[one][:, None, None] for one in ("scale", "shift", "mean", "variance"))
    wide = np.einsum("oi,nihw->nohw", held["w"][:, :, 0, 0], x.astype("float64"))
    factor = scale / np.sqrt(var + np.float64(np.float32(1e-3)))
    truth = (wide - mean) * factor + shift
    # What is summed sets the scale of the rounding: where summands cancel, the result is small and they are not.
    terms = np.abs(wide * factor).max() + np.abs(mean * factor).max() + np.abs(shift).max()
    for content in (before, made(before).content):
        assert np.abs(run(content, {"x": x})[0] - truth).max() <= 8 * 2**-24 * terms


def test_a_bias_alone_leaves_the_weights_as_they_were_trained() -> None:
    weight, bias = RNG.normal(size=(6, 4, 3, 3)).astype("float32"), RNG.normal(size=6).astype("float32")
    nodes = [
        constant("conv.w", weight),
        constant("conv.b", bias),
        constant("shape", [1, 6, 1, 1], "int64"),
        helper.make_node("Conv", ["x", "conv.w"], ["c"]),
        helper.make_node("Reshape", ["conv.b", "shape"], ["aligned"]),
        helper.make_node("Add", ["c", "aligned"], ["y"]),
    ]
    after = made(model(nodes, {"x": [None, 4, 7, 7]}))
    stored = {
        one.name: numpy_helper.to_array(one) for one in onnx.load_model_from_string(after.content).graph.initializer
    }
    assert {name: digest(value) for name, value in stored.items()} == {"conv.w": digest(weight), "conv.b": digest(bias)}
    assert stored["conv.b"].shape == (6,) and kinds(after.content) == {"Conv": 1}


def test_what_is_folded_is_traced_to_all_its_parts() -> None:
    rng = np.random.default_rng(1)
    nodes = [constant("w", rng.normal(size=(4, 3, 1, 1))), helper.make_node("Conv", ["x", "w"], ["c"]), *norm(4, rng)]
    held = {one.output[0]: digest(numpy_helper.to_array(one.attribute[0].t)) for one in nodes if not one.input}
    after = made(model(nodes, {"x": [None, 3, 4, 4]}))
    statistics = {held[one] for one in ("scale", "shift", "mean", "variance")}
    assert {name: set(parts) for name, parts in after.folded.items()} == {
        "w.folded": statistics | {held["w"]},
        "w.bias": statistics,
    }


def conv() -> list[onnx.NodeProto]:
    return [constant("w", RNG.normal(size=(4, 3, 1, 1))), helper.make_node("Conv", ["x", "w"], ["c"])]


def trains() -> list[onnx.NodeProto]:
    nodes = norm(4, RNG)
    nodes[-1].attribute.append(helper.make_attribute("training_mode", 1))
    nodes[-1].output.extend(["m", "v"])
    return nodes


NOT_FOLDED = {
    "another reader": ([*conv(), *norm(4, RNG), helper.make_node("Relu", ["c"], ["z"])], ("y", "z")),
    "put out itself": ([*conv(), *norm(4, RNG)], ("y", "c")),
    "in training": ([*conv(), *trains()], ("y",)),
    "no finite factor": ([*conv(), *norm(4, RNG)[:3], constant("variance", [-1.0] * 4), norm(4, RNG)[-1]], ("y",)),
    "a bias that adds a dimension": (
        [*conv(), constant("b", RNG.normal(size=(2, 1, 4, 1, 1))), helper.make_node("Add", ["c", "b"], ["y"])],
        ("y",),
    ),
    "a bias a pixel": (
        [*conv(), constant("b", RNG.normal(size=(1, 4, 4, 4))), helper.make_node("Add", ["c", "b"], ["y"])],
        ("y",),
    ),
}


@pytest.mark.parametrize("why", NOT_FOLDED)
def test_it_stays_where_it_is(why: str) -> None:
    nodes, outputs = NOT_FOLDED[why]
    before = model(nodes, {"x": [None, 3, 4, 4]}, outputs)
    after = made(before).content
    assert kinds(after)["Add"] + kinds(after)["BatchNormalization"] == 1
    if why != "no finite factor":
        same(before, after, {"x": RNG.normal(size=(2, 3, 4, 4)).astype("float32")})


def test_one_weight_of_two_layers_is_folded_twice() -> None:
    rng = np.random.default_rng(2)
    first, second = norm(4, rng), norm(4, rng, "d")
    for node in second:
        node.output[0] = f"{node.output[0]}2"
        node.input[1:] = [f"{one}2" for one in node.input[1:]]
    nodes = [*conv(), helper.make_node("Conv", ["x2", "w"], ["d"]), *first, *second]
    before = model(nodes, {"x": [None, 3, 4, 4], "x2": [None, 3, 4, 4]}, ("y", "y2"))
    after = made(before)
    assert kinds(after.content) == {"Conv": 2} and {"w.folded", "w.folded.1"} <= set(after.folded)
    inputs = {name: rng.normal(size=(2, 3, 4, 4)).astype("float32") for name in ("x", "x2")}
    same(before, after.content, inputs, within=1e-6)
