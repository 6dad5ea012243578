"""Files of other tools: judged alone against a program, and with a release as candidates of its spec."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from exporter.prove.judge.report import REFERENCE
from tests.command import Done, exporter, refused
from tests.export.sources.networks import saved
from tests.exported import as_ir


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `given`, and of it `right.onnx`, `wrong.onnx` with one row of weights changed, and the IR of both."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "given").mkdir()
    saved("picture", folder / "given")
    done = exporter("convert", "given", "--out", "out", "--json", cwd=folder)
    assert done.code == 0, done.err
    shutil.copyfile(Path(folder, done.json()["bundle"]) / "onnx/model.onnx", folder / "right.onnx")
    model = onnx.load(folder / "right.onnx")
    (weight,) = (one for one in model.graph.initializer if one.name == "linear_0.w_0" or list(one.dims) == [12, 5])
    numbers = numpy_helper.to_array(weight).copy()
    numbers[0] *= np.float32(1.25)
    weight.CopyFrom(numpy_helper.from_array(numbers, weight.name))
    onnx.save(model, folder / "wrong.onnx")
    for name in ("right", "wrong"):
        (folder / name).mkdir()
        as_ir(folder / f"{name}.onnx", folder / name / "model.xml")
    return folder


def judged(folder: Path, artifact: str, *more: str) -> Done:
    return exporter("verify", "--reference", "given", "--artifact", artifact, *more, cwd=folder)


def test_an_ir_of_openvino_is_this_model(work: Path) -> None:
    done = judged(work, "right/model.xml", "--json")
    assert done.code == 0, done.out + done.err
    report = done.json()
    kinds = {check["kind"] for check in report["checks"] if check["format"] == "openvino"}
    assert {"outputs", "interface", "weights", "agreement", "pooled_bias", "process", "sublayers"} <= kinds
    assert {run["engine"] for run in report["runs"] if run["variant"] == "openvino"} == {"openvino"}
    (weights,) = (check for check in report["checks"] if check["kind"] == "weights")
    assert weights["elements"] >= 60, "OpenVINO transposes the linear layer's weights, and they are found"


def test_an_ir_with_other_weights_is_not_and_the_operator_is_named(work: Path) -> None:
    done = judged(work, "wrong/model.xml", "--json")
    assert done.code == 1 and done.json()["verdict"] == "failed", done.err
    (blame,) = done.json()["blame"]
    assert blame["class"] == "matmul" and "operator" in blame["path"], blame


def test_an_ir_that_is_damaged_is_never_run(work: Path, tmp_path: Path) -> None:
    for name in ("given", "right"):
        shutil.copytree(work / name, tmp_path / name)
    numbers = tmp_path / "right/model.bin"
    numbers.write_bytes(numbers.read_bytes()[:-4])
    refused(judged(tmp_path, "right/model.xml", "--quiet"), 5, "model.bin", "bytes are here")
    numbers.unlink()
    refused(judged(tmp_path, "right/model.xml", "--quiet"), 5, "its numbers are not there")
    xml = tmp_path / "right/model.xml"
    xml.write_text(xml.read_text().replace('version="opset1"', 'version="extension"', 1))
    refused(judged(tmp_path, "right/model.xml", "--quiet"), 5, "'extension.")
    refused(judged(work, "right/model.xml", "--engines", "onnxruntime", "--quiet"), 2, "'openvino'", "openvino_default")


def spec(folder: Path, version: str, *candidates: str) -> Path:
    lines = "".join(f"  - {one}\n" for one in candidates)
    path = folder / f"{version}.yaml"
    path.write_text(f"source: given\nname: net\nversion: '{version}'\nformats: [pir]\ncandidates:\n{lines}")
    return path


def test_candidates_are_judged_with_a_release_under_their_names(work: Path) -> None:
    done = exporter("release", spec(work, "1", "right.onnx", "{file: right/model.xml, name: intel}"), cwd=work)
    assert done.code == 0, done.out + done.err
    bundle = work / "artifacts/net/1"
    parity, manifest = (json.loads((bundle / name).read_text()) for name in ("parity.json", "manifest.json"))
    formats = {check["format"] for check in parity["checks"]}
    assert formats == {"source", "pir", "right", "intel"} and set(parity["counts"]) >= {"match"}
    for name, engine in (("right", "onnxruntime"), ("intel", "openvino")):
        assert f"{name}/{engine}" in done.out and f"{name}/weights" in done.out
        assert any(check["kind"] == "outputs" for check in parity["checks"] if check["format"] == name)
    page = (bundle / "report.html").read_text()
    assert "intel" in page and "the candidate intel is right/model.xml (sha256 " in page
    assert sum(note.startswith(REFERENCE) for note in parity["notes"]) == 1
    assert list(manifest["variants"]) == ["pir"] and not list(bundle.rglob("*.xml")), "the bundle does not hold them"
    again = exporter("verify", bundle, "--quiet", cwd=work)
    assert again.code == 0 and "a release judges it" in again.out, again.out + again.err


def test_a_wrong_candidate_fails_the_release(work: Path) -> None:
    done = exporter("release", spec(work, "2", "right.onnx", "wrong.onnx"), "--quiet", cwd=work)
    assert done.code == 1 and "FAILED" in done.out, done.out + done.err
    parity = json.loads((work / "artifacts/net/failed/parity.json").read_text())
    failed = {check["format"] for check in parity["checks"] if check["outcome"] not in ("match", "waived")}
    assert failed == {"wrong"}
    (blame,) = parity["blame"]
    assert blame["claim"].startswith("wrong/onnxruntime/") and blame["class"] == "matmul"


def test_a_waiver_covers_a_candidate_and_one_that_computes_nothing_right_fails_all_the_same(work: Path) -> None:
    path = spec(work, "3", "wrong.onnx")
    waivers = "waivers:\n" + "".join(
        f"  - {{claim: {claim}, reason: known since May, until: 2099-01-01}}\n"
        for claim in ("wrong/*", "wrong/*weights")
    )
    path.write_text(path.read_text() + waivers)
    done = exporter("release", path, "--quiet", cwd=work)
    assert done.code == 1, done.out + done.err
    parity = json.loads((work / "artifacts/net/failed/parity.json").read_text())
    assert {check["outcome"] for check in parity["checks"] if check["format"] == "wrong"} <= {"match", "waived"}
    assert parity["against"] == ["no output of wrong was shown to be right"]


@pytest.mark.parametrize(
    ("candidates", "code", "said"),
    [
        (["gone.onnx"], 2, "no such file"),
        (["2.yaml"], 2, "no such file"),
        (["given/inference.pdiparams"], 2, "no format that can be judged"),
        (["right.onnx", "right/../right.onnx"], 2, "two candidates are called 'right'"),
        (["{file: right.onnx, name: onnx}"], 2, "is what claims on our own files are called"),
        (["{file: right.onnx, nam: a}"], 2, "nam"),
        (["cut.onnx"], 5, "cut.onnx"),
    ],
)
def test_a_candidate_that_cannot_be_judged_is_told_before_any_work(
    work: Path, tmp_path: Path, candidates: list[str], code: int, said: str
) -> None:
    shutil.copytree(work / "given", tmp_path / "given")
    content = (work / "right.onnx").read_bytes()
    (tmp_path / "right.onnx").write_bytes(content)
    (tmp_path / "cut.onnx").write_bytes(content[:-50])
    done = exporter("release", spec(tmp_path, "1", *candidates), "--quiet", cwd=tmp_path)
    assert done.code == code and said in done.err and "try:" in done.err, done.out + done.err
    assert not (tmp_path / "artifacts/net/1").exists()
