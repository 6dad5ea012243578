"""`exporter train` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def exporter(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from exporter.cli import main; main()", "train", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_digits_are_read_as_well_as_promised(tmp_path: Path) -> None:
    done = exporter("digits", "--out", str(tmp_path / "digits"))
    assert done.returncode == 0, done.stderr
    checkpoint, _, said = done.stdout.partition(": ")
    assert checkpoint == str(tmp_path / "digits" / "best.safetensors")
    assert Path(checkpoint).is_file()
    assert said.startswith("accuracy 0.9")
    assert float(said.split()[1]) >= 0.975
    assert "epoch 12/12  loss" in done.stderr


def test_json_is_one_object_and_quiet_is_quiet(tmp_path: Path) -> None:
    done = exporter(
        "tests/train/tiny.py", "--out", str(tmp_path / "run"), "--epochs", "1", "--seed", "4", "--json", "--quiet"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found.keys() == {
        *("best", "checkpoint", "interval", "metric", "value", "epoch", "epochs", "recipe", "recipe_digest", "seed"),
        "missed",
    }
    assert (found["recipe"], found["seed"], found["epochs"]) == ("tests.train.tiny:recipe", 4, 1)
    assert Path(found["checkpoint"]).is_file()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["digit"], 2, "recipes.digit:recipe: no module named 'recipes.digit'\n  try: one of the recipes here: digits"),
        (["digits", "--resume", "--out", "{tmp}/none"], 2, "no unfinished run to resume"),
        (["digits", "--epochs", "0"], 2, "--epochs"),
        (["digits", "--qat", "{tmp}/none.safetensors", "--out", "{tmp}/run"], 2, "no such checkpoint"),
        (["digits", "--seed", "-1"], 2, "--seed"),
        (["digits", "--out", "/proc/nowhere"], 2, "/proc/nowhere: cannot write here"),
        (["tests.train.tiny:optimizer", "--out", "{tmp}/run"], 2, "this is a function, not a Recipe"),
        (["tests.train.tiny:recipe", "--out", "{tmp}/run", "--device", "gpu:99"], 3, "no device 'gpu:99'"),
        (
            ["tests.train.tiny:recipe", "--epochs", "99999", "--out", "{tmp}/run", "--timeout", "1"],
            4,
            "its limit of 1 s",
        ),
    ],
)
def test_a_mistake_is_said_without_a_traceback(arguments: list[str], status: int, said: str, tmp_path: Path) -> None:
    done = exporter(*(one.format(tmp=tmp_path) for one in arguments))
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    if "--timeout" not in arguments:  # how far a child comes within its limit depends on the machine
        assert not list(tmp_path.iterdir())


def test_a_mistake_is_json_too_when_asked() -> None:
    done = exporter("digit", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["exit"] == 2
