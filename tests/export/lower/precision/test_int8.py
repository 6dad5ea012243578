from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from exporter.base.errors import ModelError, UsageError
from exporter.bundle.manifest import Variant
from exporter.export.lower.base import Artifact
from exporter.export.lower.precision.base import Order
from exporter.export.lower.precision.int8_onnx import run
from exporter.export.lower.precision.kinds.int8 import plugin
from exporter.export.lower.precision.noise import likely_most, share, snr_db, worst_snr_db
from exporter.export.lower.precision.search import (
    INT8_LADDER,
    INT8_OR_FLOAT32,
    Candidate,
    Grade,
    Make,
    Plan,
    choose,
    front,
)
from exporter.export.lower.precision.speed import speedup
from exporter.export.lower.stored import stored_digests
from exporter.prove.proofs.kinds.weights import prove_rounded
from exporter.prove.verdict.claim import Outcome
from exporter.spec.model import Budget, PrecisionSettings
from tests.export.lower.passes.models import constant, made, model

RNG = np.random.default_rng(0)
CALLS = [{"x": RNG.normal(size=(8, 16)).astype("float32")} for _ in range(4)]
#: What the mean of the first layer's result is above in some calls.
SOME = 0.2
FIRST, SECOND = RNG.normal(size=(16, 32)), RNG.normal(size=(32, 5))


def network() -> bytes:
    """Two linear layers, `one` and `two`, in canonical form."""
    nodes = [
        constant("one.w_0", FIRST),
        constant("two.w_0", SECOND),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["bent"]),
        helper.make_node("MatMul", ["bent", "two.w_0"], ["y"]),
    ]
    return made(model(nodes, {"x": [None, 16]})).content


def branching() -> bytes:
    """A branch reads a stored number, and a rounded value that the graph also puts out under the name of `bent`."""
    types = {name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in ("up", "down")}
    larger = helper.make_graph([helper.make_node("Mul", ["bent", "twice"], ["up"])], "then", [], [types["up"]])
    smaller = helper.make_graph([helper.make_node("Neg", ["bent"], ["down"])], "else", [], [types["down"]])
    nodes = [
        constant("one.w_0", FIRST),
        constant("two.w_0", SECOND),
        constant("twice", 2),
        constant("some", SOME),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["bent"]),
        helper.make_node("ReduceMean", ["hidden"], ["mean"], keepdims=0),
        helper.make_node("Greater", ["mean", "some"], ["go"]),
        helper.make_node("If", ["go"], ["chosen"], then_branch=larger, else_branch=smaller),
        helper.make_node("MatMul", ["chosen", "two.w_0"], ["y"]),
    ]
    return made(model(nodes, {"x": [None, 16]}, ["y", "bent"])).content


def order(place: Path, content: bytes, budget: Budget | None = None, **settings: object) -> Order:
    for name in ("onnx", "onnx-int8"):
        (place / name).mkdir(parents=True)
    (place / "onnx/model.onnx").write_bytes(content)
    found = PrecisionSettings.model_validate(settings)
    return Order("onnx", place / "onnx", "model.onnx", place / "onnx-int8", found, budget or plugin.budget, CALLS, 32)


def written(place: Path, **settings: object) -> tuple[dict[str, object], bytes]:
    wish = order(place, network(), **settings)  # type: ignore[arg-type]
    return dict(plugin.write(wish)), (place / "onnx-int8/model.onnx").read_bytes()


def noise(content: bytes) -> float:
    true, got = run(network(), CALLS), run(content, CALLS)
    return snr_db((one["y"], other["y"]) for one, other in zip(true, got, strict=True))


def weights(content: bytes) -> dict[str, np.dtype[np.generic]]:
    found = onnx.load_from_string(content).graph.initializer
    return {one.name: numpy_helper.to_array(one).dtype for one in found}


def artifact(place: Path, variant: str, details: dict[str, object]) -> Artifact:
    files = (f"{variant}/model.onnx",)
    precision = variant.partition("-")[2] or "fp32"
    return Artifact("onnx", precision, files, ("x",), ("y",), ("y",), details, stored_digests(files, place))


@pytest.mark.parametrize("method", ["minmax", "entropy", "percentile"])
@pytest.mark.parametrize("activations", ["uint8", "int8"])
def test_every_layer_is_stored_in_8_bits_and_computes_nearly_the_same(
    tmp_path: Path, method: str, activations: str
) -> None:
    details, content = written(tmp_path, method=method, activations=activations)
    kinds = weights(content)
    assert sorted(details["layers"]) == ["one", "two"]  # type: ignore[call-overload]
    assert {kinds[layer["codes"]].name for layer in details["layers"].values()} == {"int8"}  # type: ignore[attr-defined]
    assert 25 < noise(content) < 80


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    assert written(tmp_path / "a") == written(tmp_path / "b")
    wishes = [order(tmp_path / place, network(), Budget(min_snr_db=50), search=True) for place in ("c", "d")]
    assert plugin.write(wishes[0]) == plugin.write(wishes[1])
    assert (wishes[0].into / "model.onnx").read_bytes() == (wishes[1].into / "model.onnx").read_bytes()


def test_no_domain_is_imported_that_no_node_uses(tmp_path: Path) -> None:
    content = onnx.load_from_string(written(tmp_path)[1])
    assert [one.domain for one in content.opset_import] == [""]


def test_what_the_graph_puts_out_is_not_rounded(tmp_path: Path) -> None:
    graph = onnx.load_from_string(written(tmp_path)[1]).graph
    makers = {name: node.op_type for node in graph.node for name in node.output}
    assert makers["y"] == "MatMul"


def test_what_a_branch_reads_is_there_in_both_its_sides(tmp_path: Path) -> None:
    plugin.write(order(tmp_path, branching()))
    content = (tmp_path / "onnx-int8/model.onnx").read_bytes()
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    true, got = run(branching(), CALLS), run(content, CALLS)
    assert {bool((one["x"] @ FIRST).mean() > SOME) for one in CALLS} == {True, False}, "each side is taken"
    for one, other in zip(true, got, strict=True):
        assert min(snr_db([(one[name], other[name])]) for name in ("y", "bent")) > 25


def test_layers_that_are_named_stay_in_float32(tmp_path: Path) -> None:
    details, content = written(tmp_path, keep=("two",))
    assert details["kept"] == ["two"]
    assert sorted(details["layers"]) == ["one"]  # type: ignore[call-overload]
    assert weights(content)["two.w_0"] == np.float32


def test_what_is_not_there_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no layer 'tow'") as caught:
        written(tmp_path, keep=("tow",))
    assert "did you mean 'two'?" in caught.value.hint
    with pytest.raises(UsageError) as caught:
        written(tmp_path / "kind", keep=("softmax",))
    assert "one of the kinds MatMul, Relu" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "layers", "operators"),
    [("MatMul", {"one", "two"}, set()), ("Relu", set(), {"Relu.0"}), ("MatMul.1", {"two"}, set())],
)
def test_operators_are_kept_by_name_and_by_kind(
    tmp_path: Path, name: str, layers: set[str], operators: set[str]
) -> None:
    details, content = written(tmp_path, keep=(name,))
    assert (set(details["kept"]), set(details.get("kept_operators", []))) == (layers, operators)  # type: ignore[call-overload]
    graph = onnx.load_from_string(content).graph
    makers = {output: node.op_type for node in graph.node for output in node.output}
    relu = next(node for node in graph.node if node.op_type == "Relu")
    assert makers[relu.input[0]] == "MatMul" or not operators, "what it takes is not rounded either"


def test_the_search_stores_weights_alone_until_the_budget_holds(tmp_path: Path) -> None:
    plain = noise(written(tmp_path / "plain")[1])
    wish = order(tmp_path / "searched", network(), Budget(min_snr_db=plain + 0.2), search=True)
    details = dict(plugin.write(wish))
    assert details["kept"] == [] and details["weights_int8"]
    assert details["cpu"] == {"asked": "any", "effective": "any"}, "no layer of all 8 bits is taken for one in int8"
    assert sorted(details["alone_snr_db"]) == sorted(details["alone_weights_snr_db"]) == ["one", "two"]
    assert noise((tmp_path / "searched/onnx-int8/model.onnx").read_bytes()) >= plain + 0.2
    low = artifact(tmp_path / "searched", "onnx-int8", details)
    proven = prove_rounded(low, artifact(tmp_path / "searched", "onnx", {}), tmp_path / "searched")
    assert (proven.outcome, proven.elements) == (Outcome.MATCH, FIRST.size + SECOND.size)


def test_a_budget_that_8_bits_cannot_hold_is_held_with_weights_of_16(tmp_path: Path) -> None:
    details = dict(plugin.write(order(tmp_path, network(), Budget(min_snr_db=50), search=True)))
    assert details["weights_fp16"]
    names = {"inputs": ["x"], "outputs": ["y"], "native_outputs": ["y"], "weights": {}, "origins": {}}
    file = {"format": "onnx", "precision": "int8", "files": ["onnx-int8/model.onnx"], "details": details}
    assert Variant.model_validate_json(json.dumps({**file, **names})).details == details, "a manifest can hold it"
    content = (tmp_path / "onnx-int8/model.onnx").read_bytes()
    assert noise(content) >= 50 and len(content) < 0.8 * len(network())
    low, plain = artifact(tmp_path, "onnx-int8", details), artifact(tmp_path, "onnx", {})
    assert prove_rounded(low, plain, tmp_path).outcome is Outcome.MATCH
    changed = onnx.load_from_string(content)
    name = details["layers"][details["weights_fp16"][0]]["codes"]  # type: ignore[index]
    stored = next(tensor for tensor in changed.graph.initializer if tensor.name == name)
    value = numpy_helper.to_array(stored).copy()
    value[0, 0] *= 1.01
    stored.CopyFrom(numpy_helper.from_array(value, name))
    (tmp_path / "onnx-int8/model.onnx").write_bytes(changed.SerializeToString())
    low = artifact(tmp_path, "onnx-int8", details)
    assert "not the nearest fp16" in prove_rounded(low, plain, tmp_path).reason


@pytest.mark.parametrize("keep", [True, False])
def test_layers_that_share_a_weight_may_have_different_grades(tmp_path: Path, *, keep: bool) -> None:
    """As the tower of a detector that looks at each level of its pyramid."""
    nodes = [
        constant("one.w_0", FIRST[:, :16]),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["bent"]),
        helper.make_node("MatMul", ["bent", "one.w_0"], ["y"]),
    ]
    content = made(model(nodes, {"x": [None, 16]})).content
    settings: dict[str, object] = {"keep": ("one",)} if keep else {"search": True}
    details = dict(plugin.write(order(tmp_path, content, Budget(min_snr_db=42), **settings)))
    lowered = (tmp_path / "onnx-int8/model.onnx").read_bytes()
    assert noise_of(content, lowered) >= (33 if keep else 42)
    first = next(node for node in onnx.load_from_string(lowered).graph.node if node.op_type == "MatMul")
    assert not keep or (details["kept"] == ["one"] and list(first.input) == ["x", "one.w_0"])


def noise_of(content: bytes, lowered: bytes) -> float:
    return worst_snr_db(run(content, CALLS), run(lowered, CALLS))


def test_samples_that_differ_much_ask_for_more_than_their_mean() -> None:
    signal = np.ones(4)
    alike, apart = ([(signal, signal + loss) for loss in losses] for losses in ((0.1,) * 4, (0.0, 0.0, 0.0, 0.2)))
    assert likely_most(alike) == pytest.approx(share(alike)) and share(apart) == pytest.approx(0.01)
    assert likely_most(apart) == pytest.approx(0.03)
    assert likely_most(alike[:1]) == share(alike[:1])


def test_the_search_keeps_nothing_where_the_budget_holds_at_once(tmp_path: Path) -> None:
    details = dict(plugin.write(order(tmp_path, network(), Budget(min_snr_db=1), search=True)))
    assert details["kept"] == []


def test_what_stands_beside_a_kept_layer_is_not_rounded_either(tmp_path: Path) -> None:
    """Else no layer that is kept takes the noise of the additions and products around it away."""
    nodes = [
        constant("one.w_0", FIRST),
        constant("two.w_0", SECOND),
        constant("many", 1 + RNG.normal(size=32)),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Mul", ["hidden", "many"], ["scaled"]),
        helper.make_node("Add", ["scaled", "many"], ["moved"]),
        helper.make_node("MatMul", ["moved", "two.w_0"], ["y"]),
    ]
    content = made(model(nodes, {"x": [None, 16]})).content
    rounded = {}
    for kept in ((), ("two",)):
        place = tmp_path / str(len(kept))
        plugin.write(order(place, content, keep=kept))
        graph = onnx.load(place / "onnx-int8/model.onnx").graph
        of = {name: node.op_type for node in graph.node for name in node.output}
        rounded[kept] = [of[node.input[0]] for node in graph.node if node.op_type in ("Mul", "Add")]
    assert rounded[()] == ["DequantizeLinear", "DequantizeLinear"]
    assert rounded[("two",)] == ["DequantizeLinear", "Mul"], "the first reads what the layer in int8 gives"


def test_factors_that_one_step_would_make_zeros_are_not_rounded(tmp_path: Path) -> None:
    """As the gains of channels of which some are a thousand times as large as others."""
    uneven = np.where(np.arange(32) == 3, 1000.0, 1.0)
    nodes = [
        constant("one.w_0", FIRST),
        constant("uneven", uneven),
        constant("two.w_0", SECOND / uneven[:, None]),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Mul", ["hidden", "uneven"], ["wide"]),
        helper.make_node("Relu", ["wide"], ["bent"]),
        helper.make_node("MatMul", ["bent", "two.w_0"], ["y"]),
    ]
    plugin.write(order(tmp_path, made(model(nodes, {"x": [None, 16]})).content))
    graph = onnx.load(tmp_path / "onnx-int8/model.onnx").graph
    (product,) = (node for node in graph.node if node.op_type == "Mul")
    assert "uneven" in product.input


def test_the_pieces_of_a_sigmoid_that_is_written_out_are_not_rounded(tmp_path: Path) -> None:
    """Of 1 + exp(-x), which spans many powers of ten, 8 bits would leave 0, and a score would be infinite."""
    nodes = [
        constant("one.w_0", 4 * FIRST),
        constant("single", 1),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("Neg", ["hidden"], ["negated"]),
        helper.make_node("Exp", ["negated"], ["powers"]),
        helper.make_node("Add", ["powers", "single"], ["sum"]),
        helper.make_node("Reciprocal", ["sum"], ["y"]),
    ]
    content = made(model(nodes, {"x": [None, 16]})).content
    plugin.write(order(tmp_path, content))
    got = run((tmp_path / "onnx-int8/model.onnx").read_bytes(), CALLS)
    true = run(content, CALLS)
    assert max(float(np.abs(one["y"] - other["y"]).max()) for one, other in zip(true, got, strict=True)) < 0.2


def test_an_output_is_as_noisy_as_the_worst_of_all() -> None:
    loud, small = np.full(4, 1000.0), np.arange(4.0)
    truth = [{"boxes": loud, "scores": small, "labels": np.arange(4)}]
    got = [{"boxes": loud, "scores": small + 0.1, "labels": np.zeros(4, "int64")}]
    assert worst_snr_db(truth, got) == snr_db([(small, small + 0.1)])
    endless = [{"boxes": loud, "scores": np.full(4, np.inf), "labels": np.arange(4)}]
    assert worst_snr_db(truth, endless) == -200.0


#: The bytes of three layers in float32.
LARGE = {"large": 10**7, "small": 1000, "least": 1000}


def additive(weights: dict[str, float], all_in_int8: dict[str, float]) -> Make:
    """Candidates of which noise in dB is known layer by layer, for weights alone in 8 bits and for all of the layer."""
    kinds = {Grade.INT8: all_in_int8, Grade.WEIGHTS_INT8: weights}
    bits = {Grade.INT8: 8, Grade.WEIGHTS_INT8: 8, Grade.WEIGHTS_FP16: 16, Grade.FLOAT32: 32}

    def make(plan: Plan, calls: int | None = None) -> Candidate:
        del calls
        noise = sum(10 ** (-kinds[grade][layer] / 10) for layer, grade in plan.items() if grade in kinds)
        return Candidate(plan, sum(LARGE[layer] * bits[grade] // 32 for layer, grade in plan.items()), {"y": noise})

    return make


def test_a_layer_whose_activations_are_too_noisy_keeps_small_weights(tmp_path: Path) -> None:
    wish = order(tmp_path, network(), Budget(min_snr_db=25), search=True)
    make = additive(dict.fromkeys(LARGE, 40.0), {"large": 10.0, "small": 30.0, "least": 40.0})
    plan, _ = choose(wish, dict.fromkeys(LARGE, Grade.INT8), INT8_LADDER, make)
    assert plan == {"large": Grade.WEIGHTS_INT8, "small": Grade.INT8, "least": Grade.INT8}


def test_a_small_layer_whose_weights_are_too_noisy_gets_finer_ones_and_the_large_one_does_not(tmp_path: Path) -> None:
    wish = order(tmp_path, network(), Budget(min_snr_db=25), search=True)
    noise = {"large": 30.0, "small": 10.0, "least": 40.0}
    plan, tried = choose(wish, dict.fromkeys(LARGE, Grade.INT8), INT8_LADDER, additive(noise, noise))
    assert plan == {"large": Grade.INT8, "small": Grade.WEIGHTS_FP16, "least": Grade.INT8}
    assert tried.alone[Grade.INT8] == pytest.approx(noise)


def test_where_weights_cannot_be_stored_alone_the_noisiest_of_all_is_kept(tmp_path: Path) -> None:
    """By the bytes that it saves the large layer comes last, and every other one would be kept before it."""
    wish = order(tmp_path, network(), Budget(min_snr_db=25), search=True)
    noise = {"large": 10.0, "small": 30.0, "least": 40.0}
    plan, _ = choose(wish, dict.fromkeys(LARGE, Grade.INT8), INT8_OR_FLOAT32, additive(noise, noise))
    assert [layer for layer, grade in plan.items() if grade is Grade.FLOAT32] == ["large"]


def test_a_budget_that_nothing_below_float32_keeps_is_refused_with_the_layer_that_costs_most(tmp_path: Path) -> None:
    wish = order(tmp_path, network(), Budget(min_snr_db=150), search=True)
    with pytest.raises(
        ModelError, match=r"no layer can be below float32 .*: (one|two), which costs most, alone leaves"
    ):
        plugin.write(wish)


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    small, better, worse = candidate(10, 30.0), candidate(20, 35.0), candidate(21, 34.0)
    assert front([worse, better, small]) == [small, better]


def candidate(size: int, snr_db: float, speed: float | None = None) -> Candidate:
    return Candidate({}, size, {"y": 10 ** (-snr_db / 10)}, speedup=speed)


def test_a_program_without_layers_is_refused(tmp_path: Path) -> None:
    content = made(model([helper.make_node("Relu", ["x"], ["y"])], {"x": [None, 16]})).content
    with pytest.raises(ModelError, match="no convolution and no matrix product"):
        plugin.write(order(tmp_path, content))


def test_codes_are_proven_to_be_the_weights_rounded(tmp_path: Path) -> None:
    details, _ = written(tmp_path)
    low, plain = artifact(tmp_path, "onnx-int8", details), artifact(tmp_path, "onnx", {})
    found = prove_rounded(low, plain, tmp_path)
    assert (found.outcome, found.elements) == (Outcome.MATCH, FIRST.size + SECOND.size)


def test_one_code_that_is_off_by_one_is_found(tmp_path: Path) -> None:
    details, content = written(tmp_path)
    changed = onnx.load_from_string(content)
    name = details["layers"]["two"]["codes"]  # type: ignore[index]
    stored = next(one for one in changed.graph.initializer if one.name == name)
    codes = numpy_helper.to_array(stored).copy()
    codes[0, 0] += 1 if codes[0, 0] < 0 else -1
    stored.CopyFrom(numpy_helper.from_array(codes, name))
    (tmp_path / "onnx-int8/model.onnx").write_bytes(changed.SerializeToString())
    low, plain = artifact(tmp_path, "onnx-int8", details), artifact(tmp_path, "onnx", {})
    found = prove_rounded(low, plain, tmp_path)
    assert found.outcome is Outcome.MISMATCH
    assert "the weight of two" in found.reason


def test_steps_so_coarse_that_zeros_are_any_weight_are_found(tmp_path: Path) -> None:
    details, content = written(tmp_path)
    changed = onnx.load_from_string(content)
    layer = details["layers"]["two"]  # type: ignore[index]
    for stored in changed.graph.initializer:
        value = numpy_helper.to_array(stored)
        if stored.name == layer["codes"]:
            stored.CopyFrom(numpy_helper.from_array(np.zeros_like(value), stored.name))
        elif stored.name == layer["scales"]:
            stored.CopyFrom(numpy_helper.from_array(np.full_like(value, 1e9), stored.name))
    (tmp_path / "onnx-int8/model.onnx").write_bytes(changed.SerializeToString())
    low, plain = artifact(tmp_path, "onnx-int8", details), artifact(tmp_path, "onnx", {})
    found = prove_rounded(low, plain, tmp_path)
    assert found.outcome is Outcome.MISMATCH and "is less than 31 steps" in found.reason


@pytest.mark.parametrize(("size", "outcome"), [(1e-38, Outcome.MATCH), (1e-4, Outcome.MATCH)])
def test_a_channel_that_is_dead_or_faint_is_rounded_rightly(tmp_path: Path, size: float, outcome: Outcome) -> None:
    """The quantizer takes no step as small as the channels that training has switched off (as in PP-OCRv4)."""
    second = SECOND.copy()
    second[:, 3] *= size
    nodes = [
        constant("one.w_0", FIRST),
        constant("two.w_0", second),
        helper.make_node("MatMul", ["x", "one.w_0"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "two.w_0"], ["y"]),
    ]
    details = dict(plugin.write(order(tmp_path, made(model(nodes, {"x": [None, 16]})).content)))
    low, plain = artifact(tmp_path, "onnx-int8", details), artifact(tmp_path, "onnx", {})
    assert prove_rounded(low, plain, tmp_path).outcome is outcome


@pytest.mark.parametrize("key", ["codes", "scales", "axis"])
def test_a_layer_that_the_manifest_describes_wrong_is_damage_and_no_bug(tmp_path: Path, key: str) -> None:
    details, _ = written(tmp_path)
    layers = {**details["layers"], "two": {**details["layers"]["two"], key: "nothing"}}  # type: ignore[index, dict-item]
    low, plain = artifact(tmp_path, "onnx-int8", {**details, "layers": layers}), artifact(tmp_path, "onnx", {})
    found = prove_rounded(low, plain, tmp_path)
    assert found.outcome is Outcome.CRASHED and "two is not described as the files have it" in found.reason


def test_a_rounded_weight_that_no_layer_is_said_to_have_is_told(tmp_path: Path) -> None:
    details, _ = written(tmp_path)
    layers = {name: about for name, about in details["layers"].items() if name != "two"}  # type: ignore[union-attr]
    low, plain = artifact(tmp_path, "onnx-int8", {**details, "layers": layers}), artifact(tmp_path, "onnx", {})
    found = prove_rounded(low, plain, tmp_path)
    assert found.outcome is Outcome.MISMATCH and "no layer is said to be rounded to it" in found.reason


def test_a_file_that_holds_no_layer_of_the_manifest_proves_nothing(tmp_path: Path) -> None:
    details, _ = written(tmp_path)
    low = replace(artifact(tmp_path, "onnx-int8", details), details={})
    assert prove_rounded(low, artifact(tmp_path, "onnx", {}), tmp_path).outcome is not Outcome.MATCH


def test_the_front_keeps_what_is_faster_where_speeds_were_measured() -> None:
    small, slow, beaten = candidate(10, 30.0, 1.5), candidate(20, 35.0, 1.1), candidate(20, 29.0, 1.4)
    assert front([slow, beaten, small]) == [small, slow]
    assert front([slow, replace(beaten, speedup=2.0), small]) == [small, slow, replace(beaten, speedup=2.0)]


def test_speeds_are_told_where_they_are_asked_for_and_choose_nothing(tmp_path: Path) -> None:
    budget = Budget(min_snr_db=noise(written(tmp_path / "plain")[1]) + 0.2)
    found = {}
    for timed in (False, True):
        place = tmp_path / str(timed)
        found[timed] = dict(plugin.write(order(place, network(), budget, search=True, timed=timed)))
    files = [(tmp_path / str(timed) / "onnx-int8/model.onnx").read_bytes() for timed in (False, True)]
    assert files[0] == files[1]
    assert "timed_on" not in found[False] and not any("speedup" in one for one in found[False]["front"])
    assert found[True]["timed_on"]["threads"] == 1 and "abilities" in found[True]["timed_on"]
    assert all(one["speedup"] > 0 for one in found[True]["front"])


def test_speed_is_the_ratio_of_what_calls_take(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def takes(seconds: float) -> Callable[[], None]:
        return lambda: clock.__setitem__(0, clock[0] + seconds)

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    assert speedup(takes(0.004), takes(0.001)) == pytest.approx(4)
    assert speedup(takes(0.5), takes(2.0)) == pytest.approx(0.25)
