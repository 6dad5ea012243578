"""`exporter drill` on the released digits: real files, real engines, through the command line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.tensors import load
from exporter.bundle.drill.fault import FAMILIES, Fault
from exporter.bundle.drill.material import PROGRAMS
from exporter.bundle.drill.run import Room, Wish
from exporter.bundle.layout import GOLDEN
from exporter.bundle.open import open_bundle
from exporter.process.workers import Setting
from tests.command import contents, exporter, refused
from tests.faults import copied, flip_bit, reseal, zero_tensor

FAULTS = 72


@pytest.fixture(scope="module")
def work(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder in which the digits were trained, for commands that look for their code and checkpoints."""
    place = tmp_path_factory.mktemp("drill") / "work"
    shutil.copytree(released, place, ignore=shutil.ignore_patterns("artifacts"))
    return place


@pytest.fixture(scope="module")
def told(digits: Path, work: Path) -> Any:
    before = contents(digits)
    arguments = ("--faults", str(FAULTS), "--through-verify", "2", "--source", ".", "--json")
    done = exporter("drill", digits, *arguments, cwd=work)
    assert done.code == 0, done.out + done.err
    assert contents(digits) == before, "the bundle itself is never touched"
    return done.json()


def test_every_fault_in_the_digits_is_caught_or_harmless(told: Any) -> None:
    assert told["planted"] == FAULTS == len(told["faults"]) == told["caught"] + told["equivalent"]
    assert told["survived"] == []
    assert told["notes"] == [], "every engine was looked into as well, and raised no alarm without a fault"
    for fault in told["faults"]:
        harmless = fault["fate"] == "equivalent"
        assert harmless == (not fault["proofs"])
        assert not harmless or fault["effect"] <= 1


def test_all_families_are_planted_in_all_formats(told: Any) -> None:
    planted = {(fault["variant"], fault["fault"].partition(":")[0]) for fault in told["faults"]}
    assert planted == {(variant, family) for variant in PROGRAMS.names() for family in FAMILIES.names()}


def test_what_needs_a_proof_of_its_own_is_caught_by_it(told: Any) -> None:
    def proofs(kind: str, variant: str) -> set[str]:
        (one,) = [x for x in told["faults"] if x["variant"] == variant and f": {kind}: " in x["fault"]][:1]
        return set(one["proofs"])

    for variant in PROGRAMS.names():
        assert proofs("zeroed", variant) >= {"parameters", "error ratio"}
        assert proofs("half inside", variant) >= {"error ratio"}
        assert proofs("output renamed", variant) >= {"declared", "interface"}
        assert "declared" in proofs("batch declared frozen", variant)
        assert proofs("batch cut", variant) >= {"interface"}
        assert proofs("older checkpoint", variant) >= {"parameters", "error ratio"}
        assert proofs("noise", variant) & {"error ratio", "bits"}
    for variant in ("pir", "pdmodel"):
        assert proofs("zeroed", variant) >= {"bits"}
        assert proofs("wrong from the second run", variant) >= {"error ratio"}


def test_verify_says_the_same(told: Any) -> None:
    assert told["through_verify"] == {"asked": 2, "disagree": []}


def test_without_the_recorded_digests_only_the_outputs_tell(digits: Path, work: Path) -> None:
    arguments = ("--faults", "12", "--formats", "onnx", "--reseal-parameters", "--through-verify", "1", "--json")
    arguments = (*arguments, "--source", ".")
    done = exporter("drill", digits, *arguments, cwd=work)
    told = done.json()
    assert told["planted"] == 12
    assert "parameters" not in told["by_proof"]
    assert told["by_proof"]["error ratio"] > 4
    assert told["through_verify"] == {"asked": 1, "disagree": []}


@pytest.mark.parametrize("variant", PROGRAMS.names())
def test_the_measured_effect_is_what_arithmetic_says(digits: Path, variant: str) -> None:
    """The last bias moves one logit by 1 %, and each row by as much: no run is needed to know the effect."""
    bundle = open_bundle(digits)
    room = Room(bundle, variant, Wish(faults=1, seed=0), Setting())
    findings, answer = room.measure({7: Fault("parameters", "one element +1 %", "linear_0.b_0", variant, 0)})
    assert answer.why_not == ""
    smallest = min(bundle.manifest.cases, key=lambda case: case.dims["batch"])
    facts, truth = smallest.outputs["logits"], load(digits / GOLDEN)[f"{smallest.name}/truth/logits"]
    bias = np.abs(load_bias(bundle.folder))
    by_max = 0.01 * bias / np.abs(truth).max() / facts.e_ref_max
    by_l2 = 0.01 * bias / np.sqrt(np.square(truth).sum() / smallest.dims["batch"]) / facts.e_ref_l2
    expected = np.maximum(by_max, by_l2)
    assert np.isclose(expected, findings[7].effect, rtol=1e-4).any(), (expected, findings)


def load_bias(bundle: Path) -> np.ndarray:
    from exporter.base.readers import named_parameters

    return named_parameters(bundle / "pir/model.json", bundle / "pir/model.pdiparams")["linear_0.b_0"]


def test_a_bundle_that_does_not_pass_itself_is_not_drilled(digits: Path, work: Path, tmp_path: Path) -> None:
    bundle = copied(digits, tmp_path / "bundle")
    zero_tensor(bundle / "onnx/model.onnx")
    reseal(bundle)
    done = exporter("drill", bundle, "--formats", "onnx", "--faults", "3", cwd=work)
    refused(done, 2, "onnx does not pass by onnxruntime itself", "exporter verify")


def test_a_damaged_bundle_is_not_drilled(digits: Path, work: Path, tmp_path: Path) -> None:
    bundle = copied(digits, tmp_path / "bundle")
    flip_bit(bundle / "onnx/model.onnx", 999)
    refused(exporter("drill", bundle, cwd=work), 5, "onnx/model.onnx")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--formats", "pir,tflite"], "no format 'tflite'"),
        (["--engines", "onnxrumtime"], "onnxruntime"),
        (["--engines", "onnxruntime", "--formats", "pir"], "onnxruntime"),
        (["--faults", "0"], "--faults"),
        (["--device", "tpu"], "tpu"),
    ],
)
def test_a_wrong_wish_is_refused(digits: Path, work: Path, arguments: list[str], said: str) -> None:
    refused(exporter("drill", digits, *arguments, cwd=work), 2, said)
