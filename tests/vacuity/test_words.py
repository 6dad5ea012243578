"""What a report says besides outcomes, through the command line: waivers, what they leave, and untrained weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import faults
from tests.command import Done, exporter
from tests.described import small

WAIVED = {"reason": "known and accepted by all", "until": "2099-12-31"}


def waiving(digits: Path, to: Path, *claims: str, parameters: bool = False) -> Path:
    """A copy whose spec waives claims; with `parameters` it records one trained tensor wrong."""
    copy = faults.copied(digits, to)
    path = copy / "manifest.json"
    content: dict[str, Any] = json.loads(path.read_bytes())
    content["waivers"] = content["spec"]["waivers"] = [{"claim": claim, **WAIVED} for claim in claims]
    if parameters:
        content["parameters"]["linear.bias"] = "0" * 64
    path.write_text(json.dumps(content))
    faults.reseal(copy)
    return copy


def test_passed_with_waivers_is_a_word_of_its_own_and_exits_0(digits: Path, tmp_path: Path) -> None:
    copy = waiving(digits, tmp_path / "copy", "*/weights", parameters=True)
    assert exporter("verify", copy, cwd=tmp_path).code == 1, "whoever receives it has granted nothing"
    done = exporter("verify", copy, "--accept-waivers", "--json", cwd=tmp_path)
    report = done.json()
    assert (done.code, report["verdict"]) == (0, "passed_with_waivers"), done.err
    assert {check["kind"] for check in report["checks"] if check["outcome"] == "waived"} == {"weights"}
    assert report["counts"]["waived"] == len(["pir", "pdmodel", "onnx"])


def test_narrowed_and_waived_it_is_partial(digits: Path, tmp_path: Path) -> None:
    copy = waiving(digits, tmp_path / "copy", "*/weights", parameters=True)
    done = exporter("verify", copy, "--json", "--engines", "onnxruntime", "--accept-waivers", cwd=tmp_path)
    assert (done.code, done.json()["verdict"]) == (0, "partial")


def test_a_claim_that_is_waived_leaves_the_look_inside_planned(released: Path, digits: Path, tmp_path: Path) -> None:
    """Where the source is at hand: the look was given up for the whole run once one of its claims was waived."""
    work = faults.copied(released, tmp_path / "work")
    copy = waiving(digits, work / "waived", "onnx/onnxruntime/batch=8/*")
    narrow = ("--engines", "onnxruntime", "--source", ".", "--accept-waivers")
    done = exporter("verify", copy, "--json", *narrow, cwd=work)
    looks = [check for check in done.json()["checks"] if check["kind"] == "sublayers"]
    assert [(check["engine"], check["outcome"]) for check in looks] == [("onnxruntime", "match")], done.out


@pytest.fixture(scope="module")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.conftest import working_folder

    work = working_folder(tmp_path_factory.mktemp("untrained") / "work")
    (work / "small.yaml").write_text(json.dumps(small("models.sound:mlp", weights="factory")))
    return work


def says_so(done: Done) -> None:
    assert done.code == 0, done.out + done.err
    assert "not trained" in done.out, done.out


def test_untrained_weights_show_on_every_report(untrained: Path, tmp_path: Path) -> None:
    says_so(exporter("release", "small.yaml", cwd=untrained))
    bundle = untrained / "artifacts/small/1"
    assert "not trained" in (bundle / "report.html").read_text()
    assert any("not trained" in note for note in json.loads((bundle / "parity.json").read_bytes())["notes"])
    says_so(exporter("verify", bundle, "--source", ".", cwd=untrained))
    elsewhere = faults.copied(bundle, tmp_path / "copy")
    says_so(exporter("verify", elsewhere, "--json", cwd=tmp_path))
    content = json.loads((elsewhere / "manifest.json").read_bytes())
    content["notes"] = []
    (elsewhere / "manifest.json").write_text(json.dumps(content))
    faults.reseal(elsewhere)
    says_so(exporter("verify", elsewhere, cwd=tmp_path))  # the spec says it, whatever the manifest leaves out
