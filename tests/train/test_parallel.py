"""Data-parallel training by two processes and gloo, which stand for GPUs and NCCL."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from exporter.base.errors import UsageError
from exporter.base.tensors import load
from exporter.process.workers import Setting
from exporter.spec.model import Spec
from exporter.train import run
from exporter.train.run import TrainRequest
from exporter.weights import make
from exporter.weights import rehearsal as preflight
from exporter.weights.find import find_whole
from tests.command import ROOT, exporter
from tests.sampling import some

CLI = [sys.executable, "-c", "from exporter.cli import main; main()"]


def trained(name: str, folder: Path, ranks: int = 2, **more: object) -> dict[str, np.ndarray]:
    result = run.train(TrainRequest(f"tests.train.parallel_fits:{name}", folder, ranks=ranks), **more)  # type: ignore[arg-type]
    return load(result.checkpoint)


@pytest.mark.parametrize("name", some(["plain", "accumulating"], 2))
def test_two_processes_equal_one_at_the_joint_batch(name: str, tmp_path: Path) -> None:
    """A hundred updates, with a last batch of one row; the same metric at every epoch."""
    one, two = (trained(name, tmp_path / str(ranks), ranks) for ranks in (1, 2))
    assert one.keys() == two.keys() and any(name.startswith("unused") for name in one)
    worst = max(float(np.abs(one[name] - two[name]).max()) for name in one)
    assert worst < 1e-6, worst
    moved = trained(name, tmp_path / "again", 2)
    assert all((moved[name] == two[name]).all() for name in two), "the same request gives the same bytes"
    rows = [
        [json.loads(line) for line in (tmp_path / str(ranks) / "metrics.jsonl").read_text().splitlines()]
        for ranks in (1, 2)
    ]
    assert [row["accuracy"] for row in rows[0]] == [row["accuracy"] for row in rows[1]]
    assert np.allclose([row["loss"] for row in rows[0]], [row["loss"] for row in rows[1]], rtol=1e-6)
    assert json.loads((tmp_path / "2/run.json").read_text())["ranks"] == 2


def test_ranks_draw_other_dropout_masks(tmp_path: Path) -> None:
    one, two = (trained("dropping", tmp_path / str(ranks), ranks) for ranks in (1, 2))
    assert max(float(np.abs(one[name] - two[name]).max()) for name in one) > 1e-4


def test_a_killed_rank_is_begun_again_and_ends_with_the_weights_of_an_undisturbed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = trained("dropping", tmp_path / "undisturbed")
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    found = trained("losing_a_rank", tmp_path / "killed")
    assert (tmp_path / "mark").exists() and len((tmp_path / "mark.steps").read_text()) > 2 * 51, "it was begun again"
    assert all((found[name] == undisturbed[name]).all() for name in undisturbed)


def test_the_error_of_one_rank_is_told_and_not_what_the_others_saw(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the second rank has a bad day"):
        trained("failing", tmp_path / "failing")


@pytest.mark.slow
def test_an_interrupted_training_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    whole = trained("dropping", tmp_path / "whole")
    command = [*CLI, "train", "tests.train.parallel_fits:dropping", "--out", str(tmp_path / "stopped"), "--ranks", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        while "epoch 1/2  loss" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
    assert process.returncode == 130 and "saved; the same command with --resume" in said, said
    refused = exporter(*command[3:-2], "--resume", cwd=ROOT)
    assert refused.code == 2 and "the run has 2 ranks, not 1" in refused.err
    done = exporter(*command[3:], "--resume", cwd=ROOT)
    assert done.code == 0, done.err
    found = load(tmp_path / "stopped/best.safetensors")
    assert all((found[name] == whole[name]).all() for name in whole)


@pytest.mark.parametrize(("name", "qat"), [("with_fit", False), ("plain", True)])
def test_what_ranks_cannot_share_is_refused(name: str, qat: bool, tmp_path: Path) -> None:
    request = TrainRequest(f"tests.train.parallel_fits:{name}", tmp_path / "run", ranks=2, qat=qat)
    with pytest.raises(UsageError, match="not shared among ranks"):
        run.train(request)
    assert not (tmp_path / "run").exists()


def spec(**changes: object) -> Spec:
    recipe = f"tests.train.parallel_fits:{changes.pop('recipe', 'plain')}"
    inputs = {"x": {"dtype": "float32", "shape": ["batch", 6], "values": "dataset"}}
    dims = {"batch": {"min": 1, "typical": 2, "max": 4}}
    plain = {"name": "shared", "model": "tests.train.parallel_fits:Net", "recipe": recipe, "device": "cpu"}
    return Spec.model_validate({**plain, "inputs": inputs, "dims": dims, **changes})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder in which the recipes of the tests are found."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
def test_a_spec_trains_by_ranks_and_takes_a_run_of_as_many() -> None:
    made = make.train(spec(ranks=2), Setting())
    assert made is not None
    told = json.loads((made.checkpoint.parent / "run.json").read_text())
    assert told["ranks"] == 2 and "ranks-2" in made.checkpoint.parent.name
    said: list[str] = []
    again = [make.train(one, Setting(say=said.append)) for one in (spec(ranks=2), spec())]
    assert again == [made, made] and len(said) == 2 and all("was trained before" in line for line in said)
    with pytest.raises(UsageError, match="no finished checkpoint") as refused:
        find_whole(spec(ranks=3))
    assert "--ranks 3" in refused.value.hint
    assert find_whole(spec(ranks=2)) == made.checkpoint


def test_ranks_of_a_spec_are_refused_before_anything_is_trained(place: Path) -> None:
    with pytest.raises(ValidationError, match="ranks train by a recipe"):
        spec(ranks=2, checkpoint="x.safetensors", recipe="plain")
    with pytest.raises(UsageError, match="not shared among ranks"):
        preflight.rehearse(spec(ranks=2, recipe="with_fit"), place / "smaller", Setting())
    assert not (place / "runs").exists()
