"""Models beside the digits, by the whole way: what is right passes everywhere, and what proves nothing never passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from exporter.base.errors import ExitCode
from tests.command import exporter


def released(work: Path, text: str, code: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Release a spec; return its manifest and its parity.json, wherever it landed."""
    (work / "net.yaml").write_text(text)
    done = exporter("release", "net.yaml", "--json", cwd=work)
    assert done.code == code, done.out + done.err
    bundle = work / done.json()["bundle"]
    return json.loads((bundle / "manifest.json").read_text()), json.loads((bundle / "parity.json").read_text())


def outcomes(parity: dict[str, Any], output: str) -> set[str]:
    return {one["outcome"] for one in parity["checks"] if one["output"] == output}


def test_two_inputs_two_dims_and_a_dict_of_floats_and_integers(workplace: Path) -> None:
    """Inputs in another order than forward's; outputs keep the names and the order that forward gave them."""
    manifest, parity = released(
        workplace,
        """
name: tagger
version: "1"
model: models.sound:tagger
weights: factory
inputs:
  weight: {dtype: float32, shape: [batch, seq, 4]}
  ids: {dtype: int64, shape: [batch, seq], values: "integers(0,20)"}
dims:
  batch: {min: 1, typical: 3, max: 4}
  seq: {min: 2, typical: 4, max: 9}
""",
        code=0,
    )
    assert [one["name"] for one in manifest["outputs"]] == ["scores", "best", "hidden"]
    assert [one["dtype"] for one in manifest["outputs"]] == ["float32", "int64", "float32"]
    assert {one["engine"] for one in parity["checks"]} >= {"eager", "static", "jit_load", "paddle_inference"}
    for output in ("scores", "best", "hidden"):
        assert outcomes(parity, output) == {"match"}
    for case in (manifest["cases"][0]["name"], f"{manifest['cases'][1]['name']}:again"):
        done = exporter("verify", "artifacts/tagger/1", "--case", case, "--json", cwd=workplace)
        assert done.code == 0, (
            "the other cases' goldens stay the controls of integers, which one case cannot tell apart"
        )
        assert {one["case"].partition(":again")[0].partition(":threads")[0] for one in done.json()["checks"]} >= {
            case.removesuffix(":again")
        }
    sizes = {(case["dims"]["batch"], case["dims"]["seq"]) for case in manifest["cases"]}
    assert sizes >= {(batch, seq) for batch in (1, 3, 4) for seq in (2, 4, 9)}, "each size meets each other"


def test_inputs_are_bound_by_name_though_a_spec_lists_them_in_another_order(workplace: Path) -> None:
    """x − y and y − x differ in sign only: whoever binds by position passes every other check."""
    text = """
name: subtle
version: "1"
model: models.sound:subtle
weights: factory
inputs:
  x: {dtype: float32, shape: [batch, 4]}
  y: {dtype: float32, shape: [batch, 4]}
dims: {batch: {min: 2, typical: 2, max: 2}}
formats: [pir, onnx]
"""
    manifest, parity = released(workplace, text, code=0)
    assert [one["name"] for one in manifest["inputs"]] == ["x", "y"]
    assert parity["counts"]["match"] == parity["planned"]
    assert manifest["inputs"][0]["shape"] == ["batch", 4] and {case["dims"]["batch"] for case in manifest["cases"]} == {
        2
    }


def test_what_only_the_mends_can_trace_passes_in_the_process_and_as_a_file(workplace: Path) -> None:
    text = """
name: mended
version: "1"
model: models.sound:Mended
weights: factory
inputs: {x: {dtype: float32, shape: [batch, 4]}}
dims: {batch: {min: 1, typical: 2, max: 4}}
"""
    _, parity = released(workplace, text, code=0)
    assert {one["engine"] for one in parity["checks"]} >= {"static", "jit_load", "paddle_inference", "onnxruntime"}


def test_outputs_that_prove_nothing_are_named_before_any_engine_runs_and_nothing_is_released(workplace: Path) -> None:
    text = """
name: vacuous
version: "1"
model: models.unsound:Vacuous
weights: factory
inputs: {x: {dtype: float32, shape: [batch, 4]}}
dims: {batch: {min: 1, typical: 2, max: 4}}
outputs: [sound, zero, constant, tiny]
formats: [onnx]
"""
    manifest, parity = released(workplace, text, code=ExitCode.REFUSED)
    assert manifest["verdict"] == parity["verdict"] == "inconclusive"
    assert all(outcomes(parity, name) == {"inconclusive"} for name in ("sound", "zero", "constant", "tiny"))
    assert parity["runs"] == [] and len(manifest["cases"]) == 2, "no engine was opened, and recording ended early"
    reasons = {one["output"]: one["reason"] for one in parity["checks"] if one["case"] == "batch=2"}
    assert "zero or near the denormals" in reasons["zero"] and "near the denormals" in reasons["tiny"]
    assert reasons["sound"] == "not run: zero of case batch=2 cannot be proven by any engine"
    (note,) = [one for one in parity["notes"] if one.startswith("no engine was run")]
    assert "checkpoint" in note
    assert not (workplace / "artifacts/vacuous/1").exists(), "what did not pass is no release"
    assert (workplace / "artifacts/vacuous/failed/report.html").is_file(), "and its report tells why"


def test_what_the_static_check_forbids_is_not_even_traced(workplace: Path) -> None:
    more = ("--input", "x=float32[batch,4]", "--dim", "batch=1..4", "--out", "out")
    done = exporter("convert", "models.unsound:Noisy", *more, cwd=workplace)
    assert done.code == ExitCode.REFUSED and "models/unsound.py:25" in done.out and "EX128" in done.out
    assert not (workplace / "out").exists()


def _only_who_accepts_them_is_bound_by_them(workplace: Path) -> None:
    """Whoever receives the bundle has not granted its waivers."""
    done = exporter("verify", "artifacts/waived/1", "--json", cwd=workplace)
    assert done.code == ExitCode.REFUSED and done.json()["verdict"] in ("failed", "inconclusive")
    assert "waived" not in {one["outcome"] for one in done.json()["checks"]} and done.json()["waivers"] == []
    assert any("the bundle waives */zero" in note and "--accept-waivers" in note for note in done.json()["notes"])
    taken = exporter("verify", "artifacts/waived/1", "--accept-waivers", "--json", cwd=workplace)
    assert taken.code == 0 and taken.json()["verdict"] == "passed_with_waivers"


def test_a_waiver_shows_everywhere_and_ends(workplace: Path) -> None:
    text = """
name: waived
version: "1"
model: models.unsound:Vacuous
weights: factory
inputs: {x: {dtype: float32, shape: [batch, 4]}}
dims: {batch: {min: 1, typical: 2, max: 4}}
outputs: [sound, zero, constant, tiny]
formats: [onnx]
waivers:
  - {claim: "*/zero", reason: "a head that is not trained yet", until: 2999-01-01}
  - {claim: "*/constant", reason: "a bias kept for old clients", until: 2999-01-01}
  - {claim: "*/tiny", reason: "a diagnostic that nobody reads", until: DATE}
"""
    manifest, parity = released(workplace, text.replace("DATE", "2999-01-01"), code=0)
    assert manifest["verdict"] == "passed_with_waivers" and len(manifest["waivers"]) == 3
    assert outcomes(parity, "zero") == {"waived"} and parity["counts"]["waived"] > 0
    reasons = {one["reason"] for one in parity["checks"] if one["outcome"] == "waived"}
    assert all("waived until 2999-01-01" in reason for reason in reasons)
    report = (workplace / "artifacts/waived/1/report.html").read_text()
    assert "a head that is not trained yet" in report
    _only_who_accepts_them_is_bound_by_them(workplace)
    _, parity = released(workplace, text.replace("DATE", "2020-01-01"), code=ExitCode.REFUSED)
    assert outcomes(parity, "tiny") == {"inconclusive"}
    assert (workplace / "artifacts/waived/1/manifest.json").is_file(), "the earlier release stays"
