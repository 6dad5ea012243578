"""A model that is a file, through the command line: converted and proven without any code of its layer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exporter.prove.judge.report import REFERENCE
from tests.command import exporter
from tests.export.sources.networks import saved


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given") / "picture"
    folder.mkdir()
    saved("picture", folder)
    return folder / "inference.json"


def test_a_program_becomes_onnx_beside_it_and_is_proven(program: Path, tmp_path: Path) -> None:
    done = exporter("convert", program, "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    bundle = Path(done.json()["bundle"])
    assert bundle.parent.parent == program.parent and (bundle / "onnx/model.onnx").is_file()
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert manifest["verdict"] == "passed" and list(manifest["variants"]) == ["onnx"]
    (note,) = [note for note in manifest["notes"] if note.startswith(REFERENCE)]
    assert manifest["provenance"]["code"][str(program)] in note
    engines = {run["engine"] for run in json.loads((bundle / "parity.json").read_text())["runs"]}
    assert {"file", "eager", "static", "onnxruntime"} <= engines


def test_every_format_comes_of_a_json_and_the_json_comes_of_the_pdmodel(program: Path, tmp_path: Path) -> None:
    spec = tmp_path / "picture.yaml"
    spec.write_text(f"name: picture\nversion: '1'\nsource: {program}\n")
    done = exporter("release", spec, "--quiet", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    old = tmp_path / "artifacts/picture/1/pdmodel/model.pdmodel"
    done = exporter("convert", old, "--formats", "pir,onnx", "--out", "again", "--quiet", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    first, second = (
        next(folder.rglob("pir/model.pdiparams")) for folder in (tmp_path / "artifacts", tmp_path / "again")
    )
    assert first.read_bytes() == second.read_bytes()


def test_a_bundle_of_a_file_is_verified_with_the_file_and_without(program: Path, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    for name in ("inference.json", "inference.pdiparams"):
        (tmp_path / "m" / name).write_bytes(program.with_name(name).read_bytes())
    done = exporter("convert", "m", "--out", "out", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    bundle = done.json()["bundle"]
    alone = exporter("verify", bundle, "--quiet", cwd=tmp_path)
    assert alone.code == 0, alone.out
    together = exporter("verify", bundle, "--source", ".", "--quiet", cwd=tmp_path)
    assert together.code == 0 and "source/file" in together.out
    parameters = tmp_path / "m/inference.pdiparams"
    content = bytearray(parameters.read_bytes())
    content[-1] ^= 1
    parameters.write_bytes(content)
    other = exporter("verify", bundle, "--source", ".", "--quiet", cwd=tmp_path)
    assert other.code == 5 and "is not the code that the bundle was made of" in other.err


@pytest.mark.parametrize("name", ["weights.onnx", "weights.pdparams", "there/inference.json"])
def test_a_wrong_file_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    if "/" not in name:
        (tmp_path / name).write_bytes(b"bytes")
    done = exporter("convert", name, cwd=tmp_path)
    assert done.code == 2 and done.err.startswith(f"error: {name}: ") and "try:" in done.err
