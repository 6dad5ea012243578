"""What the files store, through the command line: overwritten under every digest made right again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import ExitCode
from exporter.export.lower.stored import stored_digests
from tests import faults
from tests.command import exporter


def weights_claim(bundle: Path, variant: str) -> dict[str, Any]:
    """Verify what the files store of a variant, and nothing that runs; the digests of its files are made right."""
    path = bundle / "manifest.json"
    content = json.loads(path.read_bytes())
    recorded = content["variants"][variant]
    recorded["weights"] = stored_digests(recorded["files"], bundle)
    path.write_text(json.dumps(content))
    faults.reseal(bundle)
    engine = "onnxruntime" if variant == "onnx" else "jit_load"
    done = exporter("verify", bundle, "--json", "--engines", engine, cwd=bundle.parent)
    checks = [one for one in done.json()["checks"] if (one["kind"], one["format"]) == ("weights", variant)]
    (claim,) = checks
    assert (claim["outcome"] == "match") == (done.code == 0) or done.code == ExitCode.REFUSED
    return claim


def test_sound_ones_are_proven_by_name_and_folded_ones_are_computed_again(digits: Path, tmp_path: Path) -> None:
    claim = weights_claim(faults.copied(digits, tmp_path / "copy"), "onnx")
    assert claim["outcome"] == "match" and claim["bit_equal"]
    assert "folded out of trained ones, computed again" in claim["reason"]
    assert "not computed again" not in claim["reason"] and "traced to nothing" not in claim["reason"]


def test_all_but_one_of_onnx_are_scaled(digits: Path, tmp_path: Path) -> None:
    copy = faults.copied(digits, tmp_path / "copy")
    path = copy / "onnx/model.onnx"
    for place in range(len(faults.float_weights(path)) - 1):
        faults.scale_tensor(path, place, 1.5)
    claim = weights_claim(copy, "onnx")
    assert claim["outcome"] == "mismatch" and "are not what was" in claim["reason"]


@pytest.mark.parametrize("factor", [1.0001, 1.5])
def test_only_one_that_a_norm_was_folded_into(digits: Path, tmp_path: Path, factor: float) -> None:
    """It is none of the trained tensors, so only computing it again tells."""
    copy = faults.copied(digits, tmp_path / "copy")
    path = copy / "onnx/model.onnx"
    content = json.loads((copy / "manifest.json").read_bytes())
    folded = content["variants"]["onnx"]["details"]["folded"]
    names = [weight.name for weight in faults.float_weights(path)]
    place = next(at for at, name in enumerate(names) if name.endswith(".folded") and name in folded)
    faults.scale_tensor(path, place, factor)
    claim = weights_claim(copy, "onnx")
    assert claim["outcome"] == "mismatch"
    assert f"'{names[place]}'" in claim["reason"] and "folded out of trained ones" in claim["reason"]


@pytest.mark.parametrize("variant", ["pir", "pdmodel"])
def test_half_of_them_are_overwritten_by_other_trained_ones(digits: Path, tmp_path: Path, variant: str) -> None:
    """Every tensor of one shape becomes the first of that shape: each is one of the layer's, in another's place."""
    copy = faults.copied(digits, tmp_path / "copy")
    path = copy / variant / "model.pdiparams"
    first: dict[tuple[int, ...], Any] = {}
    overwritten = 0
    for weight in faults.float_weights(path):
        value = weight.array(path.read_bytes())
        before = first.setdefault(weight.shape, value)
        if before is not value and (before != value).any():
            faults._change(path, weight, lambda _, before=before: before)
            overwritten += 1
    assert overwritten >= 3
    claim = weights_claim(copy, variant)
    assert (
        claim["outcome"] == "mismatch" and f"{overwritten} stored tensors are not what was trained" in claim["reason"]
    )
