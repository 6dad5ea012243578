"""A bundle that did not pass is none that did, whatever its manifest states: for every verb that asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import faults
from tests.bundle.trust.material import make_key
from tests.command import contents, exporter, refused

SAID = "its parity.json is not the report of such a release: it says failed, and the manifest passed"
QUICK = ("--rounds", "1", "--seconds", "0.01", "--engines", "onnxruntime", "-q")
PASSED_ONE = {"outcome": "match", "format": "onnx", "precision": "fp32", "engine": "onnxruntime"}


@pytest.fixture
def failed(bundle: Path, tmp_path: Path) -> Path:
    """One run passed, another did not, so that the bundle did not; its manifest says that it passed."""
    copy = faults.copied(bundle, tmp_path / "failed")
    checks = [PASSED_ONE, {**PASSED_ONE, "format": "pir", "engine": "jit_load", "outcome": "mismatch"}]
    (copy / "parity.json").write_text(json.dumps({"verdict": "failed", "planned": 2, "checks": checks}))
    faults.reseal(copy)
    return copy


def test_it_is_not_signed_handed_over_or_packed(failed: Path, tmp_path: Path) -> None:
    key = make_key(tmp_path, "key").private
    before = contents(tmp_path)
    refused(exporter("sign", failed, "--key", key, cwd=tmp_path), 1, SAID, "so it is not signed")
    refused(exporter("handoff", failed, "--to", "plain", "--out", "given", cwd=tmp_path), 1, SAID, "not handed over")
    refused(exporter("pack", failed, cwd=tmp_path), 5, SAID)
    assert contents(tmp_path) == before


def test_it_is_neither_shown_nor_drilled(failed: Path, tmp_path: Path) -> None:
    refused(exporter("inspect", failed, cwd=tmp_path), 5, SAID)
    refused(exporter("inspect", failed / "manifest.json", cwd=tmp_path), 5, SAID)
    refused(exporter("drill", failed, "--faults", "1", "-q", cwd=tmp_path), 5, SAID)


def test_one_that_says_it_failed_is_shown(failed: Path, tmp_path: Path) -> None:
    content = json.loads((failed / "manifest.json").read_bytes())
    faults.reseal(failed, {**content, "verdict": "failed"})
    done = exporter("inspect", failed, cwd=tmp_path)
    assert done.code == 0 and "  verdict   failed, " in done.out


def test_it_does_not_take_the_place_of_another(failed: Path, bundle: Path, tmp_path: Path) -> None:
    done = exporter("diff", bundle, failed, cwd=tmp_path)
    assert done.code == 1 and done.out.splitlines()[-1] == f"INCOMPATIBLE: of the new bundle, {SAID}"
    assert "exporter verify " in done.err
    itself = exporter("diff", failed, failed, cwd=tmp_path)
    assert itself.code == 1 and f"INCOMPATIBLE: of the new bundle, {SAID}" in itself.out


@pytest.mark.parametrize("honest", [False, True])
def test_it_is_timed_and_nothing_in_it_is_called_passed(failed: Path, tmp_path: Path, honest: bool) -> None:
    said = SAID
    if honest:
        content = json.loads((failed / "manifest.json").read_bytes())
        faults.reseal(failed, {**content, "verdict": "failed"})
        said = "its verdict is failed"
    done = exporter("bench", failed, *QUICK, cwd=tmp_path)
    lines = done.out.splitlines()
    assert done.code == 0 and f"note: the bundle did not pass: {said}" in lines
    assert lines[-1] == "no winner: none of these runs has a verdict that it passed; see exporter verify"
    told = exporter("bench", failed, *QUICK, "--json", cwd=tmp_path).json()
    assert told["winner"] is None and [one["proof"] for one in told["standings"]] == ["held"]
