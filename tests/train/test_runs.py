"""Which run of a recipe is taken: by seed, code, epochs and metric, as `best` names it; older runs stay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import UsageError
from exporter.base.files import sha256_bytes
from exporter.gate.counts import Counting
from exporter.gate.project import Project
from exporter.gate.reuse import release as cached
from exporter.gate.reuse.depends import Depends
from exporter.gate.reuse.records import ReleaseRecord
from exporter.process.workers import Setting
from exporter.spec.model import Spec
from exporter.spec.recipe.source import source_digest
from exporter.train.document import named
from exporter.train.run import TrainRequest, TrainResult, finished
from exporter.train.runs import Runs
from exporter.weights import make
from exporter.weights.find import look_up
from tests.command import exporter
from tests.described import small

RECIPE = "recipes.steps:recipe"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the runs of a recipe, in a working folder that has it."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes/steps.py").write_text("recipe = 1\n")
    monkeypatch.chdir(tmp_path)
    return Path("runs/steps")


def run_in(folder: Path, value: float, *, seed: int = 0, epochs: int = 3, goal: str = "max", **more: Any) -> Path:
    """Leave what a training leaves: the file that describes a finished run, and a checkpoint."""
    folder.mkdir(parents=True)
    weights = f"{seed} {epochs} {value}".encode()
    (folder / "best.safetensors").write_bytes(weights)
    told = {
        **{"recipe": RECIPE, "recipe_digest": source_digest(RECIPE), "recipe_epochs": 3, "epochs": epochs},
        **{"seed": seed, "device": "cpu", "paddle": "3.3.1", "finished": True},
        "metric": {"name": "accuracy", "goal": goal, "value": value, "epoch": 1},
        "checkpoint": {"file": "best.safetensors", "sha256": sha256_bytes(weights)},
        **more,
    }
    (folder / "run.json").write_text(json.dumps(told))
    return folder


def made(home: Path, value: float, seed: int = 0, epochs: int | None = None, **more: Any) -> tuple[Path, Path | None]:
    """The folder of a run that was made now, and the one that `best` names then."""
    runs = Runs(TrainRequest(RECIPE, home, seed, epochs))
    folder = run_in(runs.placed().into, value, seed=seed, epochs=epochs or 3, **more)
    found = finished(replace(runs.placed(), into=folder))
    assert found is not None
    return folder, runs.point(found)


def taken(home: Path, seed: int | None = None) -> Path | None:
    """The folder that a release takes from."""
    found = Runs(TrainRequest(RECIPE, home, seed or 0), any_seed=seed is None).chosen()
    return found.checkpoint.parent if found else None


def spec(**keys: Any) -> Spec:
    return Spec.model_validate(small("models.sound:mlp", recipe=RECIPE, **keys))


def test_each_seed_and_each_code_has_a_folder_and_best_names_the_best(home: Path) -> None:
    first, best = made(home, 0.9)
    assert best == first and first.name.startswith("seed-0-") and named(home) == first.name
    better, best = made(home, 0.95, seed=1)
    assert best == better == taken(home)
    worse, best = made(home, 0.8, seed=2)
    assert best == better == taken(home) and {first, better, worse} <= set(home.iterdir())
    equal, best = made(home, 0.95, seed=3)
    assert best == better, "as good is no reason to move"
    assert taken(home, seed=2) == worse and taken(home, seed=9) is None
    assert not list(home.glob("*.partial")) and equal != better


def test_less_is_better_where_the_recipe_says_so(home: Path) -> None:
    made(home, 0.5, goal="min")
    lower, best = made(home, 0.1, seed=1, goal="min")
    assert best == lower


def test_a_run_of_other_code_stays_and_is_not_taken(home: Path) -> None:
    old, _ = made(home, 0.99)
    Path("recipes/steps.py").write_text("recipe = 2\n")
    assert taken(home) is None
    new, best = made(home, 0.5)
    assert new != old and best == new == taken(home) and (old / "best.safetensors").is_file()
    Path("recipes/steps.py").write_text("recipe = 1\n")
    assert taken(home) == old, "best names a run of other code, so it does not count"


def test_more_epochs_than_the_recipe_says_may_be_best_and_fewer_never_are(home: Path) -> None:
    few, best = made(home, 1.0, epochs=1)
    assert best is None and taken(home) is None and named(home) == ""
    plain, best = made(home, 0.8)
    assert best == plain
    many, best = made(home, 0.9, epochs=50)
    assert best == many == taken(home) and len({few, plain, many}) == 3 and "epochs-50" in many.name


def test_what_best_names_by_hand_is_taken(home: Path) -> None:
    worse, _ = made(home, 0.8, seed=1)
    made(home, 0.9)
    (home / "best").write_text(worse.name)
    assert taken(home) == worse
    made(home, 0.7, seed=2)
    assert taken(home) == worse, "a run that is no better changes nothing"


@pytest.mark.parametrize("name", ["", "none", "../steps", "/etc", "\0", ".."])
def test_where_best_names_no_run_the_metric_decides(home: Path, name: str) -> None:
    made(home, 0.8, seed=1)
    better, _ = made(home, 0.9)
    (home / "best").write_text(name)
    assert taken(home) == better


def test_a_damaged_checkpoint_is_not_taken(home: Path) -> None:
    worse, _ = made(home, 0.8, seed=1)
    better, _ = made(home, 0.9)
    (better / "best.safetensors").write_bytes(b"cut off")
    assert taken(home) == worse


def test_a_run_of_an_earlier_version_is_read_where_it_lies(home: Path) -> None:
    assert run_in(home, 0.9) == taken(home)
    worse, best = made(home, 0.8, seed=1)
    assert best == home and (home / "best").read_text() == ".\n" and worse.is_dir() and taken(home) == home
    better, best = made(home, 0.95, seed=2)
    assert best == better and (home / "run.json").is_file()


def test_an_unfinished_run_of_an_earlier_version_goes_on_where_it_lies(home: Path) -> None:
    run_in(home, 0.9, finished=False)
    (home / "last.safetensors").touch()
    request = TrainRequest(RECIPE, home)
    assert Runs(request).placed().into == home
    assert Runs(replace(request, seed=1)).placed().into.parent == home
    made(home, 0.9, seed=2)
    assert Runs(request).placed().into.parent == home


def test_a_release_takes_what_best_names_and_trains_nothing(home: Path) -> None:
    made(home, 0.9)
    better, _ = made(home, 0.95, seed=7)
    said: list[str] = []
    found = make.train(look_up(spec()), Setting(say=said.append))
    assert isinstance(found, TrainResult) and (found.seed, found.checkpoint.parent) == (7, better)
    assert said == [f"{RECIPE} was trained before: {better}/best.safetensors"]
    assert look_up(spec()).require_whole() == found.checkpoint


def test_a_seed_that_the_spec_gives_is_kept_to(home: Path) -> None:
    first, _ = made(home, 0.9)
    made(home, 0.95, seed=7)
    assert look_up(spec(seed=0)).require_whole() == first / "best.safetensors"
    with pytest.raises(UsageError, match="no finished checkpoint"):
        look_up(spec(seed=3)).require_whole()
    runs = look_up(spec(seed=3)).runs
    assert runs is not None and runs.placed().into not in set(home.iterdir())


def test_another_best_run_is_another_release(home: Path) -> None:
    first, _ = made(home, 0.9)
    asked = spec().model_dump(mode="json")
    nothing = Counting((), (), (), ())
    record = ReleaseRecord(asked, "", first.name, {}, {}, nothing, Depends(), {}, "", "", "", "", None)
    better, _ = made(home, 0.95, seed=1)
    assert cached._difference(record, asked, {}, Project({}, {})) == f"the best run of its recipe is {better.name}"
    assert cached._best_run({**asked, "checkpoint": "w.safetensors"}) == ""
    assert cached._best_run({**asked, "recipe": None}) == ""


def test_the_command_says_where_it_wrote_and_which_run_is_best(workplace: Path) -> None:
    recipe = (Path(__file__).parent / "tiny.py").read_text()
    (workplace / "recipes/tiny.py").write_text(recipe)
    done = exporter("train", "tiny", "--epochs", "1", cwd=workplace)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("runs/tiny/seed-0-epochs-1-") and "/best.safetensors: accuracy" in lines[0]
    assert lines[1] == "runs/tiny/best: none with as many epochs as the recipe says"
    told = exporter("train", "tiny", "--seed", "5", "--json", "--quiet", cwd=workplace).json()
    best = workplace / "runs/tiny" / (workplace / "runs/tiny/best").read_text().strip()
    assert str(best.relative_to(workplace)) == told["best"] == str(Path(told["checkpoint"]).parent)
    assert sorted(path.name for path in (workplace / "runs/tiny").iterdir()) == sorted(
        ["best", best.name, Path(lines[0].partition(":")[0]).parent.name]
    )
