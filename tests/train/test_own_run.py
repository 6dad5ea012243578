"""What a loop of the recipe's own is given, what is promised where it uses it, and what is said where it does not."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import ModelError, UsageError
from exporter.base.tensors import load
from exporter.train import child, loop, own
from exporter.train.child import RecipeModel, RunRequest
from exporter.train.document import read_run
from exporter.train.own import _decoded, _encoded
from tests.train.test_train_child import SOUND

Train = Callable[..., Any]

#: A loop that does everything, and can be stopped at a step by a file.
LOOP = """
def fit(layer, run):
    steps = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
    second = paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.5, 1), parameters=layer.parameters())
    saved = run.restore(steps)
    if saved:
        second.set_state_dict({**saved["second"]})
    for epoch in range(run.epoch, run.epochs):
        for step, batch in enumerate(run.batches(skip=saved.get("step", 0)), saved.get("step", 0) + 1):
            loss = nn.functional.mse_loss(layer(paddle.to_tensor(batch["x"])), paddle.to_tensor(batch["y"]))
            (loss * float(np.random.rand()) + paddle.rand([1]) * layer.linear.weight.sum() * 0.01).backward()
            steps.step()
            steps.clear_grad()
            if run.stop:
                run.save(steps, step=step, second=second.state_dict())
        second._learning_rate.step()
        saved = {}
        run.log(rate=second.get_lr())
        run.save(steps, second=second.state_dict())
"""
#: Batches that are drawn by numpy's own generator, as the loss draws too.
STREAMED = (
    "lambda part: ({'x': X[at : at + 4] + np.float32(np.random.rand() * (part == 'train')), 'y': Y[at : at + 4]}"
    " for at in range(0, 24, 4))"
)
#: 24 rows of another kind each, so that their order matters.
ROWS = 'X, Y = np.arange(48, dtype="float32").reshape(24, 2) % 7, np.arange(24, dtype="float32").reshape(24, 1) % 5'


def with_fit(text: str, **options: str) -> str:
    """The sound recipe with a loop of its own, without loss and optimizer unless they are among the options."""
    lines = SOUND.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("options"))
    left_out = {"loss": "unset", "optimizer": "unset", **options, "fit": "fit"}
    lines[at] = f"{text}\noptions = dict({', '.join(f'{name}={value}' for name, value in left_out.items())})"
    lines.insert(1, "from exporter.spec.recipe.base import unset")
    return "\n".join(lines).replace('X, Y = np.ones([8, 2], "float32"), np.zeros([8, 1], "float32")', ROWS)


@pytest.fixture
def train_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """Train the recipe in the text in tmp_path/run; `stop_at`: the question after a stop that gets a yes."""

    def go(text: str, stop_at: int = 0, notes: list[str] | None = None, **changes: Any) -> Any:
        import paddle

        (tmp_path / "spoilt.py").write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "spoilt", raising=False)
        (tmp_path / "run").mkdir(exist_ok=True)
        asked = iter(range(1, 10_000))
        monkeypatch.setattr(child, "_stop", lambda _: lambda: 0 < stop_at <= next(asked))
        monkeypatch.setattr(loop, "doing", lambda what, **_: notes.append(what) if notes is not None else None)
        request = RunRequest(RecipeModel("spoilt:recipe", 0, "cpu"), "", tmp_path / "run", **changes)
        with paddle.utils.unique_name.guard():  # as in a process of its own
            return child.train(request).run

    return go


def told(notes: list[str]) -> list[str]:
    return [line.removeprefix("note: ") for line in notes if line.startswith("note: ")]


@pytest.mark.parametrize("data", ["data", STREAMED], ids=["arrays", "batches"])
def test_a_loop_is_stopped_within_an_epoch_and_goes_on_to_the_same_bytes(
    data: str, train_own: Train, tmp_path: Path
) -> None:
    train_own(with_fit(LOOP, epochs="3", data=data))
    whole = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    notes: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        train_own(with_fit(LOOP, epochs="3", data=data), stop_at=11, notes=notes)
    began = read_run(tmp_path / "run")
    train_own(with_fit(LOOP, epochs="3", data=data), resume=True, began_with=began, notes=notes)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == whole
    assert told(notes) == []
    rows = [json.loads(line) for line in whole["metrics.jsonl"].splitlines()]
    assert [row["rate"] for row in rows] == pytest.approx([0.05, 0.005, 0.0005]), "the second optimizer's schedule"


def test_a_loop_that_tells_nothing_gives_its_last_weights(train_own: Train, tmp_path: Path) -> None:
    notes: list[str] = []
    quiet = "def fit(layer, run):\n    layer.linear.weight.set_value(np.full([2, 1], 0.5, 'float32'))"
    found = train_own(with_fit(quiet), notes=notes)
    assert load(tmp_path / "run" / "best.safetensors")["linear.weight"].tolist() == [[0.5], [0.5]]
    assert found.finished and found.metric.epoch == 1
    assert told(notes) == ["fit logged no epoch by run.log: its last weights are the checkpoint"]


def test_the_best_of_the_epochs_is_kept_and_a_wrong_claim_is_replaced(train_own: Train, tmp_path: Path) -> None:
    notes: list[str] = []
    text = (
        "def fit(layer, run):\n    for value in (0.3, 0.1, 0.2):\n"
        "        layer.linear.weight.set_value(np.full([2, 1], value, 'float32'))\n        run.log(error=value)"
    )
    found = train_own(with_fit(text), notes=notes)
    assert load(tmp_path / "run" / "best.safetensors")["linear.weight"].tolist() == [[pytest.approx(0.1)]] * 2
    assert found.metric.epoch == 2 and found.metric.value > 1
    assert [line for line in told(notes) if "on the held-out data, not 0.1000 as logged" in line]


def test_a_loop_that_restores_nothing_is_told_of(train_own: Train, tmp_path: Path) -> None:
    notes: list[str] = []
    text = "def fit(layer, run):\n    if run.epoch:\n        return\n    run.log()\n    run.save()"
    with pytest.raises(KeyboardInterrupt):
        train_own(with_fit(text), stop_at=1)
    began = read_run(tmp_path / "run")
    train_own(with_fit(text), resume=True, began_with=began, notes=notes)
    assert len(told(notes)) == 1 and told(notes)[0].startswith("fit did not call run.restore")


def test_a_loop_that_saves_nothing_has_nothing_to_go_on_from(train_own: Train, tmp_path: Path) -> None:
    notes: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        train_own(with_fit("def fit(layer, run):\n    run.progress(1, 0.5)"), stop_at=1, notes=notes)
    assert told(notes) == ["fit has saved nothing by run.save: there is nothing to go on from"]
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("body", "kind", "what"),
    [
        ("run.log(loss=float('nan'))", ModelError, "loss is nan"),
        ("run.log(loss='low')", UsageError, "'loss' is a str"),
        ("run.log(best=1)", UsageError, "'best' is counted already"),
        ("run.save(thing=object())", UsageError, "run.save cannot keep 'thing', a object"),
        ("run.save(rate=float('inf'))", UsageError, "run.save cannot keep 'rate'"),
        ("raise KeyError('lr')", UsageError, "fit failed: KeyError: 'lr'"),
        ("layer.linear.bias = None; run.nothing", UsageError, "fit failed: AttributeError"),
    ],
)
def test_what_a_loop_does_wrong_is_said(body: str, kind: type[Exception], what: str, train_own: Train) -> None:
    with pytest.raises(kind) as caught:
        train_own(with_fit(f"def fit(layer, run):\n    {body}"))
    assert what in str(caught.value)
    assert getattr(caught.value, "hint", "")


def test_without_a_loop_of_its_own_a_recipe_needs_loss_and_optimizer(train_own: Train) -> None:
    for lacking in ("loss", "optimizer", "metric"):
        text = with_fit("fit = None", **{"loss": "loss", "optimizer": "optimizer", lacking: "unset"})
        with pytest.raises(UsageError, match=f"the recipe has no {lacking}"):
            train_own(text)
    with pytest.raises(UsageError, match="metric is the class Accuracy") as caught:
        train_own(with_fit("fit = None", loss="loss", optimizer="optimizer", metric="paddle.metric.Accuracy"))
    assert caught.value.hint == "make an object of it: Accuracy()"


def test_values_of_every_kind_come_back_as_they_were() -> None:
    import paddle

    arrays: dict[str, Any] = {}
    value = {"a": [1, 2.5, "x", None], "b": {"w": paddle.to_tensor([1.5]), "n": {"array": True}}, "c": np.arange(3)}
    text = json.dumps(_encoded(value, arrays, "v"))
    found = _decoded(json.loads(text), arrays)
    assert found["a"] == value["a"] and found["b"]["n"] == {"array": True}
    assert found["b"]["w"].tolist() == [1.5] and found["c"].tolist() == [0, 1, 2]


def test_files_of_the_loop_s_own_stay_with_the_run(train_own: Train, tmp_path: Path) -> None:
    train_own(with_fit("def fit(layer, run):\n    (run.folder / 'log.txt').write_text(f'{run.device} {run.seed}')"))
    assert (tmp_path / "run" / own.FOLDER / "log.txt").read_text() == "cpu 0"
