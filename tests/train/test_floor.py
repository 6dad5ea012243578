"""The floor that a recipe states for its metric: a whole training below it is refused, and nothing is released."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exporter.base.errors import ExitCode
from exporter.train.run import TrainRequest, finished
from tests.command import exporter


@pytest.fixture
def hopeless(workplace: Path) -> Path:
    """A working folder whose linear regression is to explain what it cannot."""
    recipe = workplace / "recipes/linear.py"
    recipe.write_text(recipe.read_text().replace("EPOCHS = 40", "EPOCHS = 2").replace("floor=0.3", "floor=0.99"))
    return workplace


def test_a_training_below_the_floor_is_refused_and_released_by_nobody(hopeless: Path) -> None:
    done = exporter("train", "linear", cwd=hopeless)
    assert done.code == ExitCode.REFUSED and "does not reach the recipe's floor, 0.99" in done.out
    assert "try: train longer" in done.err
    done = exporter("release", "specs/linear.yaml", cwd=hopeless)
    assert done.code == ExitCode.MODEL and "does not reach the recipe's floor, 0.99" in done.err
    assert not (hopeless / "artifacts").exists() or not list((hopeless / "artifacts").rglob("manifest.json"))


def test_a_shorter_training_has_no_floor(hopeless: Path) -> None:
    assert exporter("train", "linear", "--epochs", "1", cwd=hopeless).code == ExitCode.PASSED


@pytest.mark.parametrize(("goal", "missed"), [("max", 0.5), ("min", None)])
def test_the_goal_says_which_side_of_the_floor_is_good(
    hopeless: Path, monkeypatch: pytest.MonkeyPatch, goal: str, missed: float | None
) -> None:
    assert exporter("train", "linear", "--out", "run", cwd=hopeless).code == ExitCode.REFUSED
    path = hopeless / "run/run.json"
    told = json.loads(path.read_text())
    told["metric"] |= {"goal": goal, "value": 0.25, "floor": 0.5}
    path.write_text(json.dumps(told))
    monkeypatch.chdir(hopeless)
    result = finished(TrainRequest("recipes.linear:recipe", Path("run")))
    assert result is not None and result.missed == missed and bool(result.shortfall) == (missed is not None)
