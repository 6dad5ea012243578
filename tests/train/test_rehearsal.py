"""A rehearsal refuses what the training would refuse, in its words, and nothing that the training would take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import ExporterError, UsageError
from exporter.base.tensors import load
from exporter.train.child import RecipeModel
from exporter.train.rehearsal import RehearsalRequest, rehearse
from tests.train.test_train_child import CASES, SOUND, spoil

Rehearse = Callable[..., Any]


@pytest.fixture
def rehearsal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rehearse:
    """Rehearse the recipe in the text given."""

    def go(text: str, **changes: Any) -> Any:
        (tmp_path / "spoilt.py").write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "spoilt", raising=False)
        return rehearse(RehearsalRequest(RecipeModel("spoilt:recipe", 0, "cpu"), **changes))

    return go


@pytest.mark.parametrize(("line", "place", "kind", "what", "where"), CASES, ids=[f"{one[0][:60]}" for one in CASES])
def test_what_the_training_refuses_is_refused_in_its_words(
    line: str, place: str, kind: type[ExporterError], what: str, where: str, rehearsal: Rehearse
) -> None:
    with pytest.raises(kind) as caught:
        rehearsal(spoil(line, place))
    assert what in caught.value.what and caught.value.hint
    assert where.partition(" after ")[0] in caught.value.where


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("", "no line"),
        ("metric = lambda out, y: float(1 / (out.std() > 0) - (out.std() == 0))", "metric"),
        ("metric = lambda out, y: 1.0 if len(out) == len(y) == 8 else None", "metric"),
        ("optimizer = lambda layer: paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.1, 1), "
         "parameters=layer.parameters())", "optimizer"),
        ("data = lambda: Samples({'x': X, 'y': Y}, {'x': X[:5], 'y': Y[:5]})", "data"),
    ],
)  # fmt: skip
def test_what_the_training_takes_is_not_refused(line: str, place: str, rehearsal: Rehearse, tmp_path: Path) -> None:
    """An untrained layer may give one answer to all, and a metric that needs two is sound; so is one of all samples."""
    rehearsal(spoil(line, place) if line else SOUND)
    assert {path.name for path in tmp_path.iterdir()} <= {"spoilt.py", "__pycache__"}, "nothing is left"


def test_a_metric_that_fails_on_whatever_comes_is_refused(rehearsal: Rehearse) -> None:
    with pytest.raises(UsageError, match="metric 'error' failed: ValueError: never"):
        rehearsal(spoil("def metric(out, y): raise ValueError('never')", "metric"))


def test_a_loss_without_a_gradient_is_refused(rehearsal: Rehearse) -> None:
    with pytest.raises(UsageError, match="the loss has no gradient"):
        rehearsal(spoil("loss = lambda out, y: paddle.to_tensor(float(out.mean()))", "loss"))


def test_it_hands_on_the_weights_that_the_model_must_fit(rehearsal: Rehearse, tmp_path: Path) -> None:
    rehearsal(SOUND, weights=tmp_path / "w.safetensors")
    assert {name: value.shape for name, value in load(tmp_path / "w.safetensors").items()} == {
        "linear.weight": (2, 1),
        "linear.bias": (1,),
    }
