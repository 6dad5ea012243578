"""The real release: trained, exported three times, proven, sealed; copied, damaged and released again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from exporter.base.errors import BundleError, ExitCode, UsageError
from exporter.bundle.open import open_bundle
from tests import faults
from tests.command import ROOT, contents, environment, exporter, refused

FILES = (
    "bom.cdx.json",
    "golden.safetensors",
    "manifest.json",
    "onnx/model.onnx",
    "parity.json",
    "pdmodel/model.pdiparams",
    "pdmodel/model.pdmodel",
    "pir/model.json",
    "pir/model.pdiparams",
    "provenance.intoto.json",
    "report.html",
    "verify.py",
)


def test_it_is_trained_well_and_every_check_passed(released: Path, digits: Path) -> None:
    told = json.loads((released / "release.json").read_text())
    assert told["verdict"] == "passed"
    assert all(one["severity"] != "error" for one in told["findings"])
    assert told["bundle"] == "artifacts/digits/1.0.0" and sorted(told["variants"]) == ["onnx", "pdmodel", "pir"]
    assert told["training"]["accuracy"] >= 0.975
    parity = json.loads((digits / "parity.json").read_text())
    assert parity["verdict"] == "passed" and parity["counts"]["match"] == parity["planned"] == len(parity["checks"])
    ran = {(one["format"], one["engine"]) for one in parity["checks"]}
    assert ran >= {
        ("source", "eager"),
        ("source", "static"),
        ("pir", "jit_load"),
        ("pdmodel", "jit_load"),
        ("pir", "paddle_inference"),
        ("pdmodel", "paddle_inference"),
        ("onnx", "onnxruntime"),
    }
    sizes = {one["case"].partition(":")[0].partition("#")[0] for one in parity["checks"]}
    assert sizes >= {"batch=1", "batch=8", "batch=64"}
    assert any(int(one.removeprefix("batch=")) % 2 and one != "batch=1" for one in sizes if one.startswith("batch="))


def test_the_training_showed_each_of_its_epochs(released: Path) -> None:
    told = (released / "release.err").read_text().splitlines()
    begin = told.index("· training recipes.digits:recipe") + 1
    line = re.compile(
        r"· recipes.digits:recipe epoch (\d+)/12  loss \d.\d{4}  held out \d.\d{4}  accuracy 0.\d{4}(  best)?  .*"
    )
    epochs = [found for one in told[begin:] if (found := line.fullmatch(one))]
    assert [int(found[1]) for found in epochs] == list(range(1, 13)) and epochs[0][2]
    assert "\x1b" not in "".join(told)


def test_bench_says_how_much_faster_than_eager_the_fastest_is(released: Path, digits: Path) -> None:
    quick = ("--engines", "onnxruntime", "--rounds", "1", "--seconds", "0.01", "-q")
    done = exporter("bench", digits, "--source", ".", *quick, "--json", cwd=released)
    assert done.code == 0, done.err
    told = done.json()
    timed = {(one["variant"], one["engine"]): one for one in told["standings"]}
    assert set(timed) == {("onnx", "onnxruntime"), ("source", "eager")}
    fastest, eager = timed["onnx", "onnxruntime"], timed["source", "eager"]
    assert (fastest["proof"], eager["proof"], eager["over_eager"]) == ("passed", "the source", 1.0)
    assert fastest["over_eager"] == pytest.approx(eager["slower"] / fastest["slower"])
    best = told["winner"]
    assert (best["variant"], best["engine"], best["over_eager"]) == ("onnx", "onnxruntime", fastest["over_eager"])


def test_paddle_s_own_kernels_are_equal_bit_for_bit(digits: Path) -> None:
    checks = json.loads((digits / "parity.json").read_text())["checks"]
    one_thread = [one for one in checks if ":threads=" not in one["case"] and one["kind"] == "outputs"]
    own = [one for one in one_thread if one["engine"] in ("eager", "static", "jit_load", "paddle_inference")]
    assert own and all(one["bit_equal"] and one["max_ulp"] == 0 for one in own)
    other = [one for one in one_thread if one["engine"] == "onnxruntime"]
    assert other and all(0 < one["error_ratio"] <= 4 for one in other), "another engine rounds otherwise"


def test_the_bundle_holds_what_the_contract_says(digits: Path) -> None:
    assert tuple(sorted(contents(digits))) == FILES
    manifest = json.loads((digits / "manifest.json").read_text())
    assert sorted(manifest["files"]) == [name for name in FILES if name != "manifest.json"]
    assert {"schema", "name", "version", "inputs", "outputs", "dims", "variants", "files"} <= set(manifest)
    assert {"provenance", "waivers", "verdict", "digest"} <= set(manifest)


def test_nothing_of_this_machine_or_this_day_is_in_it(released: Path, digits: Path) -> None:
    for name, content in contents(digits).items():
        assert str(released).encode() not in content and str(ROOT).encode() not in content, name
        assert str(Path.home()).encode() + b"/" not in content, name


def test_released_again_it_is_the_same_but_for_what_the_manifest_excepts(
    released: Path, digits: Path, tmp_path: Path
) -> None:
    done = exporter("release", "specs/digits.yaml", "--out", tmp_path, "-q", cwd=released)
    assert done.code == 0, done.err
    once, again = contents(digits), contents(tmp_path / "digits/1.0.0")
    assert json.loads(once["manifest.json"])["not_reproducible"]
    assert again == once, "on one machine nothing at all may differ"


def test_it_verifies_where_it_was_made(released: Path, digits: Path) -> None:
    done = exporter("verify", digits, "--source", ".", "--json", cwd=released)
    told = done.json()
    assert done.code == 0 and told["verdict"] == "passed" and told["planned"] == told["counts"]["match"]
    assert {one["engine"] for one in told["checks"]} >= {"eager", "static"}


def test_the_report_is_the_same_however_many_children_run_at_once(released: Path, digits: Path) -> None:
    arguments = ("verify", digits, "--engines", "jit_load,onnxruntime", "--json", "--quiet")
    alone, together = (exporter(*arguments, "--jobs", jobs, cwd=released) for jobs in ("1", "3"))
    assert alone.code == 0 and len(alone.json()["runs"]) >= 3, alone.err
    assert together.out == alone.out


def test_a_copy_verifies_from_goldens_alone_where_the_model_is_not(digits: Path, tmp_path: Path) -> None:
    copy = faults.copied(digits, tmp_path / "elsewhere")
    before = contents(copy)
    done = exporter("verify", copy, "--json", cwd=tmp_path)
    told = done.json()
    assert done.code == 0 and told["verdict"] == "passed"
    assert not {one["engine"] for one in told["checks"]} & {"eager", "static"}
    assert any("eager itself was not run again" in note for note in told["notes"]), "it must say what was not run"
    assert contents(copy) == before


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("bit", [12345, -1])
def test_one_flipped_bit_anywhere_is_named(digits: Path, tmp_path: Path, name: str, bit: int) -> None:
    copy = faults.copied(digits, tmp_path / "copy")
    faults.flip_bit(copy / name, bit)
    with pytest.raises(BundleError) as refusal:
        open_bundle(copy)
    assert name in str(refusal.value)
    done = subprocess.run([sys.executable, copy / "verify.py"], capture_output=True, text=True, check=False)
    if name != "verify.py":
        assert done.returncode == ExitCode.BUNDLE and name in done.stdout + done.stderr


@pytest.mark.parametrize("name", FILES)
def test_one_missing_file_is_named(digits: Path, tmp_path: Path, name: str) -> None:
    copy = faults.copied(digits, tmp_path / "copy")
    (copy / name).unlink()
    with pytest.raises(UsageError if name == "manifest.json" else BundleError) as refusal:
        open_bundle(copy)
    assert name in str(refusal.value)


def test_the_command_says_what_is_damaged(digits: Path, tmp_path: Path) -> None:
    """What it says of each file is what `open_bundle` raises, which is tried above on all of them."""
    flipped, missing, other = (faults.copied(digits, tmp_path / name) for name in ("flipped", "missing", "other"))
    faults.flip_bit(flipped / "pir/model.pdiparams", 12345)
    refused(exporter("verify", flipped, cwd=tmp_path), ExitCode.BUNDLE, "pir/model.pdiparams")
    (missing / "golden.safetensors").unlink()
    refused(exporter("verify", missing, cwd=tmp_path), ExitCode.BUNDLE, "golden.safetensors")
    (other / "manifest.json").unlink()
    refused(exporter("verify", other, cwd=tmp_path), ExitCode.USAGE, "manifest.json")


def test_one_file_more_is_named(digits: Path, tmp_path: Path) -> None:
    copy = faults.copied(digits, tmp_path / "copy")
    (copy / "pir/more.txt").write_text("stowaway")
    refused(exporter("verify", copy, cwd=tmp_path), ExitCode.BUNDLE, "pir/more.txt", "not listed")


def test_an_empty_folder_more_is_named(digits: Path, tmp_path: Path) -> None:
    copy = faults.copied(digits, tmp_path / "copy")
    (copy / "pir/empty").mkdir()
    refused(exporter("verify", copy, cwd=tmp_path), ExitCode.BUNDLE, "pir/empty", "for none of the listed files")


def test_a_bundle_without_its_cases_is_not_passed_elsewhere(digits: Path, tmp_path: Path) -> None:
    """Nothing planned is nothing proven, however well it is sealed."""
    copy = faults.copied(digits, tmp_path / "copy")
    content = json.loads((copy / "manifest.json").read_bytes())
    content["cases"] = []
    (copy / "manifest.json").write_text(json.dumps(content))
    faults.reseal(copy)
    done = exporter("verify", copy, cwd=tmp_path)
    assert done.code in (ExitCode.ENVIRONMENT, ExitCode.BUNDLE), done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize("packages", [["numpy", "onnxruntime"], ["numpy", "paddlepaddle==3.3.1", "setuptools"]])
def test_verify_py_in_an_environment_with_one_engine_only(digits: Path, tmp_path: Path, packages: list[str]) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    copy = Path(shutil.copytree(digits, tmp_path / "copy"))
    env = environment()
    done = subprocess.run(
        [python, copy / "verify.py"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "PASSED" in done.stdout, done.stdout + done.stderr
    faults.scale_tensor(copy / "onnx/model.onnx")
    faults.scale_tensor(copy / "pir/model.pdiparams")
    faults.scale_tensor(copy / "pdmodel/model.pdiparams")
    faults.reseal(copy)
    done = subprocess.run(
        [python, copy / "verify.py"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
