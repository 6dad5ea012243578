"""The proof by content as a whole: against the checkpoint where it is at hand, and each variant by its precision."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from exporter.base.numbers.norms import SMALLEST_SCALE
from exporter.base.tensors import Array, digest, save
from exporter.export.lower.base import Artifact
from exporter.export.lower.stored import stored_digests
from exporter.prove.proofs.kinds.weights import FEWEST_STEPS, HALF_STEP, _not_rounded, plugin, prove_rounded
from exporter.prove.verdict.claim import Evidence, Outcome
from exporter.prove.verdict.plan import Run
from tests.prove.proofs.subjects import LOW, PLAIN, claim, harness, subject
from tests.prove.proofs.test_trained import PARTS, folded  # noqa: F401 - a fixture
from tests.prove.proofs.test_weights import TRAINED, VALUES, stored

CLAIM, HALF = claim("weights", PLAIN, engine=""), claim("weights", Run("onnx", "fp16", "onnxruntime"), engine="")


def proved(*artifacts: Artifact, folder: Path, one: Any = CLAIM, **more: Any) -> Evidence:
    of = subject(*artifacts, folder=folder, **{"parameters": TRAINED, **more})
    (found,) = plugin.prove([one], harness(of)).values()
    return found


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "w.safetensors"
    save(path, {f"layer.{name}": value for name, value in VALUES.items()})
    return path


def test_without_digests_of_the_layer_nothing_is_proven(tmp_path: Path) -> None:
    found = proved(stored(tmp_path, VALUES), folder=tmp_path, parameters={})
    assert (found.outcome, found.stage) == (Outcome.MISSING, "plan")
    assert found.reason == "the bundle does not record which tensors the layer has"


@pytest.mark.parametrize("format", ["onnx", "pdmodel", "pir"])
def test_only_a_layer_that_is_said_to_be_stateless_promises_no_tensors(format: str) -> None:
    """Its files may hold constants, and a filler for the predictor. Of which nothing is said may have been stripped.

    A layer may have tensors that its program does not read; one that a file stores is read.
    """
    constant, own = {"const.1": "of a writer"}, {"const.1": "of a writer", "w": TRAINED["layer.a"]}
    said: dict[str, Any] = {"stateless": True}
    for details, parameters, weights, planned in (
        (said, {}, constant, 0),
        (said, TRAINED, constant, 0),
        (said, TRAINED, {}, 0),
        (said, TRAINED, own, 1),
        ({}, {}, constant, 1),
        ({}, TRAINED, {}, 1),
    ):
        held = Artifact(format, "fp32", ("m",), ("x",), ("y",), ("y",), details, weights)
        of = harness(subject(held, parameters=parameters))
        assert len(plugin.plan(of)) == planned * len(of.variants)


@pytest.mark.parametrize(
    ("held", "planned"),
    [
        ({("onnx", "fp32"): True, ("onnx", "fp16"): False}, False),
        ({("onnx", "fp32"): True, ("pir", "fp32"): False}, True),
        ({("onnx", "fp16"): False}, True),
    ],
)
def test_a_layer_is_stateless_if_all_its_files_in_full_precision_are(
    held: dict[tuple[str, str], bool], planned: bool
) -> None:
    """What is computed from such a file has constants, too, and says nothing of the layer."""
    said = {True: {"stateless": True}, False: dict[str, Any]()}
    files = (
        Artifact(*variant, ("m",), ("x",), ("y",), ("y",), said[stateless], {"const.1": "of a writer"})
        for variant, stateless in held.items()
    )
    assert bool(plugin.plan(harness(subject(*files, parameters={})))) == planned


def test_the_digests_are_those_of_the_checkpoint_where_it_is_at_hand(tmp_path: Path, checkpoint: Path) -> None:
    artifact = stored(tmp_path, VALUES)
    assert proved(artifact, folder=tmp_path, checkpoint=checkpoint).outcome is Outcome.MATCH and plugin.reads
    for wrong in ({**TRAINED, "layer.b": TRAINED["layer.a"]}, {"layer.a": TRAINED["layer.a"]}):
        found = proved(artifact, folder=tmp_path, checkpoint=checkpoint, parameters=wrong)
        assert found.outcome is Outcome.MISMATCH
        said = f"{1 if len(wrong) > 1 else 2} tensors are recorded otherwise than the checkpoint has them, as 'layer.b'"
        assert found.reason == said
        away = proved(artifact, folder=tmp_path, checkpoint=checkpoint, parameters=wrong, no_source="it is not here")
        assert "recorded otherwise" not in away.reason


def test_a_checkpoint_that_cannot_be_read_is_a_crash(tmp_path: Path, checkpoint: Path) -> None:
    checkpoint.write_bytes(checkpoint.read_bytes()[:50])
    found = proved(stored(tmp_path, VALUES), folder=tmp_path, checkpoint=checkpoint)
    assert (found.outcome, found.stage) == (Outcome.CRASHED, "load")
    assert found.reason.startswith("the checkpoint cannot be read: ")


def test_what_changed_since_it_was_written_is_told_first(tmp_path: Path) -> None:
    artifact = stored(tmp_path, VALUES)
    stored(tmp_path, {**VALUES, "a": VALUES["b"]})
    assert proved(artifact, folder=tmp_path).reason == "1 tensors are not the released ones, as 'a'"


def test_a_variant_in_low_precision_is_compared_with_the_one_in_full(tmp_path: Path) -> None:
    plain = stored(tmp_path, VALUES)
    halves = {name: value.astype("float16") for name, value in VALUES.items()}
    low = stored(tmp_path, halves, "onnx-fp16", precision="fp16")
    found = proved(plain, low, folder=tmp_path, one=HALF)
    assert (found.outcome, found.elements, found.provider) == (Outcome.MATCH, 18, "by content")
    alone = proved(low, folder=tmp_path, one=HALF)
    assert (alone.outcome, alone.stage) == (Outcome.MISSING, "plan")
    off = stored(tmp_path, {**halves, "c": halves["c"] * 2}, "onnx-fp16", precision="fp16")
    assert proved(plain, off, folder=tmp_path, one=HALF).outcome is Outcome.MISMATCH


class TestParts:
    """What was folded is computed again from what the checkpoint, or another variant, has of its parts."""

    NONE = "2 folded out of trained ones, not computed again"
    AGAIN = "2 folded out of trained ones, computed again"

    def held(self, folder: Path, names: str, place: str = "pir", **more: Any) -> Artifact:
        values = {name: PARTS[name].astype("float32") for name in names}
        return replace(stored(folder, values, place, format=place), **more)

    def test_of_the_checkpoint(self, folded: Any, tmp_path: Path) -> None:  # noqa: F811
        artifact, trained = folded
        path = tmp_path / "w.safetensors"
        save(path, {name: value.astype("float32") for name, value in PARTS.items()})
        found = proved(artifact, folder=tmp_path, parameters=trained, checkpoint=path)
        assert self.AGAIN in found.reason and found.bit_equal
        assert self.NONE in proved(artifact, folder=tmp_path, parameters=trained).reason
        away = proved(artifact, folder=tmp_path, parameters=trained, checkpoint=path, no_source="it is not here")
        assert self.NONE in away.reason

    def test_of_another_variant_in_full_precision(self, folded: Any, tmp_path: Path) -> None:  # noqa: F811
        artifact, trained = folded
        beside = self.held(tmp_path, "wabmv")
        assert self.AGAIN in proved(artifact, beside, folder=tmp_path, parameters=trained).reason
        low = replace(beside, precision="int8", files=("pir-int8/model.onnx",))
        (tmp_path / "pir-int8").mkdir()
        (tmp_path / "pir-int8/model.onnx").write_bytes((tmp_path / "pir/model.onnx").read_bytes())
        assert self.NONE in proved(artifact, low, folder=tmp_path, parameters=trained).reason
        silent = replace(beside, weights={})
        assert self.NONE in proved(artifact, silent, folder=tmp_path, parameters=trained).reason

    def test_what_its_parts_do_not_give_is_a_mismatch(self, folded: Any, tmp_path: Path) -> None:  # noqa: F811
        """Every digest is made right again, so that nothing but the arithmetic shows it."""
        artifact, trained = folded
        path = tmp_path / artifact.main
        model, sound = onnx.load(path), onnx.load(path)
        stored = next(tensor for tensor in model.graph.initializer if tensor.name == "w.folded")
        wrong = numpy_helper.to_array(stored).copy()
        wrong.flat[1] += 0.5
        stored.CopyFrom(numpy_helper.from_array(wrong, "w.folded"))
        onnx.save(model, path)
        resealed = replace(artifact, weights=stored_digests(artifact.files, tmp_path))
        checkpoint = tmp_path / "w.safetensors"
        save(checkpoint, {name: value.astype("float32") for name, value in PARTS.items()})
        found = proved(resealed, folder=tmp_path, parameters=trained, checkpoint=checkpoint)
        assert found.outcome is Outcome.MISMATCH
        assert found.reason == "1 stored tensors are not what was folded out of trained ones, as 'w.folded'"
        computed = replace(resealed, details={**resealed.details, "computed": ["w.folded", "another"]})
        found = proved(computed, folder=tmp_path, parameters=trained, checkpoint=checkpoint)
        assert found.outcome is Outcome.MATCH and "1 folded out of trained ones, not computed again" in found.reason
        right = replace(artifact, details={**artifact.details, "computed": ["w.folded", "another"]})
        onnx.save(sound, path)
        found = proved(right, folder=tmp_path, parameters=trained, checkpoint=checkpoint)
        assert self.AGAIN in found.reason, "what a fold gives all the same is computed again"

    def test_of_both_together(self, folded: Any, tmp_path: Path) -> None:  # noqa: F811
        artifact, trained = folded
        some, others = self.held(tmp_path, "wab"), self.held(tmp_path, "mv", "pdmodel")
        assert self.NONE in proved(artifact, some, folder=tmp_path, parameters=trained).reason
        assert self.AGAIN in proved(artifact, some, others, folder=tmp_path, parameters=trained).reason
        path = tmp_path / "w.safetensors"
        save(path, {name: PARTS[name].astype("float32") for name in "mv"})
        assert self.AGAIN in proved(artifact, some, folder=tmp_path, parameters=trained, checkpoint=path).reason


class TestRounded:
    """Codes of a layer of two output channels and three inputs; a step of 1 unless it is said."""

    WEIGHT = np.array([[40.0, -3.0, 7.0], [100.0, 0.0, -50.0]])

    def judged(self, weight: Array, codes: Array, scales: Array, axis: int = 0) -> str:
        layer = {"weight": "w", "codes": "c", "scales": "s", "axis": axis}
        return _not_rounded({"w": weight}, {"c": codes, "s": scales}, layer)

    def codes(self, weight: Array) -> Array:
        return np.rint(weight).astype("int8")

    @pytest.mark.parametrize(("off", "said"), [(0.0, ""), (0.49, ""), (0.51, "it is off by 0.51 steps")])
    def test_every_code_is_the_nearest(self, off: float, said: str) -> None:
        weight = self.WEIGHT.copy()
        weight[1, 2] += off
        assert self.judged(weight, self.codes(self.WEIGHT), np.ones(2)) == said
        assert self.judged(weight * 0.25, self.codes(self.WEIGHT), np.full(2, 0.25)) == said
        assert self.judged(weight, self.codes(self.WEIGHT), np.ones(1)) == said

    def test_half_a_step_and_what_float32_adds_to_it_is_the_nearest(self) -> None:
        assert pytest.approx(0.50005) == HALF_STEP
        for off, said in ((0.50004, ""), (0.5002, "it is off by 0.50 steps")):
            assert self.judged(self.WEIGHT + np.array([0.0, off, 0.0]), self.codes(self.WEIGHT), np.ones(2)) == said
        just = np.array([[40.0, HALF_STEP, -3.0]])
        assert self.judged(just, self.codes(np.array([[40.0, 0.0, -3.0]])), np.ones(1)) == ""

    def test_a_weight_without_scales_is_fp16(self) -> None:
        layer, half = {"weight": "w", "codes": "c", "scales": ""}, self.WEIGHT.astype("float16")
        exact = {"w": self.WEIGHT.astype("float32")}
        assert _not_rounded(exact, {"c": half}, layer) == ""
        assert _not_rounded(exact, {"c": half * 2}, layer) == "it is not the nearest fp16"
        wide = _not_rounded(exact, {"c": half.astype("float32")}, layer)
        assert wide == "it has no scales, and is not fp16, but float32"

    def test_codes_have_8_bits_and_numbers(self) -> None:
        wide = self.codes(self.WEIGHT).astype("int16")
        assert self.judged(self.WEIGHT, wide, np.ones(2)) == "its codes are int16, and not of 8 bits"
        assert self.judged(self.WEIGHT * np.nan, self.codes(self.WEIGHT), np.ones(2)) == "it is off by nan steps"

    @pytest.mark.parametrize(("largest", "coarse"), [(31.0, False), (30.9, True), (300.0, False)])
    def test_the_largest_of_a_channel_is_31_steps(self, largest: float, coarse: bool) -> None:
        said = f"its largest number is less than {FEWEST_STEPS} steps" if coarse else ""
        assert FEWEST_STEPS == 31
        weight = np.array([[127.0, 3.0, -4.0], [largest, 1.0, 2.0]]) * [[1.0], [0.25]]
        codes = np.clip(np.rint(weight / [[1.0], [0.25]]), -128, 127).astype("uint8" if largest > 200 else "int8")
        weight = codes * np.array([[1.0], [0.25]]) if largest > 200 else weight
        assert self.judged(weight, codes, np.array([1.0, 0.25])) == said
        turned = self.judged(weight.T, codes.T, np.array([1.0, 0.25]), axis=1)
        assert turned == said

    def test_a_channel_of_zeros_has_any_step_and_one_step_for_all_is_of_all(self) -> None:
        silent = np.array([[0.0, 0.0, 0.0], [100.0, 0.0, -50.0]])
        assert self.judged(silent, self.codes(silent), np.array([7.0, 1.0])) == ""
        small = np.array([[2.0, 1.0, 0.0], [100.0, 0.0, -50.0]])
        assert self.judged(small, self.codes(small), np.ones(1)) == "", "one step for all channels"
        assert self.judged(small, self.codes(small), np.ones(2)).startswith("its largest number")
        for largest, said in ((1.0, ""), (1.05, "its largest number is less than 31 steps")):
            dead = np.array([[largest, 0.0, 0.0]]) * SMALLEST_SCALE
            assert self.judged(dead, self.codes(dead / SMALLEST_SCALE), np.array([largest * SMALLEST_SCALE])) == said
        tiny = np.array([[0.5, 0.25, 0.0]])
        assert self.judged(tiny, np.array([[2, 1, 0]], "int8"), np.array([0.25])).startswith("its largest number")


def test_only_weights_that_full_precision_stores_are_proven(tmp_path: Path) -> None:
    weight = np.array([[127.0, -64.0], [100.0, 31.0]], "float32")
    plain = stored(tmp_path, {"w": weight, "z": weight})
    values = {"w.codes": weight.astype("int8"), "w.scales": np.ones(2, "float32"), "z": weight}
    layers = {
        "one": {"weight": "w", "codes": "w.codes", "scales": "w.scales", "axis": 0},
        "two": {"weight": "w.folded", "codes": "gone", "scales": "gone", "axis": 0},
    }
    low = stored(tmp_path, values, "onnx-int8", precision="int8", details={"layers": layers})
    found = prove_rounded(low, plain, tmp_path)
    assert (found.outcome, found.elements, found.provider) == (Outcome.MATCH, 4, "by content")
    assert found.reason.startswith("4 of 10 stored numbers are fp32's weights, rounded")
    twice = replace(low, details={"layers": {**layers, "three": layers["one"]}})
    assert prove_rounded(twice, plain, tmp_path).elements == 8
    without = {"layers": {"two": layers["two"]}}
    found = prove_rounded(replace(low, details=without), plain, tmp_path)
    assert found.outcome is Outcome.MISMATCH
    assert found.reason == "tensor 'w.codes' is int8, and no layer is said to be rounded to it"
    table = {"table": weight.astype("int8"), "zeros": weight.astype("int8")}
    whole = stored(tmp_path, {"w": weight, "z": weight, **table})
    beside = stored(tmp_path, {**values, **table}, "onnx-int8", precision="int8", details=low.details)
    assert prove_rounded(beside, whole, tmp_path).outcome is Outcome.MATCH, "full precision has them as well"
    for before in ({}, {"table": weight}):
        plain = stored(tmp_path, {"w": weight, "z": weight, **before})
        found = prove_rounded(beside, plain, tmp_path)
        assert found.reason == "tensor 'table' is int8, and no layer is said to be rounded to it"
    plain = stored(tmp_path, {"w": weight, "z": weight})
    activated = replace(beside, details={**low.details, "activations": "int8"})
    assert prove_rounded(activated, plain, tmp_path).outcome is Outcome.MATCH, "constants that layers take are rounded"
    low = stored(tmp_path, values, "onnx-int8", precision="int8", details={"layers": layers})
    off = replace(low, details={"layers": {"one": {**layers["one"], "scales": "z"}}})
    found = prove_rounded(off, plain, tmp_path)
    assert (found.outcome, found.stage) == (Outcome.CRASHED, "load")
    assert found.reason.startswith("one is not described as the files have it: ValueError")
    twisted = stored(tmp_path, {**values, "w.codes": values["w.codes"] + np.int8(1)}, "onnx-int8", precision="int8")
    found = prove_rounded(replace(twisted, details=low.details), plain, tmp_path)
    assert found.outcome is Outcome.MISMATCH
    assert found.reason == "the weight of one is not fp32's rounded: it is off by 255.00 steps"
    assert digest(weight) == plain.weights["w"] and LOW.precision == low.precision
    none = stored(tmp_path, {"z": weight}, "onnx-int8", precision="int8", details=without)
    assert prove_rounded(none, plain, tmp_path).outcome is Outcome.VACUOUS
