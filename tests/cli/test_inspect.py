from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from exporter.bundle.inspect import InspectedFile, as_text, inspect
from tests import faults

GOLDEN = Path(__file__).with_name("inspect_bundle.txt")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from exporter.cli import main; main()", "inspect", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def plain(text: str, bundle: Path) -> str:
    """What does not change from run to run: a .pdmodel holds the paths of the sources it was traced from."""
    text = re.sub(r"[\d,]+ bytes", "N bytes", text.replace(str(bundle), "BUNDLE"))
    return re.sub(r"(Paddle |program |digest    )[\da-f.]+", r"\1N", text)


def test_a_bundle_as_text(bundle: Path) -> None:
    done = run(bundle)
    assert (done.returncode, done.stderr) == (0, "")
    assert plain(done.stdout, bundle) == GOLDEN.read_text()
    assert run(bundle / "manifest.json").stdout == done.stdout


def test_a_bundle_as_json(bundle: Path) -> None:
    done = run(bundle, "--json")
    told = json.loads(done.stdout)
    assert (told["format"], told["name"], told["verdict"]) == ("bundle", "small", "passed")
    assert told["digest"] == json.loads((bundle / "manifest.json").read_text())["digest"]
    assert told["inputs"] == [{"name": "image", "dtype": "float32", "shape": ["batch", 1, 8, 8]}]
    assert {name: one["parameters"]["elements"] for name, one in told["variants"].items()} == {
        "onnx": 3838,
        "pdmodel": 3832,
        "pir": 3832,
    }
    files = [path for path in (bundle / "pir").iterdir()]
    assert told["variants"]["pir"]["size"] == sum(path.stat().st_size for path in files)


@pytest.mark.parametrize(
    ("name", "kind", "count"),
    [
        ("onnx/model.onnx", "onnx", 84),
        ("pdmodel/model.pdmodel", "pdmodel", 30),
        ("pir/model.json", "pir", 31),
        ("pir/model.pdiparams", "pdiparams", 0),
        ("golden.safetensors", "safetensors", 0),
    ],
)
def test_a_bare_file(bundle: Path, name: str, kind: str, count: int) -> None:
    inspected = inspect(bundle / name)
    assert isinstance(inspected, InspectedFile)
    facts = inspected.facts
    assert (facts.format, sum(facts.operators.values())) == (kind, count)
    assert facts.size == (bundle / name).stat().st_size
    assert inspected.to_json()["size"] == facts.size
    assert as_text(inspected).startswith(f"{bundle / name}: ")


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("nix.onnx", None, 2, "no such file"),
        ("model.pkl", b"x", 2, "unknown kind"),
        ("settings.json", b"{}", 2, "not a PIR program"),
        ("model.onnx", b"\x08", 5, "at byte 1"),
        ("manifest.json", b"{}", 5, "digest"),
    ],
)
def test_errors_say_what_where_and_what_to_do(
    tmp_path: Path, name: str, content: bytes | None, code: int, words: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    done = run(path)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr and name in done.stderr and "try: " in done.stderr
    assert "Traceback" not in done.stderr
    error = json.loads(run(path, "--json").stdout)["error"]
    assert error["exit"] == code and words in error["what"]


def test_a_folder_that_is_no_bundle_and_a_bundle_that_is_damaged(bundle: Path, tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 2
    copy = faults.copied(bundle, tmp_path / "copy")
    faults.flip_bit(copy / "onnx/model.onnx", 999)
    done = run(copy)
    assert (done.returncode, "onnx/model.onnx" in done.stderr) == (5, True)


def test_names_from_a_file_cannot_write_to_the_terminal(artifacts: Path, tmp_path: Path) -> None:
    program = (artifacts / "pir/model.json").read_text().replace('"image"', '"\\u001b[2Jimage\\u202e"')
    (tmp_path / "m.json").write_text(program)
    said = run(tmp_path / "m.json").stdout
    assert "\x1b" not in said and "\u202e" not in said
    assert r"input     \x1b[2Jimage\u202e: float32" in said


def test_it_needs_no_engine(bundle: Path) -> None:
    heavy = ("paddle", "onnx", "onnxruntime", "paddle2onnx")
    script = (
        "import sys\nfrom pathlib import Path\nfrom exporter.bundle.inspect import as_text, inspect\n"
        f"as_text(inspect(Path(sys.argv[1])))\nprint([one for one in {heavy} if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(bundle)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_folder_of_a_program_is_its_program(bundle: Path, tmp_path: Path) -> None:
    for file in (bundle / "pir").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    told = json.loads(run(tmp_path, "--json").stdout)
    assert (told["path"], told["format"]) == (str(tmp_path / "model.json"), "pir")
    assert run(tmp_path).stdout == run(tmp_path / "model.json").stdout
    for ending in (".json", ".pdiparams"):
        (tmp_path / f"other{ending}").write_bytes((tmp_path / f"model{ending}").read_bytes())
    (tmp_path / "model.json").rename(tmp_path / "another.json")
    (tmp_path / "model.pdiparams").rename(tmp_path / "another.pdiparams")
    done = run(tmp_path)
    assert done.returncode == 2 and "2 programs are in this folder: another.json, other.json" in done.stderr
