"""`init` of a program that is a file: a spec that reads back, with what is known, and marks where nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.spec.read import read_spec
from tests.command import exporter, refused
from tests.export.sources.networks import saved as save_network
from tests.spec.test_beside import saved
from tests.steps.test_deployed import LINES


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    saved(folder / "lines", [None, 3, 48, None])
    (folder / "lines/inference.yml").write_text(LINES)
    save_network("text", folder / "text")
    save_network("picture", folder / "picture")
    return folder


def test_what_the_file_beside_it_says_is_in_the_spec(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = exporter("init", "reader", "--model", place / "lines", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.splitlines()[:4] == ["specs/reader.yaml", ".gitignore", "inputs x", "next:"]
    text = (tmp_path / "specs/reader.yaml").read_text()
    assert "GUESSED" not in text and "# inference.yml" in text and "recipe" not in text
    monkeypatch.chdir(tmp_path)
    spec = read_spec(Path("specs/reader.yaml"))
    assert (spec.name, spec.source) == ("reader", str(place / "lines"))
    assert (spec.dims["batch"].max, spec.dims["width"].min, spec.dims["width"].max) == (8, 160, 3200)
    assert spec.inputs["x"].values == "uniform(-1,1)"
    refused(exporter("init", "reader", "--model", place / "text", cwd=tmp_path), 2, "is there already")


@pytest.mark.parametrize("model", ["text", "text/inference.json"])
def test_what_nothing_says_is_marked_and_still_a_spec(
    model: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = exporter("init", "ids", "--model", place / model, "--json", cwd=tmp_path)
    told = done.json()
    assert told["guessed"] == ["batch", "ids_1", "values of ids"] and told["inputs"] == ["ids"]
    text = (tmp_path / "specs/ids.yaml").read_text()
    assert text.count("GUESSED") == 3
    monkeypatch.chdir(tmp_path)
    spec = read_spec(Path("specs/ids.yaml"))
    assert (spec.inputs["ids"].values, spec.dims["ids_1"].max) == ("integers(0,2)", 64)
    assert spec.outputs and len(spec.outputs) == len(told["outputs"]) == 2
    said = exporter("init", "more", "--model", place / model, cwd=tmp_path).out
    assert "nothing says batch, ids_1, values of ids: correct what is marked GUESSED, then run:" in said


def test_what_is_written_leads_on(place: Path, tmp_path: Path) -> None:
    done = exporter("init", "picture", "--model", place / "picture", cwd=tmp_path)
    lines = [line.strip() for line in done.out.splitlines() if line.startswith("  exporter ")]
    assert [line.split()[1] for line in lines] == ["check", "release"]
    assert exporter(*lines[0].split()[1:], cwd=tmp_path).code == 0
    released = exporter(
        *lines[1].split()[1:], "--set", "formats=[onnx]", "--set", "engines=[onnxruntime]", cwd=tmp_path
    )
    assert released.code == 0, released.out + released.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--recipe"], 2, "--recipe: a program that is a file cannot be trained"),
        (["--model", "nowhere.json"], 2, "no such file"),
        (["--model", "specs"], 2, "no Paddle program is in this folder"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: list[str], code: int, said: str, place: Path, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    done = exporter("init", "a", "--model", place / "lines", *arguments, cwd=tmp_path)
    refused(done, code, said)
    assert not list((tmp_path / "specs").iterdir())
