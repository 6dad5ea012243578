"""The curves of a run, read back from the files that the viewers read."""

from __future__ import annotations

import json
import struct
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from exporter.base.errors import EnvironmentLacks, UsageError
from exporter.train import log
from exporter.train.document import Row
from exporter.train.log import LOGGERS, Log
from tests.command import ROOT, environment, exporter
from tests.train.test_train_run import CLI, RECIPE

Curves = dict[str, list[tuple[int, float]]]
STEPS = 40  # of an epoch
FINDABLE = environment(PYTHONPATH=str(ROOT))


def tensorboard(folder: Path) -> Curves:
    from tensorboardX.proto.event_pb2 import Event

    def records(content: bytes) -> Iterator[bytes]:
        while content:
            (size,) = struct.unpack("<Q", content[:8])  # behind it a checksum of 4 bytes, the record, and another one
            yield content[12 : 12 + size]
            content = content[16 + size :]

    found: Curves = defaultdict(list)
    for path in sorted(folder.glob("events.*")):
        for event in map(Event.FromString, records(path.read_bytes())):
            for value in event.summary.value:
                found[value.tag].append((event.step, value.simple_value))
    return found


def visualdl(folder: Path) -> Curves:
    from visualdl import LogReader

    found: Curves = defaultdict(list)
    for path in sorted(folder.glob("vdlrecords.*")):
        reader = LogReader(file_path=str(path))
        for tag in reader.get_tags().get("scalar", []):
            found[tag] += [(point.id, point.value) for point in reader.get_data("scalar", tag)]
    return found


def reader_of(name: str) -> Callable[[Path], Curves]:
    if find_spec(LOGGERS[name].package) is None:
        pytest.skip(f"{LOGGERS[name].package} is not installed")
    return {"tensorboard": tensorboard, "visualdl": visualdl}[name]


@pytest.mark.parametrize("name", LOGGERS.names())
def test_every_step_and_every_epoch_is_a_point(name: str, tmp_path: Path) -> None:
    read = reader_of(name)
    done = exporter("train", RECIPE, "--out", "run", "--epochs", "2", "--log", name, cwd=tmp_path, env=FINDABLE)
    assert done.code == 0, done.err
    folder = tmp_path / "run" / "logs" / name
    assert f"{LOGGERS[name].viewer} {Path('run', 'logs', name)}" in done.out
    curves = read(folder)
    assert [step for step, _ in curves["step/loss"]] == list(range(1, 2 * STEPS + 1))
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    for key in ("loss", "held_out_loss", "accuracy", "learning_rate"):
        points = [(row["epoch"] * STEPS, pytest.approx(row[key], rel=1e-6)) for row in rows]
        assert curves[f"epoch/{key}"] == points
    per_step = [value for _, value in curves["step/loss"]]
    assert sum(per_step[:STEPS]) / STEPS == pytest.approx(rows[0]["loss"], rel=1e-5)


def test_a_resumed_run_goes_on_where_the_log_was(tmp_path: Path) -> None:
    read, folder = reader_of("tensorboard"), tmp_path / "run"
    command = [*CLI, "train", RECIPE, "--out", str(folder), "--log", "tensorboard"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stderr is not None
        while "epoch 1/3  loss" not in (line := process.stderr.readline()):
            assert line, "it ended early"
        process.terminate()
        process.stderr.read()
    done = exporter("train", RECIPE, "--out", "run", "--log", "tensorboard", "--resume", cwd=tmp_path, env=FINDABLE)
    assert done.code == 0, done.err
    points = read(folder / "logs" / "tensorboard")["step/loss"]
    assert [step for step, _ in points] == list(range(1, 3 * STEPS + 1))


@pytest.mark.slow
def test_the_weights_do_not_know_of_the_log(tmp_path: Path) -> None:
    reader_of("tensorboard")
    for name, more in (("with", ["--log", "tensorboard"]), ("without", [])):
        done = exporter("train", RECIPE, "--out", name, "--epochs", "1", *more, cwd=tmp_path, env=FINDABLE)
        assert done.code == 0, done.err
    read = [(tmp_path / name / "best.safetensors").read_bytes() for name in ("with", "without")]
    assert read[0] == read[1]


def test_a_run_that_is_trained_again_begins_a_new_log(tmp_path: Path) -> None:
    old = tmp_path / log.FOLDER / "tensorboard" / "events.old"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"")
    done = exporter("train", RECIPE, "--out", ".", "--epochs", "1", cwd=tmp_path, env=FINDABLE)
    assert done.code == 0, done.err
    assert not (tmp_path / log.FOLDER).exists()


def test_an_unknown_logger_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown logger 'tensorbord'") as caught:
        log.require(["tensorbord"])
    assert "did you mean 'tensorboard'" in caught.value.hint
    done = exporter("train", RECIPE, "--out", str(tmp_path / "run"), "--log", "tensorbord", cwd=tmp_path, env=FINDABLE)
    assert done.code == 2
    assert not (tmp_path / "run").exists()


def test_a_logger_that_is_not_installed_is_said_before_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOGGERS["visualdl"], "package", "no_such_package")
    with pytest.raises(EnvironmentLacks, match="no_such_package is not installed") as caught:
        log.require(["visualdl"])
    assert "visualdl" in caught.value.hint


def test_no_logger_writes_nothing(tmp_path: Path) -> None:
    silent = Log(folder=tmp_path)
    silent.begin([])
    silent.step(1, 0.5)
    silent.epoch(Row(1, 1, {"loss": 0.5}, best=True))
    silent.close()
    assert not list(tmp_path.iterdir())
