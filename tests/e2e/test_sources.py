"""A model that is a file, through the command line: converted and proven without any code of its layer."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
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


def test_the_version_is_the_files_however_its_path_was_typed(program: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(program.parent)
    versions = set[str]()
    for number, (typed, cwd) in enumerate((("link", tmp_path), (".", program.parent), (program, tmp_path))):
        done = exporter("convert", typed, "--out", tmp_path / str(number), "--json", cwd=cwd)
        assert done.code == 0, done.err
        versions.add("/".join(Path(done.json()["bundle"]).parts[-2:]))
    assert len(versions) == 1 and versions.pop().startswith("picture/c"), "the path counts for nothing"


def test_a_folder_of_a_program_where_a_bundle_is_due_is_told_how_to_become_one(program: Path, tmp_path: Path) -> None:
    for verb in ("verify", "drill", "bench"):
        done = exporter(verb, program.parent, cwd=tmp_path)
        assert done.code == 2 and f"exporter convert {program.parent} makes a bundle" in done.err, done.err


def test_a_damaged_artifact_is_told_before_anything_runs(program: Path, tmp_path: Path) -> None:
    (tmp_path / "other.onnx").write_bytes(b"bytes")
    done = exporter("verify", "--reference", program, "--artifact", "other.onnx", cwd=tmp_path)
    assert done.code == 5 and "other.onnx: at byte 2" in done.err and "goldens" not in done.err, done.err
    done = exporter("verify", "--reference", program, "--artifact", ".", cwd=tmp_path)
    assert done.code == 2 and "name the file in it" in done.err


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


@pytest.mark.parametrize("name", ["deciding", "picture"])
def test_the_file_itself_is_judged_as_it_is_served(name: str, tmp_path: Path) -> None:
    """In the predictor as it comes, with its passes and oneDNN: Paddle 3.3.1 refuses the resize of `picture` there."""
    (tmp_path / name).mkdir()
    saved(name, tmp_path / name)
    engines = "onnxruntime, paddle_inference_default"
    (tmp_path / "a.yaml").write_text(f"source: {name}\nversion: '1'\nformats: [onnx]\nengines: [{engines}]\n")
    done = exporter("release", "a.yaml", "--quiet", cwd=tmp_path)
    assert done.code == int(name == "picture"), done.out + done.err
    place = tmp_path / "artifacts" / name / ("failed" if done.code else "1")
    parity = json.loads((place / "parity.json").read_text())
    wrong = {check["engine"] for check in parity["checks"] if check["outcome"] != "match"}
    assert wrong == ({"file_default"} if done.code else set()), "the file is to blame, and not what is made of it"
    for run in parity["runs"]:
        if run["engine"] == "file_default":
            assert run["variant"] == "source" and run["effective"]["onednn"] and run["effective"]["ir_optim"]
    assert done.code or any(check["engine"] == "file_default" for check in parity["checks"])


@pytest.mark.parametrize("name", ["weights.onnx", "weights.pdparams", "there/inference.json"])
def test_a_wrong_file_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    if "/" not in name:
        (tmp_path / name).write_bytes(b"bytes")
    done = exporter("convert", name, cwd=tmp_path)
    assert done.code == 2 and done.err.startswith(f"error: {name}: ") and "try:" in done.err


def test_the_file_of_another_tool_is_judged_under_its_own_names(program: Path, tmp_path: Path) -> None:
    """The same network is passed whatever its inputs are called, and another training of it is not."""
    for seed, name in ((0, "same"), (1, "other")):
        (tmp_path / name).mkdir()
        saved("picture", tmp_path / name, seed)
        done = exporter("convert", name, "--out", "out", "--json", cwd=tmp_path)
        assert done.code == 0, done.err
        model = onnx.load(Path(tmp_path, done.json()["bundle"]) / "onnx/model.onnx")
        (given,), (put_out,) = model.graph.input, model.graph.output
        for node in model.graph.node:
            for names in (node.input, node.output):
                names[:] = [{given.name: "data", put_out.name: "x"}.get(one, one) for one in names]
        given.name, put_out.name = "data", "x"  # the reference calls its input so
        onnx.save(model, tmp_path / f"{name}.onnx")
    same = exporter("verify", "--reference", program, "--artifact", "same.onnx", "--json", cwd=tmp_path)
    assert same.code == 0, same.out + same.err
    assert any("same.onnx" in note for note in same.json()["notes"])
    other = exporter("verify", "--reference", program, "--artifact", "other.onnx", "--json", cwd=tmp_path)
    assert other.code == 1 and other.json()["verdict"] == "failed"
    (blame,) = other.json()["blame"]
    assert blame["class"] == "conv2d" and "operator" in blame["path"], "the first operator that differs"


def test_a_file_with_other_outputs_is_refused(program: Path, tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    saved("text", tmp_path / "text")
    done = exporter("verify", "--reference", program, "--artifact", "text/inference.json", cwd=tmp_path)
    assert done.code == 2 and "it has 2 outputs, and the model 1" in done.err
    for options in (("--reference", program), ("--artifact", "text/inference.json"), ()):
        assert exporter("verify", *options, cwd=tmp_path).code == 2


def test_a_spec_of_a_file_is_checked_without_any_code(program: Path, tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_text(f"source: {program}\n")
    done = exporter("check", "file.yaml", cwd=tmp_path)
    assert done.code == 0 and "EX002" not in done.out and "1 model probed" in done.out, done.out + done.err
    (tmp_path / "file.yaml").write_text(f"source: {program}\nopset: 18\nformats: [pir]\n")
    assert exporter("check", "file.yaml", cwd=tmp_path).code == 2
