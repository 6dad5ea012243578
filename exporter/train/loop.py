"""In a child: the training loop. Read :func:`fit` first."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter import tensors
from exporter.errors import ModelError, UsageError
from exporter.files import write_bytes
from exporter.recipe.base import Data, Recipe
from exporter.references import user_code
from exporter.train import evaluate, qat
from exporter.train.checkpoint import State, save_state, weights
from exporter.workers import Json, doing

if TYPE_CHECKING:
    from exporter.tensors import Array

BEST, LAST, METRICS = "best.safetensors", "last.safetensors", "metrics.jsonl"
_SHOW_EVERY = 0.1  # seconds between two events of progress


@dataclass(frozen=True)
class Job:
    """What stays the same while a run goes on. `about` is written into every checkpoint."""

    reference: str
    recipe: Recipe
    data: Data
    folder: Path
    seed: int
    epochs: int
    about: dict[str, str]


def fit(job: Job, state: State, stop: Callable[[], bool]) -> None:
    """Train from where the state stands to the last epoch.

    After each epoch `best.safetensors` (if it is), `last.safetensors` and `metrics.jsonl` are written, in this order:
    whoever resumes after a kill between two of them makes the later ones again, with the same bytes.

    Raises:
        KeyboardInterrupt: `stop` said so; the state is saved.
        ModelError: the loss or the metric is not finite; what was saved last is still there.
        UsageError: the recipe's own code fails.
    """
    state.layer.train()
    while state.epoch < job.epochs:
        _train_epoch(job, state, stop)
        row = _end_epoch(job, state)
        if row["best"]:
            about = {**job.about, "epoch": str(row["epoch"]), "value": repr(row[job.recipe.metric_name])}
            if state.ranges:
                about[qat.KEY] = qat.as_text(state.ranges)
            tensors.save(job.folder / BEST, weights(state.layer), about)
        save_run(job, state)
        doing("finished epoch", epochs=job.epochs, metric=job.recipe.metric_name, row=row)


def begin_late(job: Job, state: State) -> None:
    """Move the learning-rate schedule on, so that a shorter run ends where the recipe's own ends.

    A fine-tuning is like the last epochs of a training: the rate of the first ones would undo it. A schedule that goes
    by the loss finds its own way, and stays.
    """
    from paddle.optimizer.lr import ReduceOnPlateau

    skipped = max(0, job.recipe.epochs - job.epochs)
    times = skipped * (len(_order(job, 0)) if job.recipe.schedule_by == "batch" else 1)
    if not isinstance(state.optimizer._learning_rate, ReduceOnPlateau):
        for _ in range(times):
            _advance_schedule(state, 0.0, job.reference)


def first_step(job: Job, state: State) -> None:
    """Take the first step of an epoch, on its own rows, and move the schedule on once, whenever its turn is.

    Raises:
        ModelError, UsageError: as :func:`fit`.
    """
    where = f"{job.reference}, epoch 1, step 1"
    state.layer.train()
    loss = _step(job, state, _order(job, 0)[0], where)
    if job.recipe.schedule_by == "epoch":
        _advance_schedule(state, loss, where)


def best_row(history: list[Json], recipe: Recipe) -> Json:
    """The epoch whose metric is best; the earlier of two that are equal."""
    sign = 1 if recipe.goal == "max" else -1
    return max(history, key=lambda row: (sign * row[recipe.metric_name], -row["epoch"]))


def _train_epoch(job: Job, state: State, stop: Callable[[], bool]) -> None:
    order = _order(job, state.epoch)
    shown = 0.0
    for step, rows in enumerate(order):
        if step < state.step:
            continue
        where = f"{job.reference}, epoch {state.epoch + 1}, step {step + 1}"
        loss = _step(job, state, rows, where)
        state.loss_sum += loss
        state.step = step + 1
        if time.monotonic() - shown > _SHOW_EVERY:
            shown = time.monotonic()
            doing("training", epoch=state.epoch + 1, epochs=job.epochs, step=step + 1, steps=len(order), loss=loss)
        if stop():
            save_run(job, state)
            raise KeyboardInterrupt


def _order(job: Job, epoch: int) -> list[Array]:
    """The rows of each batch of an epoch; they depend on seed and epoch alone, so a resumed run finds them again."""
    import numpy as np

    total, size = len(job.data.train[job.recipe.inputs[0]]), job.recipe.batch_size
    rows = np.random.default_rng((job.seed, epoch)).permutation(total)
    return [rows[start : start + size] for start in range(0, max(total - size, 0) + 1, size)]


def _step(job: Job, state: State, rows: Array, where: str) -> float:
    names = (*job.recipe.inputs, *job.recipe.labels)
    batch = {name: job.data.train[name][rows] for name in names}
    outputs = evaluate.forward(state.layer, job.recipe, batch, where)
    loss = evaluate.loss_of(job.recipe, outputs, batch, where)
    value = float(loss)
    if not math.isfinite(value):
        raise ModelError(f"the loss is {value}", where=where, hint="lower the learning rate, or mend the loss")
    if loss.stop_gradient:
        raise UsageError(
            "the loss has no gradient, so nothing would be learned",
            where=where,
            hint="compute it from the outputs by Paddle's operators, and leave some parameter trainable",
        )
    loss.backward()
    state.optimizer.step()
    state.optimizer.clear_grad()
    if job.recipe.schedule_by == "batch":
        _advance_schedule(state, value, where)
    return value


def _end_epoch(job: Job, state: State) -> Json:
    """Evaluate, add the epoch's row to the history, and move on to the next epoch."""
    doing("evaluating", epoch=state.epoch + 1, epochs=job.epochs)
    where = f"{job.reference}, held-out data after epoch {state.epoch + 1}"
    rate = float(state.optimizer.get_lr())
    held_out_loss, metric, _ = evaluate.held_out(state.layer, job.recipe, job.data.held_out, where)
    row: Json = {
        "epoch": state.epoch + 1,
        "steps": state.step,
        "loss": state.loss_sum / state.step,
        "held_out_loss": held_out_loss,
        job.recipe.metric_name: metric,
        "learning_rate": rate,
    }
    row["best"] = best_row([*state.history, row], job.recipe) is row
    if job.recipe.schedule_by == "epoch":
        _advance_schedule(state, held_out_loss, where)
    state.history.append(row)
    state.epoch, state.step, state.loss_sum = state.epoch + 1, 0, 0.0
    return row


def _advance_schedule(state: State, loss: float, where: str) -> None:
    from paddle.optimizer.lr import LRScheduler, ReduceOnPlateau

    schedule: Any = state.optimizer._learning_rate  # no public way to it (optimizer.py, Paddle 3.3)
    if isinstance(schedule, LRScheduler):
        with user_code("the learning-rate schedule failed", where):
            schedule.step(*([loss] if isinstance(schedule, ReduceOnPlateau) else []))


def save_run(job: Job, state: State) -> None:
    """Write all that a run needs to go on, and its history so far."""
    save_state(job.folder / LAST, state, job.about)
    write_bytes(job.folder / METRICS, b"".join(_lines(state.history)))
    doing("saved", epoch=state.epoch, step=state.step)


def _lines(history: list[Json]) -> Iterator[bytes]:
    for row in history:
        yield (json.dumps(row, allow_nan=False) + "\n").encode()
