"""A kit by the command line: what is in it, that it is the same each time, and that its programs run."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from exporter.base.errors import UsageError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import load_npy
from exporter.deploy.elsewhere.cases import Wanted, chosen, read_sizes
from exporter.deploy.elsewhere.content import layout
from tests import faults
from tests.command import STORED, contents, environment, exporter, refused


def test_the_same_bundle_gives_the_same_bytes(kit: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        done = exporter("kit", STORED, "--out", tmp_path / name, "--layers", "--json", cwd=tmp_path)
        assert (done.code, done.json()["written"]) == (0, True), done.err
    assert contents(tmp_path / "one") == contents(tmp_path / "other")
    own = {name: content for name, content in contents(kit).items() if not name.startswith("answers/")}
    assert own == contents(tmp_path / "one")


def test_what_the_outputs_should_be_stays_at_home(kit: Path) -> None:
    content = json.loads((kit / "kit.json").read_text())
    given = contents(kit)
    assert {"README.md", "run.py", "run.cpp", "run.js", "model/model.onnx", "model/cases.txt"} <= set(given)
    golden = (STORED / "golden.safetensors").read_bytes()
    assert golden not in given.values() and not any("golden" in name for name in given)
    assert len(content["cases"]) == 11 and content["outputs"][0]["name"] == "scores"
    assert content["inputs"][0] == {
        "name": "image", "native": "image", "dtype": "float32", "shape": ["batch", 3, 16, 16], "layout": "NCHW",
    }  # fmt: skip


def test_both_files_of_an_input_hold_the_same_numbers(kit: Path) -> None:
    content = json.loads((kit / "kit.json").read_text())
    tensors = [tensor for case in content["cases"] for tensor in case["inputs"]]
    assert tensors
    for tensor in tensors:
        value = load_npy(kit / tensor["npy"])
        assert (value.dtype.name, list(value.shape)) == (tensor["dtype"], tensor["shape"])
        assert value.tobytes() == (kit / tensor["bin"]).read_bytes()


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    assert exporter("kit", STORED, "--out", "kit", cwd=tmp_path).code == 0
    again = exporter("kit", STORED, "--out", "kit", "--json", cwd=tmp_path)
    assert (again.code, again.json()["written"]) == (0, False)
    (tmp_path / "kit/README.md").write_text("mine")
    before = contents(tmp_path)
    refused(exporter("kit", STORED, "--out", "kit", cwd=tmp_path), 2, "README.md is there with other content")
    assert contents(tmp_path) == before


def test_a_few_cases_are_those_that_prove_most(tmp_path: Path) -> None:
    done = exporter("kit", STORED, "--out", "few", "--cases", "3", "--json", cwd=tmp_path)
    assert done.json()["cases"] == ["batch=2", "batch=1", "batch=3"], done.err
    one = exporter("kit", STORED, "--out", "one", "--dim", "batch=1", "--json", cwd=tmp_path)
    assert one.json()["cases"] == ["batch=1", "batch=2:one_row"], one.err
    refused(exporter("kit", STORED, "--out", "no", "--dim", "batch=9", cwd=tmp_path), 2, "no recorded case has these")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--variant", "onxx"], "no variant 'onxx'"),
        (["--dim", "batch"], "'batch' is no size"),
        (["--variant", "pir", "--layers"], "layers are asked of ONNX alone"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(options: list[str], said: str, tmp_path: Path) -> None:
    refused(exporter("kit", STORED, "--out", "kit", *options, cwd=tmp_path), 2, said)
    assert not (tmp_path / "kit").exists()


def test_a_kit_is_not_written_into_a_bundle_nor_of_one_that_did_not_pass(tmp_path: Path) -> None:
    copy = faults.copied(STORED, tmp_path / "copy")
    refused(exporter("kit", copy, "--out", copy / "kit", cwd=tmp_path), 2, "lies in the bundle")
    content = json.loads((copy / "manifest.json").read_text())
    faults.reseal(copy, {**content, "verdict": "failed"})
    done = exporter("kit", copy, "--out", "kit", cwd=tmp_path)
    assert (done.code, (tmp_path / "kit").exists()) == (1, False), done.err


def test_the_choice_of_cases_hangs_on_nothing_but_names_and_sizes() -> None:
    cases = [GoldenCase(name, {"batch": size}, {}, name) for name, size in (("a:x", 1), ("b", 4), ("c", 1), ("d", 4))]
    assert [number for number, _ in chosen(cases, Wanted(2))] == [1, 2]
    assert [number for number, _ in chosen(cases, Wanted(3))] == [1, 2, 3]
    assert [number for number, _ in chosen(cases, Wanted())] == [0, 1, 2, 3]
    assert [number for number, _ in chosen(cases, Wanted(9, {"batch": 1}))] == [0, 2]
    assert str(Wanted(2, {"batch": 1})) == "only 2 of its cases; only the sizes batch=1" and str(Wanted()) == ""
    with pytest.raises(UsageError):
        read_sizes(["batch=-1"])


def test_the_layout_is_told_of_images() -> None:
    assert layout(["batch", 3, 16, 16]) == "NCHW" and layout([1, 8, 8, 3]) == "NHWC"
    assert layout(["batch", 12]) == layout([1, 8, 8, 8]) == "row-major"


def test_the_program_in_cpp_answers_in_another_engine(kit: Path, tmp_path: Path) -> None:
    """OpenVINO's wheel holds its headers and its library."""
    openvino = pytest.importorskip("openvino")
    compiler = shutil.which("g++")
    home = Path(openvino.__file__).parent
    if compiler is None or not (home / "include").is_dir():
        pytest.skip("no compiler, or a wheel without headers")
    place = Path(shutil.copytree(kit, tmp_path / "kit", ignore=shutil.ignore_patterns("answers")))
    library = next(path for path in sorted((home / "libs").glob("libopenvino.so*")))
    command = [compiler, "-std=c++17", "run.cpp", f"-I{home / 'include'}", str(library), f"-Wl,-rpath,{home / 'libs'}"]
    built = subprocess.run([*command, "-o", "run"], cwd=place, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    for part in ((), ("layers",)):
        ran = subprocess.run(
            ["./run", *part], cwd=place, env=environment(), capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
    done = exporter("verify", STORED, "--answers", place / "answers", "--engine", "openvino", "--json", cwd=tmp_path)
    assert (done.code, done.json()["verdict"]) == (0, "passed"), done.out + done.err
    assert len(list((place / "answers/layers").glob("*.bin"))) >= 4


@pytest.mark.slow
def test_the_program_in_javascript_answers_in_another_engine(kit: Path, tmp_path: Path) -> None:
    """It downloads onnxruntime-web."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("no Node.js")
    place = Path(shutil.copytree(kit, tmp_path / "kit", ignore=shutil.ignore_patterns("answers")))
    got = subprocess.run([npm, "install", "onnxruntime-web"], cwd=place, capture_output=True, text=True, check=False)
    assert got.returncode == 0, got.stderr
    ran = subprocess.run([node, "run.js"], cwd=place, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    done = exporter("verify", STORED, "--answers", place / "answers", "--engine", "web", "--json", cwd=tmp_path)
    assert (done.code, done.json()["verdict"]) == (0, "passed"), done.out + done.err


def test_the_program_in_python_says_who_and_when(kit: Path) -> None:
    said = json.loads((kit / "answers/answers.json").read_text())
    assert said["engine"] == "onnxruntime" and said["inputs"] == ["image"] and said["precision"] == "fp32"
    assert len(said["bundle"]) == 64 and said["when"].startswith("20")
