"""Real runs in real children: the same bytes again, and after an interruption at any moment."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from exporter.base.errors import UsageError
from exporter.base.numbers.rule import wilson
from exporter.base.tensors import load, load_with_metadata
from exporter.process.workers import Setting
from exporter.train import run
from exporter.train.run import TrainRequest

RECIPE = "tests.train.tiny:recipe"
FILES = {"best.safetensors", "last.safetensors", "loss.png", "metrics.jsonl", "run.json"}
CLI = [sys.executable, "-c", "from exporter.cli import main; main()"]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def interrupted_run(folder: Path, number: signal.Signals) -> tuple[int, str]:
    """Start the command, send it a signal after its first epoch, and return its exit code and what it said."""
    command = [*CLI, "train", RECIPE, "--out", str(folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        while "epoch 1/3  loss" not in said:
            line = process.stderr.readline()
            assert line, f"it ended early: {said}"
            said += line
        process.send_signal(number)
        said += process.stderr.read()
    return process.returncode, said


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "tiny"
    run.train(TrainRequest(RECIPE, folder))
    return folder


@pytest.fixture(scope="module")
def other_seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("other") / "tiny"
    run.train(TrainRequest(RECIPE, folder, seed=1))
    return folder


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that Ctrl-C has ended in its second epoch."""
    folder = tmp_path_factory.mktemp("stopped") / "tiny"
    status, said = interrupted_run(folder, signal.SIGINT)
    assert status == 130
    saved = "saved; the same command with --resume goes on from there\nerror: interrupted\n  try: "
    assert saved in said and said.endswith("goes on with --resume\n")
    return folder


def test_a_run_leaves_its_five_files_and_nothing_else(whole: Path) -> None:
    assert content(whole).keys() == FILES
    assert [path.name for path in whole.parent.iterdir()] == ["tiny"]
    rows = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert all(row["steps"] == 40 for row in rows), "the incomplete batch is left out"
    assert rows[-1]["loss"] < rows[0]["loss"]
    best = max(rows, key=lambda row: row["accuracy"])
    assert best["accuracy"] > 0.7, "chance is a third"
    weights, metadata = load_with_metadata(whole / "best.safetensors")
    assert weights.keys() == {
        *(f"{layer}.{name}" for layer in ("first", "norm", "last") for name in ("weight", "bias")),
        *("norm._mean", "norm._variance"),
    }
    assert (metadata["metric"], metadata["value"]) == ("accuracy", repr(best["accuracy"]))


def test_finished_knows_recipe_seed_epochs_and_content(whole: Path, tmp_path: Path) -> None:
    found = run.finished(TrainRequest(RECIPE, whole))
    assert found is not None
    assert found.checkpoint == whole / "best.safetensors"
    assert (found.metric, found.epochs, found.seed) == ("accuracy", 3, 0)
    assert found.interval == wilson(round(30 * found.value), 30), "of the best epoch, on 30 held-out samples"
    assert run.finished(TrainRequest(RECIPE, whole, epochs=3)) == found, "3 is what the recipe says"
    assert run.finished(TrainRequest(RECIPE, whole, seed=1)) is None
    assert run.finished(TrainRequest(RECIPE, whole, args={"width": 3})) is None, "the model is another one"
    assert run.finished(TrainRequest(RECIPE, whole, epochs=2)) is None
    assert run.finished(TrainRequest("recipes.digits:recipe", whole)) is None
    assert run.finished(TrainRequest(RECIPE, tmp_path / "nothing")) is None
    damaged = shutil.copytree(whole, tmp_path / "damaged")
    flipped = bytearray((damaged / "best.safetensors").read_bytes())
    flipped[-1] ^= 1
    (damaged / "best.safetensors").write_bytes(flipped)
    assert run.finished(TrainRequest(RECIPE, damaged)) is None


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(whole: Path, other_seed: Path, tmp_path: Path) -> None:
    run.train(TrainRequest(RECIPE, tmp_path / "again"))
    assert content(tmp_path / "again") == content(whole)
    assert content(other_seed)["best.safetensors"] != content(whole)["best.safetensors"]


def test_ctrl_c_saves_within_the_epoch_and_resume_ends_with_the_same_bytes(
    whole: Path, stopped: Path, tmp_path: Path
) -> None:
    _, metadata = load_with_metadata(stopped / "last.safetensors")
    position = json.loads(metadata["position"])
    assert position["epoch"] == 1
    assert 0 < position["step"] < 40
    folder = shutil.copytree(stopped, tmp_path / "tiny")
    run.train(TrainRequest(RECIPE, folder), resume=True)
    assert content(folder) == content(whole)


def test_a_killed_run_leaves_whole_files_and_resumes_to_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    status, _ = interrupted_run(folder, signal.SIGKILL)
    assert status == -signal.SIGKILL
    assert load(folder / "best.safetensors").keys() == load(whole / "best.safetensors").keys()
    assert load(folder / "last.safetensors")
    run.ensure(TrainRequest(RECIPE, folder), Setting())  # waits for the orphaned child to notice, save and leave
    assert content(folder) == content(whole)


def test_a_finished_run_stays_until_its_successor_is_complete(whole: Path, other_seed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(other_seed, tmp_path / "tiny")
    status, _ = interrupted_run(folder, signal.SIGTERM)
    assert status == 130
    assert content(folder) == content(other_seed)
    assert (tmp_path / "tiny.partial" / "last.safetensors").is_file()
    run.ensure(TrainRequest(RECIPE, folder), Setting())
    assert content(folder) == content(whole)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]


def test_what_is_finished_is_not_trained_again(whole: Path) -> None:
    before = (whole / "run.json").stat().st_mtime_ns
    heard: list[object] = []
    said: list[str] = []
    request = TrainRequest(RECIPE, whole)
    assert run.ensure(request, Setting(on_event=heard.append, say=said.append)) == run.finished(request)
    assert run.train(request, resume=True, on_event=heard.append) == run.finished(request)
    assert (heard, (whole / "run.json").stat().st_mtime_ns) == ([], before)
    assert said == [f"{RECIPE} was trained before: {whole / 'best.safetensors'}"]


def test_an_unfinished_run_is_neither_lost_nor_mixed(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(stopped)
    with pytest.raises(UsageError, match="an unfinished run is here") as caught:
        run.train(TrainRequest(RECIPE, stopped))
    assert "--resume" in caught.value.hint
    with pytest.raises(UsageError, match="an unfinished run is here, and the run has seed 0, not 1"):
        run.ensure(TrainRequest(RECIPE, stopped, seed=1), Setting())
    with pytest.raises(UsageError, match="the run has seed 0, not 1"):
        run.train(TrainRequest(RECIPE, stopped, seed=1), resume=True)
    with pytest.raises(UsageError, match="the run has 3 epochs, not 4"):
        run.train(TrainRequest(RECIPE, stopped, epochs=4), resume=True)
    with pytest.raises(UsageError, match="the run is of"):
        run.train(TrainRequest("recipes.digits:recipe", stopped), resume=True)
    monkeypatch.setattr(run, "source_digest", lambda _reference: "0" * 64)
    with pytest.raises(UsageError, match=r"source.*has changed since"):
        run.train(TrainRequest(RECIPE, stopped), resume=True)
    assert content(stopped) == before


def test_wrong_folders_are_refused(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no unfinished run to resume"):
        run.train(TrainRequest(RECIPE, tmp_path / "none"), resume=True)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write here"):
        run.train(TrainRequest(RECIPE, tmp_path / "file"))
    with pytest.raises(UsageError, match="cannot write here"):
        run.train(TrainRequest(RECIPE, Path("/proc/nowhere")))
    shared = shutil.copytree(whole, tmp_path / "shared")
    (shared / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match=r"holds 'thesis\.tex'"):
        run.train(TrainRequest(RECIPE, shared))
    assert (shared / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"finished": true}', "\x00"])
def test_a_run_json_that_is_not_ours_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match="not the description of a run"):
        run.finished(TrainRequest(RECIPE, tmp_path))
