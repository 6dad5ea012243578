"""The claim that no pair of products overflows: from the file alone, and the same on every CPU but for what it asks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exporter.base import machine
from exporter.export.lower.base import Artifact
from exporter.export.lower.precision.kernels import Kernel, kernels
from exporter.export.lower.precision.kinds.int8 import plugin as int8
from exporter.export.lower.precision.saturation import Pairs
from exporter.prove.proofs.kinds.overflow import _told, _worst_first, plugin, prove_pairs
from exporter.prove.proofs.quantisation.noise import LayerNoise, _suffering
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Budget
from tests.export.lower.precision.test_int8 import FIRST, SECOND, artifact, network, order, written
from tests.prove.proofs.subjects import LOW, PLAIN, claim, harness, spec, subject


def file_for(place: Path, cpu: str, **settings: Any) -> Artifact:
    details, _ = written(place, cpu=cpu, **settings)
    return artifact(place, "onnx-int8", details)


@pytest.mark.parametrize("activations", ["uint8", "int8"])
@pytest.mark.parametrize("in_16_bits", [True, False])
def test_what_is_made_for_any_cpu_holds_on_any(tmp_path: Path, activations: str, in_16_bits: bool) -> None:
    made = file_for(tmp_path, "any", activations=activations)
    assert made.details["cpu"] == {"asked": "any", "effective": "any"}
    found, notes = prove_pairs(made, tmp_path, "any", in_16_bits=in_16_bits)
    assert found.outcome is Outcome.MATCH and found.metrics["largest_sum"] <= 32767 and notes == []


def test_what_is_made_for_vnni_fails_without_it_and_says_why_and_what_to_do(tmp_path: Path) -> None:
    made = file_for(tmp_path, "vnni")
    assert made.details["cpu"] == {"asked": "vnni", "effective": "vnni"}
    found, _ = prove_pairs(made, tmp_path, "vnni", in_16_bits=True)
    assert found.outcome is Outcome.MISMATCH and found.metrics["largest_sum"] > 32767
    for words in ("made for CPUs with VNNI, and this one has none", "pmaddubsw", "layers out of 2", "`cpu: any`"):
        assert words in found.reason
    assert "two products of one " in found.reason or "two products of two " in found.reason


def test_what_is_made_for_vnni_holds_with_it_and_a_note_says_so(tmp_path: Path) -> None:
    found, notes = prove_pairs(file_for(tmp_path, "vnni"), tmp_path, "vnni", in_16_bits=False)
    assert found.outcome is Outcome.MATCH
    assert len(notes) == 1 and "is made for CPUs with VNNI" in notes[0]


def test_where_weights_alone_are_low_nothing_is_added_in_pairs(tmp_path: Path) -> None:
    wish = order(tmp_path, network(), Budget(min_snr_db=50), search=True)
    low = artifact(tmp_path, "onnx-int8", dict(int8.write(wish)))
    assert all(layer.get("input", "") == "" for layer in low.details["layers"].values())
    evidence, notes = prove_pairs(low, tmp_path, "any", in_16_bits=True)
    assert (evidence.outcome, evidence.elements, notes) == (Outcome.MATCH, FIRST.size + SECOND.size, [])
    assert evidence.provider == "by arithmetic"
    layers = low.details["layers"]
    mixed = {name: {**layer, "input": "x" if name == min(layers) else ""} for name, layer in layers.items()}
    assert len(layers) > 1
    for details in ({}, {"layers": {"one": {"codes": "gone", "weight": "one.w_0"}}}, {"layers": mixed}):
        evidence, _ = prove_pairs(replace(low, details=details), tmp_path, "any", in_16_bits=True)
        assert evidence.outcome is Outcome.VACUOUS, "nobody says what else is low in it"


@pytest.mark.parametrize("in_16_bits", [True, False])
@pytest.mark.parametrize(
    "details",
    [{"cpu": {"asked": "vnni"}}, {}, {"layers": {"one": {"codes": "one.w_0_quantized"}}}],
    ids=["as the file says", "by other means", "as if weights alone were low"],
)
def test_a_file_that_would_overflow_breaks_the_promise_on_every_cpu(
    tmp_path: Path, details: dict[str, Any], in_16_bits: bool
) -> None:
    made = replace(file_for(tmp_path, "vnni"), details=details)
    found, _ = prove_pairs(made, tmp_path, "any", in_16_bits=in_16_bits)
    assert found.outcome is Outcome.MISMATCH
    assert "two products of one" in found.reason or "two products of two" in found.reason
    assert "`cpu: any` promises that none does" in found.reason


def test_of_a_bundle_each_8_bit_variant_is_judged_by_what_the_spec_promises_and_by_this_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precisions = {"fp32": {}, "int8": {"cpu": "vnni"}}
    of = subject(file_for(tmp_path, "vnni"), of=spec(precisions=precisions), folder=tmp_path)
    own, gone = claim("overflow", engine=""), Claim("pir", "int8", kind="overflow")
    others = [claim(kind, engine="") for kind in ("size", "weights")]
    evidence = dict.fromkeys((gone, *others), Evidence(Outcome.MISSING, "not looked at"))
    made = harness(of, PLAIN, LOW, Run("pir", "int8", "paddle_inference_int8"), evidence=evidence)
    assert plugin.plan(made) == {own, gone} and plugin.reads and plugin.promise
    for in_16_bits, outcome, said in ((False, Outcome.MATCH, 1), (True, Outcome.MISMATCH, 0)):
        monkeypatch.setattr(machine, "adds_in_16_bits", lambda here=in_16_bits: here)
        made.evidence.update(plugin.prove([own], made))
        assert made.evidence[own].outcome is outcome
        assert [note.partition(" is made")[0] for note in plugin.notes(made)] == ["onnx-int8"] * said


def test_a_damaged_file_is_a_crash_of_its_reader(tmp_path: Path) -> None:
    made = file_for(tmp_path, "any")
    (tmp_path / made.main).write_bytes((tmp_path / made.main).read_bytes()[:40])
    found, notes = prove_pairs(made, tmp_path, "any", in_16_bits=False)
    assert (found.outcome, found.stage, notes) == (Outcome.CRASHED, "load", []) and "cannot be read" in found.reason


def test_a_file_without_8_bits_proves_nothing(tmp_path: Path) -> None:
    wish = order(tmp_path, network())
    (wish.into / "model.onnx").write_bytes(network())
    found, _ = prove_pairs(artifact(tmp_path, "onnx-int8", {}), tmp_path, "any", in_16_bits=False)
    assert found.outcome is Outcome.VACUOUS


def test_the_layer_whose_products_are_cut_off_is_blamed_where_they_are() -> None:
    noise = {"noisy": LayerNoise(30.0, None), "cut": LayerNoise(41.5, 12.0)}
    told, here = _suffering(noise, in_16_bits=True)
    assert told == "noisy 30.0 dB, cut 41.5 dB"
    assert here.startswith("the layer that suffers most is cut, at 12.0 dB: this CPU has no VNNI")
    assert _suffering(noise, in_16_bits=False)[1] == "the layer that suffers most is noisy, at 30.0 dB"


@pytest.mark.parametrize(
    ("architecture", "abilities", "limit", "expected"),
    [
        ("x86_64", ["avx2"], "", True),
        ("AMD64", ["avx2", "avx512f"], "", True),
        ("x86_64", ["avx2", "avx_vnni"], "", False),
        ("x86_64", ["avx512f", "avx512_vnni"], "", False),
        ("x86_64", ["avx512f", "avx512_vnni"], "avx2", True),
        ("x86_64", ["avx512f", "avx512_vnni"], "AVX512_CORE_VNNI", False),
        ("aarch64", [], "", False),
    ],
)
def test_only_an_x86_without_vnni_adds_in_16_bits(
    monkeypatch: pytest.MonkeyPatch, architecture: str, abilities: list[str], limit: str, expected: bool
) -> None:
    monkeypatch.setattr(machine.platform, "machine", lambda: architecture)
    monkeypatch.setattr(machine, "cpu", lambda: {"abilities": abilities})
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", limit)
    assert machine.adds_in_16_bits() is expected


@pytest.mark.parametrize(
    ("cpu", "in_16_bits", "outcome"),
    [("any", True, Outcome.MATCH), ("vnni", False, Outcome.MATCH), ("vnni", True, Outcome.MISMATCH)],
)
def test_the_evidence_tells_the_largest_sum_of_all_layers_and_counts_their_channels(
    tmp_path: Path, cpu: str, in_16_bits: bool, outcome: Outcome
) -> None:
    made = file_for(tmp_path, cpu)
    layers = kernels(made.files, tmp_path)
    sums = [max(abs(layer.pairs.highest), abs(layer.pairs.lowest)) for layer in layers]
    assert len(layers) == 2 and (cpu == "any" or len(set(sums)) == 2), "a test in which the order does not show"
    found, _ = prove_pairs(made, tmp_path, cpu, in_16_bits=in_16_bits)
    assert (found.outcome, found.provider) == (outcome, "by arithmetic")
    assert found.metrics == {"largest_sum": float(max(sums))}
    assert found.elements == sum(layer.pairs.total for layer in layers)


def kernel(weight: str, highest: int, lowest: int = 0) -> Kernel:
    return Kernel(weight, Pairs(highest, lowest, channels=int(max(highest, -lowest) > 32767), total=4))


def test_the_worst_layer_is_named_by_the_layers_own_name_and_the_others_are_counted() -> None:
    layers = [kernel("mild", 33_000), kernel("same b", 50_000), kernel("same a", 40_000, -50_000), kernel("fine", 9)]
    worst = _worst_first(layers)
    assert [layer.weight for layer in worst] == ["same a", "same b", "mild"]
    own = {"layers": {"b": {"codes": "same b"}, "a": {"codes": "same a"}}}
    named = Artifact("onnx", "int8", ("model.onnx",), ("x",), ("y",), ("y",), own)
    said = "two products of a (the worst of 3 such layers out of 4) can add up to 50,000,"
    assert _told(worst, 4, named).startswith(said)
    assert _told(worst[2:], 4, named).startswith("two products of mild can add up to 33,000,")
