"""Every form in which a recipe may give batches, and that no more of them is held than is needed."""

from __future__ import annotations

import random
import time
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import psutil
import pytest
from paddle.io import DataLoader, Dataset, IterableDataset

from exporter.base.errors import UsageError
from exporter.paddle import loading
from exporter.spec.recipe import batches as module
from exporter.spec.recipe.base import Part, Recipe, Samples, Training
from exporter.spec.recipe.batches import Stream, as_array, batch_digest
from exporter.spec.recipe.load import load_batches, load_data, rows_of
from exporter.train import evaluate

ROWS, SIZE = 12, 4
X = np.arange(ROWS * 2, dtype="float32").reshape(ROWS, 2)
Y = np.arange(ROWS)


def cut() -> list[dict[str, Any]]:
    return [{"x": X[start : start + SIZE], "y": Y[start : start + SIZE]} for start in range(0, ROWS, SIZE)]


class Rows(Dataset):
    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        return X[index], Y[index]


class Noisy(Rows):
    """Augmented by the global generators, as samples usually are."""

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        return X[index] + np.float32(np.random.rand() + random.random()), Y[index]


class Stuck(Rows):
    """Its samples take for ever."""

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        while True:
            time.sleep(1)


#: A loader of each part that keeps its workers.
KEPT = {
    part: DataLoader(Rows(), batch_size=SIZE, num_workers=1, persistent_workers=True) for part in ("train", "held_out")
}


def generated(part: Part) -> Iterator[dict[str, Any]]:
    del part
    yield from cut()


FORMS: dict[str, Any] = {
    "dicts": lambda part: cut(),
    "tuples": lambda part: [tuple(batch.values()) for batch in cut()],
    "tensors": lambda part: [[paddle.to_tensor(value) for value in batch.values()] for batch in cut()],
    "generator": generated,
    "DataLoader": lambda part: DataLoader(Rows(), batch_size=SIZE),
    "DataLoader with workers": lambda part: DataLoader(Rows(), batch_size=SIZE, num_workers=2),
    "Dataset": lambda part: Rows(),
}


def recipe(data: Any, **changes: Any) -> Recipe:
    made = Recipe(
        build=lambda: paddle.nn.Linear(2, ROWS),
        data=data,
        inputs=("x",),
        labels=("y",),
        loss=paddle.nn.functional.cross_entropy,
        metric=lambda out, y: float((out.argmax(1) == y).mean()),
        metric_name="accuracy",
        optimizer=lambda layer: paddle.optimizer.SGD(parameters=layer.parameters()),
        epochs=1,
        batch_size=SIZE,
    )
    return replace(made, **changes)


def arrays_of(found: Any) -> list[dict[str, list[Any]]]:
    return [{name: as_array(value).tolist() for name, value in batch.items()} for batch in found]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_same_batches_in_each_pass(form: str) -> None:
    found = load_batches(recipe(FORMS[form]), "here")
    expected = arrays_of(cut())
    assert arrays_of(found.held_out()) == expected
    assert arrays_of(found.held_out()) == expected, "a second pass begins at the beginning"
    for number in (0, 1):
        epoch = arrays_of(found.epoch(0, number))
        assert sorted(row for batch in epoch for row in batch["y"]) == list(range(ROWS))
        assert all(X[batch["y"]].tolist() == batch["x"] for batch in epoch), "inputs and labels are of one row"
        assert arrays_of(found.epoch(0, number, skip=2)) == epoch[2:]
    assert found.steps == len(expected)


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


@pytest.mark.parametrize(
    "made",
    [recipe(FORMS["DataLoader with workers"]), recipe(FORMS["Dataset"], training=Training(workers=2))],
    ids=["of a DataLoader", "of training"],
)
def test_workers_end_with_what_asks_them(made: Recipe) -> None:
    before = children()
    found = load_batches(made, "here")
    assert children() == before, "the first batches were looked at, and no more of them"
    epoch = found.epoch(0, 0)
    next(epoch)
    assert children() > before
    epoch.close()
    assert children() == before
    assert len(list(found.held_out())) == 3
    assert children() == before


def test_a_pass_begins_at_the_beginning_where_the_loader_keeps_its_workers() -> None:
    found = load_batches(recipe(lambda part: KEPT[part]), "here")
    for _ in range(2):
        assert arrays_of(found.held_out()) == arrays_of(cut())
        next(found.held_out())
    assert all(loader._persistent_workers for loader in KEPT.values()), "the user's own is as it was"


def test_workers_that_do_not_end_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = children()
    iterator = iter(DataLoader(Stuck(), batch_size=SIZE, num_workers=1))
    monkeypatch.setattr(loading, "_SECONDS", 0.1)
    assert children() > before
    loading.end_workers(iterator)
    assert children() == before


def test_a_dataset_is_shuffled_by_seed_and_epoch() -> None:
    found = load_batches(recipe(FORMS["Dataset"]), "here")
    orders = {tuple(y for batch in arrays_of(found.epoch(*at)) for y in batch["y"]) for at in ((0, 0), (0, 1), (1, 0))}
    assert len(orders) == 3
    assert arrays_of(found.epoch(0, 1)) == arrays_of(found.epoch(0, 1))


def test_an_augmented_sample_depends_on_the_epoch_and_not_on_what_was_skipped_nor_disturbs_anyone() -> None:
    found = load_batches(recipe(lambda part: Noisy()), "here")
    state = np.random.get_state()[1].tolist(), random.getstate()
    stream = found.epoch(3, 1)
    next(stream)  # Stream seeds when an epoch begins, and a sample leaves the generators as they are
    seeded = np.random.get_state()[1].tolist(), random.getstate()
    rest = arrays_of(stream)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == seeded != state
    assert arrays_of(found.epoch(3, 1, skip=1)) == rest
    assert arrays_of(found.epoch(3, 2, skip=1)) != rest


def test_a_window_is_as_large_as_it_has_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WINDOW_ROWS", 6)
    drawn = []

    def endless(part: Part) -> Iterator[dict[str, Any]]:
        del part
        while True:
            drawn.append(1)
            yield cut()[0]

    data = load_data(recipe(endless), "here")
    drawn.clear()
    assert len(data.held_out["x"]) == 8 and len(drawn) == 2
    rows = rows_of(data, "train", ("x", "y"), 5, 0)
    assert np.array_equal(rows["x"], X[rows["y"]])


def test_rows_of_batches_of_several_lengths_cannot_be_picked() -> None:
    ragged = [{"x": X[:4], "y": Y[:4]}, {"x": X[:4, :1], "y": Y[:4]}]
    found = load_data(recipe(lambda part: ragged), "here")
    with pytest.raises(UsageError, match=r"rows of 'x' cannot be picked: .*\(1,\) and \(2,\)") as caught:
        found.held_out  # noqa: B018
    assert caught.value.hint.startswith("pad every batch")


class Counted(paddle.nn.Layer):
    """Counts the batches that are still alive when the next one comes."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0
        self.seen: list[Any] = []
        self.linear = paddle.nn.Linear(2, ROWS)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        out = self.linear(x)
        self.seen = [ref for ref in self.seen if ref() is not None] + [weakref.ref(x), weakref.ref(out)]
        self.most = max(self.most, len(self.seen))
        return out


def many(part: Part) -> Iterator[dict[str, Any]]:
    del part
    yield from cut() * 10


@pytest.mark.parametrize(("metric", "alive"), [(paddle.metric.Accuracy(), 2 * 2)])
def test_a_metric_that_takes_batches_lets_each_of_them_go(metric: Any, alive: int) -> None:
    layer, asked = Counted(), recipe(many, metric=metric)
    held = evaluate.held_out(layer, asked, load_batches(asked, "here").held_out(), "here", singles=True)
    assert 0 < layer.most <= alive, "this one and the one before"
    plain = recipe(many)
    expected = evaluate.held_out(layer, plain, load_batches(plain, "here").held_out(), "here", singles=True)
    assert (held.loss, held.interval) == (expected.loss, expected.interval) and held.interval is not None
    assert held.metric == pytest.approx(expected.metric, abs=1e-12)


class Least:
    """A metric of ours: the smallest label, which is no mean."""

    def reset(self) -> None:
        self.least = 99

    def update(self, out: np.ndarray, y: np.ndarray) -> None:
        assert isinstance(out, np.ndarray) and len(out) == len(y)
        self.least = min(self.least, int(y.min()))

    def accumulate(self) -> int:
        return self.least


def test_a_metric_needs_no_more_than_three_methods_and_is_not_changed_by_its_use() -> None:
    metric = Least()
    asked = recipe(FORMS["dicts"], metric=metric)
    held = evaluate.held_out(asked.build(), asked, load_batches(asked, "here").held_out(), "here", singles=True)
    assert (held.metric, held.interval) == (0.0, None)
    assert not hasattr(metric, "least"), "a copy was used"
    whole = recipe(lambda: Samples({"x": X, "y": Y}, {"x": X, "y": Y}), metric=metric)
    assert evaluate.held_out(whole.build(), whole, load_batches(whole, "here").held_out(), "here").metric == 0.0


def test_the_digest_of_a_batch_tells_it_from_every_other() -> None:
    first, second = cut()[:2]
    assert batch_digest(first) == batch_digest({name: paddle.to_tensor(value) for name, value in first.items()})
    assert len({batch_digest(first), batch_digest(second), batch_digest({"x": first["x"]})}) == 3


class Endless(IterableDataset):
    def __iter__(self) -> Iterator[Any]:
        yield X[0], Y[0]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (lambda part: {"x": X, "y": Y}, "it gave a dict"),
        (lambda part: 3, "it gave a int"),
        (lambda part: [], "there are no batches"),
        (lambda part: [X], "a batch is a ndarray"),
        (lambda part: [(X, Y, Y)], "a batch is a tuple of 3"),
        (lambda part: [{"x": X}], "no array 'y'"),
        (lambda part: [{"x": X, "y": Y[1:]}], "the rows of a batch differ: x 12, y 11"),
        (lambda part: [{"x": X.tolist(), "y": Y}], "'x' is a list"),
        (lambda part: [{"x": X * np.nan, "y": Y}], "'x' holds NaN"),
        (lambda part: [{"x": X if part == "train" else X[None].repeat(ROWS, 0), "y": Y}], "'x' differs: train float32"),
        (lambda part: Path("/no/such/file").read_bytes(), r"data\('train'\) failed: FileNotFoundError"),
        (lambda part: (1 / 0 for _ in "a"), r"data\('train'\) failed: ZeroDivisionError"),
        (lambda part: Endless(), "an IterableDataset gives samples"),
    ],
)
def test_what_is_no_batch_is_said_to_be_none(data: Any, what: str) -> None:
    with pytest.raises(UsageError, match=what) as caught:
        Stream(recipe(data), "here")
    assert caught.value.hint and caught.value.where


def test_a_dataset_needs_a_batch_size() -> None:
    with pytest.raises(UsageError, match="batch_size is 0"):
        Stream(recipe(FORMS["Dataset"], batch_size=0), "here")
