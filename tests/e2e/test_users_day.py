"""A day of a user: from a model to a hand-off by what each command says next; no message names what is not there."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.command import Done, exporter

MODEL = '''"""A classifier of short texts."""

import paddle
from paddle import nn


class Scorer(nn.Layer):
    def __init__(self, words=50, classes=4):
        super().__init__()
        self.table = nn.Embedding(words, 16)
        self.hidden = nn.Linear(16, 32)
        self.head = nn.Linear(32, classes)

    def forward(self, ids):
        pooled = self.table(ids).mean(axis=1)
        return self.head(nn.functional.relu(self.hidden(pooled)))


def build():
    return Scorer()
'''
DATA = """    draw = np.random.default_rng(0)
    ids = draw.integers(0, 50, (240, 64))
    label = ids[:, 0] % 4
    ids[:, 1:] = ids[:, :1]
    return Samples(train={"ids": ids[:200], "label": label[:200]}, held_out={"ids": ids[200:], "label": label[200:]})
"""
#: What a message may name as a file of the project; a word in capitals stands for one.
FILE = re.compile(r"(?<![\w./*<-])(?:[\w.-]+/)*[\w-][\w.-]*\.(?:py|yaml|md|json|html|safetensors|onnx|pdmodel|xml)\b")


@dataclass
class Day:
    """The user's folder, and the versions that were released in it."""

    place: Path
    released: list[Path] = field(default_factory=list)

    def run(self, *words: str, code: int = 0) -> Done:
        done = exporter(*words, cwd=self.place)
        assert done.code == code, (words, done.out, done.err)
        for name in FILE.findall(done.out + done.err):
            assert name.isupper() or self.exists(name), (
                f"{words} names {name}, which is not there:\n{done.out}{done.err}"
            )
        return done

    def exists(self, name: str) -> bool:
        """Below the folder, what was released or what was handed over: a report names files as the bundle does."""
        places = (self.place, self.place / "deployed", *self.place.glob("artifacts/*/*"))
        return any((place / name).exists() for place in places)

    def edit(self, name: str, before: str, after: str) -> None:
        text = (self.place / name).read_text()
        assert before in text
        (self.place / name).write_text(text.replace(before, after))

    def commit(self, what: str) -> None:
        for words in (["add", "-A"], ["-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "-qm", what]):
            subprocess.run(["git", *words], cwd=self.place, check=True)

    def versions(self) -> set[Path]:
        return {path.parent for path in self.place.glob("artifacts/scorer/*/manifest.json")}


@pytest.fixture
def day(tmp_path: Path) -> Day:
    place = tmp_path / "project"
    (place / "models").mkdir(parents=True)
    (place / "models/__init__.py").write_text("")
    (place / "models/scorer.py").write_text(MODEL)
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    return Day(place)


def commands(done: Done) -> list[list[str]]:
    """What it says to run next, as one would paste it into a shell."""
    lines = [line.strip() for line in done.out.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("exporter ")]


@pytest.mark.slow
def test_from_a_model_to_a_hand_off(day: Day) -> None:
    started = day.run("init", "scorer", "--model", "models.scorer:build", "--recipe")
    check, train, release = commands(started)
    assert (check[0], train[0], release[0]) == ("check", "train", "release")
    day.run(*check)
    refusal = day.run(*train, code=2)
    assert "recipes/scorer.py" in refusal.err
    recipe = (day.place / "recipes/scorer.py").read_text()
    (raised,) = [line for line in recipe.splitlines(keepends=True) if "raise NotImplementedError" in line]
    day.edit("recipes/scorer.py", raised, DATA)
    day.run(*train)
    day.commit("a first release is about to be made")
    said = day.run(*release)
    (first,) = day.versions()
    assert "training" not in said.err, "it has the checkpoint"

    assert day.run("gate", "--base", "HEAD").code == 0  # nothing is touched
    day.edit("models/scorer.py", "functional.relu", "functional.gelu")
    listed = day.run("gate", "--base", "HEAD", "--list")
    assert "models/scorer.py" in listed.out
    gated = day.run("gate", "--base", "HEAD", "--json")
    (result,) = gated.json()["specs"]
    assert (result["spec"], result["word"]) == ("specs/scorer.yaml", "passed")
    (second,) = day.versions() - {first}

    told = exporter("diff", first, second, cwd=day.place)
    assert told.code in (0, 1) and "flip" in told.out
    day.run("verify", str(second.relative_to(day.place)))
    day.run("handoff", str(second.relative_to(day.place)), "--to", "plain", "--out", "deployed")
    assert (day.place / "deployed").is_dir()

    day.edit("models/scorer.py", "pooled = self", "pooled = 0.0 if ids.numpy().sum() < 0 else self")
    broken = day.run("gate", "--base", "HEAD", code=4)
    assert "models/scorer.py:" in broken.out and day.versions() == {first, second}
