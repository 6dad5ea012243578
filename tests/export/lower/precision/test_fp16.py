from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from exporter.base.errors import EnvironmentLacks, ModelError, UsageError
from exporter.base.tensors import Array
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import refuse_precisions
from exporter.export.lower.precision import fp16_onnx
from exporter.export.lower.precision.base import Order
from exporter.export.lower.precision.fp16_onnx import _converted
from exporter.export.lower.precision.kinds.fp16 import plugin
from exporter.export.lower.precision.onnx_file import finished, name_nodes
from exporter.export.lower.stored import stored_digests
from exporter.prove.proofs.kinds.weights import prove_halved
from exporter.prove.verdict.claim import Outcome
from exporter.spec.model import Budget, PrecisionSettings, Spec
from tests.export.lower.passes.models import constant, made, model, run

RNG = np.random.default_rng(0)
X = {"x": RNG.normal(size=(4, 6)).astype("float32")}
FIRST, SECOND = RNG.normal(size=(6, 8)), RNG.normal(size=(8, 3))


def network(first: Array = FIRST, second: Array = SECOND) -> bytes:
    """Two linear layers, `one` and `two`, in canonical form."""
    nodes = [
        constant("one.w_0", first),
        constant("two.w_0", second),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Tanh", ["hidden"], ["bent"]),
        helper.make_node("MatMul", ["bent", "two.w_0"], ["y"]),
    ]
    return made(model(nodes, {"x": [None, 6]})).content


def order(place: Path, content: bytes, **settings: object) -> Order:
    for name in ("onnx", "onnx-fp16"):
        (place / name).mkdir()
    (place / "onnx/model.onnx").write_bytes(content)
    found = PrecisionSettings.model_validate(settings)
    return Order("onnx", place / "onnx", "model.onnx", place / "onnx-fp16", found, plugin.budget, [X], 4)


def stored(place: Path) -> dict[str, Array]:
    graph = onnx.load(place / "onnx-fp16/model.onnx").graph
    return {one.name: numpy_helper.to_array(one) for one in graph.initializer}


def artifact(place: Path, precision: str) -> Artifact:
    variant = "onnx" if precision == "fp32" else f"onnx-{precision}"
    files = (f"{variant}/model.onnx",)
    return Artifact("onnx", precision, files, ("x",), ("y",), ("y",), {}, stored_digests(files, place))


def proven(place: Path) -> Outcome:
    return prove_halved(artifact(place, "fp16"), artifact(place, "fp32"), place).outcome


def test_weights_and_arithmetic_are_halved_and_the_interface_is_not(tmp_path: Path) -> None:
    details = plugin.write(order(tmp_path, network()))
    content = (tmp_path / "onnx-fp16/model.onnx").read_bytes()
    graph = onnx.load_model_from_string(content).graph
    assert {one.type.tensor_type.elem_type for one in (*graph.input, *graph.output)} == {TensorProto.FLOAT}
    assert {value.dtype.name for value in stored(tmp_path).values()} == {"float16"}
    want, got = run(network(), X)[0], run(content, X)[0]
    noise = 10 * np.log10(np.square(want).sum() / np.square(want - got).sum())
    assert 50 < noise < 90, "as near as eleven bits are, and no nearer"
    assert details["kept"] == [] and details["constants_at_the_limit"] == 0
    assert proven(tmp_path) is Outcome.MATCH


def exponentials() -> bytes:
    """Two nodes that stay in float32 read one value, and a third stands in a branch and reads what the branch makes."""
    types = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("up", "down")}
    within = [helper.make_node("Neg", ["hidden"], ["turned"]), helper.make_node("Exp", ["turned"], ["up"])]
    larger = helper.make_graph(within, "then", [], [types["up"]])
    smaller = helper.make_graph([helper.make_node("Exp", ["hidden"], ["down"])], "else", [], [types["down"]])
    nodes = [
        constant("one.w_0", FIRST),
        constant("two.w_0", SECOND),
        constant("none", 0),
        helper.make_node("MatMul", ["x", "one.w_0"], ["wide"]),
        helper.make_node("Tanh", ["wide"], ["hidden"]),
        helper.make_node("Exp", ["hidden"], ["grown"]),
        helper.make_node("Reciprocal", ["hidden"], ["inverse"]),
        helper.make_node("ReduceMean", ["hidden"], ["mean"], keepdims=0),
        helper.make_node("Greater", ["mean", "none"], ["go"]),
        helper.make_node("If", ["go"], ["chosen"], then_branch=larger, else_branch=smaller),
        helper.make_node("Add", ["grown", "chosen"], ["sum"]),
        helper.make_node("MatMul", ["sum", "two.w_0"], ["y"]),
    ]
    return made(model(nodes, {"x": [None, 6]}, ["y", "inverse"])).content


def test_a_layer_in_a_branch_is_a_layer(tmp_path: Path) -> None:
    """Of one that holds a weight beyond fp16 all stays as it is; the other is halved."""
    types = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("up", "down")}
    larger = helper.make_graph([helper.make_node("MatMul", ["x", "one.w_0"], ["up"])], "then", [], [types["up"]])
    smaller = helper.make_graph([helper.make_node("MatMul", ["x", "two.w_0"], ["down"])], "else", [], [types["down"]])
    nodes = [
        constant("one.w_0", FIRST),
        constant("two.w_0", 1e5 * FIRST),
        constant("none", 0),
        helper.make_node("ReduceMean", ["x"], ["mean"], keepdims=0),
        helper.make_node("Greater", ["mean", "none"], ["go"]),
        helper.make_node("If", ["go"], ["chosen"], then_branch=larger, else_branch=smaller),
        helper.make_node("Tanh", ["chosen"], ["y"]),
    ]
    plain = made(model(nodes, {"x": [None, 6]})).content
    assert plugin.write(order(tmp_path, plain))["kept"] == ["two"]
    content = (tmp_path / "onnx-fp16/model.onnx").read_bytes()
    onnx.checker.check_model(onnx.load_model_from_string(content), full_check=True)
    assert {name: one.dtype.name for name, one in stored(tmp_path).items() if "w_0" in name} == {
        "one.w_0": "float16",
        "two.w_0": "float32",
    }
    for sign in (1, -1):
        inputs = {"x": sign * X["x"]}
        np.testing.assert_allclose(run(content, inputs)[0], run(plain, inputs)[0], rtol=2e-2, atol=2e-2)


def test_nodes_that_stay_in_float32_each_have_their_casts_where_they_stand(tmp_path: Path) -> None:
    plugin.write(order(tmp_path, exponentials()))
    content = (tmp_path / "onnx-fp16/model.onnx").read_bytes()
    found = onnx.load_model_from_string(content)
    onnx.checker.check_model(found, full_check=True)
    for sign in (1, -1):
        inputs = {"x": sign * X["x"]}
        for want, got in zip(run(exponentials(), inputs), run(content, inputs), strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-2, atol=2e-2)


def turned(axes: tuple[int, ...], weight: Array) -> bytes:
    """A transpose, and a linear layer that reads it."""
    shape: list[int | str | None] = [None] * len(axes)
    shape[axes[-1]] = 6
    nodes = [
        constant("one.w_0", weight),
        constant("two.w_0", SECOND),
        helper.make_node("Transpose", ["x"], ["turned"], perm=axes),
        helper.make_node("MatMul", ["turned", "one.w_0"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "two.w_0"], ["y"]),
    ]
    return made(model(nodes, {"x": shape})).content


def turned_inputs(axes: tuple[int, ...]) -> dict[str, Array]:
    sizes = [3] * len(axes)
    sizes[axes[-1]] = 6
    return {"x": RNG.normal(size=sizes).astype("float32")}


@pytest.mark.parametrize(
    ("axes", "fatal"),
    [((1, 0, 2), True), ((1, 2, 0), True), ((1, 2, 0, 3), True), ((0, 2, 1), False), ((0, 2, 1, 3), False)],
    ids=str,
)
def test_a_transpose_that_onnx_runtime_dies_of_is_held_apart_from_the_product(
    tmp_path: Path, axes: tuple[int, ...], fatal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = turned(axes, FIRST)
    plugin.write(order(tmp_path, plain))
    content = (tmp_path / "onnx-fp16/model.onnx").read_bytes()
    assert ("Reshape" in [node.op_type for node in onnx.load_model_from_string(content).graph.node]) is fatal
    some = turned_inputs(axes)["x"]
    for value in (some, np.take(some, [], axis=axes[-2])):  # 0 rows are a size too
        (want,), (got,) = run(plain, {"x": value}), run(content, {"x": value})
        np.testing.assert_allclose(got, want, rtol=2e-2, atol=2e-2)

    def opens(name: str) -> int:
        script = f"import onnxruntime; onnxruntime.InferenceSession({name!r}, providers=['CPUExecutionProvider'])"
        return subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False, capture_output=True).returncode

    assert opens("onnx-fp16/model.onnx") == 0
    monkeypatch.setattr(fp16_onnx, "_hold_apart", lambda *_: None)
    (tmp_path / "all.onnx").write_bytes(_converted(onnx.load_model_from_string(plain), []))
    assert opens("all.onnx") == (-signal.SIGSEGV if fatal else 0), "where it no longer dies, hold nothing apart for it"


@pytest.mark.parametrize("axes", [(0, 2, 1), (0, 1, 3, 2)], ids=str)
def test_a_transpose_is_held_apart_from_a_product_that_stays_in_float32(
    tmp_path: Path, axes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ONNX Runtime makes of both with a cast between them, CUDA cannot load: on a CPU it is seen by its name."""

    def fused(content: bytes) -> list[str]:
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath = str(tmp_path / "seen.onnx")
        options.log_severity_level = 3
        onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        return [node.name for node in onnx.load(tmp_path / "seen.onnx").graph.node if "TransposeFusion" in node.name]

    plain = turned(axes, 1e5 * FIRST)
    assert plugin.write(order(tmp_path, plain))["kept"] == ["one"]
    content = (tmp_path / "onnx-fp16/model.onnx").read_bytes()
    assert not fused(content)
    inputs = {"x": 1e-2 * turned_inputs(axes)["x"]}
    (want,), (got,) = run(plain, inputs), run(content, inputs)
    np.testing.assert_allclose(got, want, atol=1e-2 * np.abs(want).max())
    named = onnx.load_model_from_string(plain)
    name_nodes(named.graph)
    product = next(node.name for node in named.graph.node if "one.w_0" in node.input)
    monkeypatch.setattr(fp16_onnx, "_hold_apart", lambda *_: None)
    assert fused(_converted(named, [product])), "where it no longer fuses, hold nothing apart for it"


def test_a_file_that_no_order_makes_valid_is_refused() -> None:
    turning = onnx.load_model_from_string(network())
    turning.graph.node[0].input[0] = "bent"
    with pytest.raises(ModelError, match="topologically sorted") as caught:
        finished(turning)
    assert "leave the precision out" in caught.value.hint


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    contents = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        plugin.write(order(tmp_path / name, network()))
        contents.append((tmp_path / name / "onnx-fp16/model.onnx").read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("factor", [1.001, 0.0], ids=["scaled", "zeroed"])
def test_a_weight_that_is_not_fp32s_is_found(tmp_path: Path, factor: float) -> None:
    plugin.write(order(tmp_path, network()))
    (tmp_path / "onnx/model.onnx").write_bytes(network(second=SECOND * factor))
    assert proven(tmp_path) is Outcome.MISMATCH


def test_a_file_that_was_not_halved_proves_nothing(tmp_path: Path) -> None:
    found = order(tmp_path, network())
    (found.into / "model.onnx").write_bytes(network())
    assert proven(tmp_path) is Outcome.VACUOUS


def test_layers_that_are_named_stay_in_float32(tmp_path: Path) -> None:
    assert plugin.write(order(tmp_path, network(), keep=["two"]))["kept"] == ["two"]
    assert {name: value.dtype.name for name, value in stored(tmp_path).items()} == {
        "one.w_0": "float16",
        "two.w_0": "float32",
    }
    assert proven(tmp_path) is Outcome.MATCH


def test_a_layer_that_is_not_there_is_refused_with_the_likely_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no layer 'tow'") as caught:
        plugin.write(order(tmp_path, network(), keep=["tow"]))
    assert "did you mean 'two'" in caught.value.hint


def test_a_weight_beyond_fp16_keeps_its_layer_in_float32(tmp_path: Path) -> None:
    content = network(first=FIRST * 1e5, second=SECOND * 1e-3)
    assert plugin.write(order(tmp_path, content))["kept"] == ["one"]
    assert stored(tmp_path)["one.w_0"].dtype == np.float32 and proven(tmp_path) is Outcome.MATCH
    assert np.isfinite(run((tmp_path / "onnx-fp16/model.onnx").read_bytes(), {"x": X["x"] * 1e-4})[0]).all()


def test_nothing_that_fits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no layer whose weights fit"):
        plugin.write(order(tmp_path, network(FIRST * 1e6, SECOND * 1e6)))


def test_what_is_too_small_for_fp16_is_rounded_to_the_nearest_and_not_raised(tmp_path: Path) -> None:
    tiny = SECOND.copy()
    tiny[0] = 1e-30
    plugin.write(order(tmp_path, network(second=tiny)))
    assert (stored(tmp_path)["two.w_0"][0] == 0).all() and proven(tmp_path) is Outcome.MATCH


def test_a_search_keeps_what_costs_most_until_the_budget_holds(tmp_path: Path) -> None:
    wish = order(tmp_path, network(second=SECOND * 1e-5), search=True)  # its weights have few bits left in fp16
    details = plugin.write(replace(wish, budget=Budget(min_snr_db=60)))
    assert details["kept"] == ["two"] and details["alone_snr_db"]["two"] < details["alone_snr_db"]["one"]
    sizes = [one["bytes"] for one in details["front"]]
    assert sizes == sorted(sizes) and details["front"][-1]["snr_db"] > 61


def spec(formats: Sequence[str], precisions: object) -> Spec:
    content = {
        "name": "net",
        "model": "nets:build",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 6]}},
        "dims": {"batch": {"min": 1, "typical": 2, "max": 3}},
        "formats": list(formats),
        "precisions": precisions,
    }
    return Spec.model_validate(content)


REFUSED = {
    "pir": (["pir"], ["fp32", "fp16"], UsageError, "convert_to_mixed_precision reads no .json"),
    "bf16": (["onnx"], ["fp32", "bf16"], UsageError, "how an engine computes"),
    "a method": (["onnx"], {"fp32": {}, "fp16": {"method": "entropy"}}, UsageError, "'method' means nothing to fp16"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_routes_that_do_not_work_are_refused_with_the_reason(name: str) -> None:
    formats, precisions, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        refuse_precisions(spec(formats, precisions))


def test_paddles_cpu_build_changes_nothing_and_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exporter.export.lower.precision.kinds.fp16._has_gpu_paddle", lambda: False)
    with pytest.raises(EnvironmentLacks, match="converts no operator") as caught:
        refuse_precisions(spec(["pdmodel"], ["fp32", "fp16"]))
    assert "paddlepaddle-gpu" in caught.value.hint
    refuse_precisions(spec(["pdmodel", "onnx"], {"fp32": {}, "fp16": {"formats": ["onnx"]}}))
