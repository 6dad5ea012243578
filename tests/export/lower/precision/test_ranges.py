"""Trained ranges, from a layer's weight to the scale in the written file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

from exporter.base.errors import ModelError
from exporter.export.lower.precision.kinds.int8 import plugin
from exporter.export.lower.precision.ranges import Flow, rounded_by, trained_ranges
from exporter.export.lower.precision.rounded import RoundedLayer
from tests.export.lower.passes.models import constant, made, model
from tests.export.lower.precision.test_int8 import FIRST, SECOND, network, order

RANGES = {"one.w_0": (-1.0, 3.0), "two.w_0": (0.0, 7.0)}


def test_a_range_goes_up_through_what_only_moves_values_while_nobody_else_reads_them() -> None:
    moves = [("a", "b"), ("b", "c"), ("d", "e")]
    readers = {"a": 1, "b": 1, "c": 1, "d": 2, "e": 1}
    found = trained_ranges(Flow([("w", "c"), ("v", "e")], moves, readers), {"w": (-1.0, 2.0), "v": (0.0, 1.0)})
    assert found == {"c": (-1.0, 2.0), "b": (-1.0, 2.0), "a": (-1.0, 2.0), "e": (0.0, 1.0)}


def test_layers_that_share_what_they_take_share_the_wider_range() -> None:
    flow = Flow([("w", "x"), ("v", "x"), ("u", "y")], [], {})
    assert trained_ranges(flow, {"w": (-1.0, 2.0), "v": (0.0, 3.0)}) == {"x": (-1.0, 3.0)}


@pytest.mark.parametrize("activations", ["uint8", "int8"])
@pytest.mark.parametrize("method", ["minmax", "entropy"])
def test_the_written_file_holds_the_trained_scales(tmp_path: Path, activations: str, method: str) -> None:
    wish = replace(order(tmp_path, network(), activations=activations, method=method), ranges=RANGES)
    details: dict[str, Any] = dict(plugin.write(wish))
    scales = {name: layer["scale"] for name, layer in details["layers"].items()}
    wanted = {"one": 4 / 255, "two": 7 / 255} if activations == "uint8" else {"one": 3 / 127, "two": 7 / 127}
    assert scales == pytest.approx(wanted, rel=0.01)
    assert details["ranges"] == {"trained": ["one", "two"], "calibrated": []}


def test_a_pool_before_a_layer_takes_its_range_too(tmp_path: Path) -> None:
    nodes = [
        constant("one.w_0", FIRST),
        constant("two.w_0", SECOND),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["bent"]),
        helper.make_node("Unsqueeze", ["bent", "axes"], ["channels"]),
        helper.make_node("MaxPool", ["channels"], ["pooled"], kernel_shape=[1]),
        helper.make_node("Squeeze", ["pooled", "axes"], ["flat"]),
        helper.make_node("MatMul", ["flat", "two.w_0"], ["y"]),
    ]
    axes = helper.make_tensor("axes", onnx.TensorProto.INT64, [1], [1])
    nodes.insert(0, helper.make_node("Constant", [], ["axes"], value=axes))
    wish = replace(order(tmp_path, made(model(nodes, {"x": [None, 16]})).content), ranges=RANGES)
    details: dict[str, Any] = dict(plugin.write(wish))
    assert details["ranges"]["trained"] == ["one", "two"]
    assert details["layers"]["two"]["scale"] == pytest.approx(7 / 255, rel=0.01)


def test_layers_that_were_not_trained_are_calibrated_and_said_to_be(tmp_path: Path) -> None:
    wish = replace(order(tmp_path, network()), ranges={"two.w_0": (0.0, 7.0)})
    details: dict[str, Any] = dict(plugin.write(wish))
    assert details["ranges"] == {"trained": ["two"], "calibrated": ["one"]}


def test_ranges_of_no_layer_that_is_there_are_refused(tmp_path: Path) -> None:
    wish = replace(order(tmp_path, network()), ranges={"three.w_0": (0.0, 7.0)})
    with pytest.raises(ModelError, match="no layer of the written file has the range"):
        plugin.write(wish)


def test_a_range_that_did_not_reach_the_file_is_not_told_as_trained() -> None:
    layer = RoundedLayer("x", 1 / 255, 0, (0, 255), weight="w", codes="w.codes", scales="w.scales", axis=0)
    with pytest.raises(ModelError, match="no layer of the written file"):
        rounded_by({"one": layer}, {"x": (0.0, 5.0)}, "model.onnx")
