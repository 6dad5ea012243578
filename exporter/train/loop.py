"""In a child: the training loop. Read :func:`fit` first."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base import tensors
from exporter.base.errors import ModelError, UsageError
from exporter.base.files import write_bytes
from exporter.base.references import user_code
from exporter.export import trained_ranges
from exporter.export.trace.layer import weights
from exporter.process.workers import doing
from exporter.spec.recipe.base import NamedBatch, Recipe
from exporter.spec.recipe.batches import Batches, as_tensor, batch_digest
from exporter.spec.recipe.training import Training
from exporter.train import evaluate, randomness
from exporter.train.checkpoint import NO_OPTIMIZER, State, save_state
from exporter.train.document import BEST, Row
from exporter.train.log import Log
from exporter.train.progress import NOTE
from exporter.train.ranks import Ranks
from exporter.train.techniques import Averages, Precision, prepare_layer, prepare_optimizer

if TYPE_CHECKING:
    import paddle

LAST, METRICS = "last.safetensors", "metrics.jsonl"
SHOW_EVERY = 0.1  # seconds between two events of progress


@dataclass(frozen=True)
class Job:
    """What stays the same while a run goes on. `about` is written into every checkpoint."""

    reference: str
    recipe: Recipe
    batches: Batches
    folder: Path
    seed: int
    epochs: int
    about: dict[str, str]
    precision: Precision = field(default_factory=lambda: Precision(Training()))
    ranks: Ranks = field(default_factory=Ranks)
    log: Log = field(default_factory=Log)


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
    job.log.begin(state.history, state.step)
    while state.epoch < job.epochs and not _stale(job, state):
        _train_epoch(job, state, stop)
        with state.averages.applied() if state.averages else nullcontext():
            row = _end_epoch(job, state)
            keep_if_best(job, state, row)
        job.log.epoch(row)
        save_run(job, state)
        doing("finished epoch", epochs=job.epochs, metric=job.recipe.metric_name, row=row.to_json())


def _stale(job: Job, state: State) -> bool:
    """Whether so many epochs were no better that the run shall end."""
    patience = job.recipe.training.early_stop
    if patience is None or not state.history:
        return False
    stale = state.history[-1].epoch - best_row(state.history, job.recipe).epoch
    if stale >= patience:
        note(f"no better {job.recipe.metric_name} in {stale} epochs: stopped after epoch {state.epoch}")
    return stale >= patience


def keep_if_best(job: Job, state: State, row: Row) -> None:
    """Write the weights as `best.safetensors`, if the row, which is in the history, is the best one."""
    if not (row.best and job.ranks.first):
        return
    about = {**job.about, "epoch": str(row.epoch), "value": repr(row.metric(job.recipe.metric_name))}
    if state.ranges:
        about[trained_ranges.KEY] = trained_ranges.as_text(state.ranges)
    tensors.save(job.folder / BEST, weights(state.layer), about)


def begin(recipe: Recipe, reference: str, layer: paddle.nn.Layer) -> tuple[State, Precision]:
    """The state of a new run: the layer as the recipe's options ask for it, its optimizer, and its precision.

    Raises:
        UsageError: the options do not fit the layer or the optimizer; `optimizer` fails or gives something else.
    """
    import paddle

    if recipe.fit:
        return State(layer, NO_OPTIMIZER), Precision(Training())
    options = recipe.training
    prepare_layer(layer, options, reference)
    with user_code("optimizer() failed", reference):
        optimizer = recipe.optimizer(layer)
    if not isinstance(optimizer, paddle.optimizer.Optimizer):
        kind = type(optimizer).__name__
        raise UsageError(f"optimizer() gave a {kind}", where=reference, hint="return a paddle.optimizer.Optimizer")
    prepare_optimizer(optimizer, options, reference)
    precision = Precision(options)
    if precision.ignored:
        note(precision.ignored)
    averages = Averages(layer, options.ema) if options.ema else None
    return State(layer, optimizer, averages=averages, scaler=precision.scaler), precision


def eager(recipe: Recipe) -> Recipe:
    """The recipe for training with roundings, which read values in forward, once for each batch."""
    options = recipe.training
    if options.to_static or options.recompute:
        note("training with roundings leaves to_static and recompute out")
    return replace(recipe, training=replace(options, to_static=False, recompute=()))


def begin_late(job: Job, state: State) -> None:
    """Move the learning-rate schedule on, so that a shorter run ends where the recipe's own ends.

    A fine-tuning is like the last epochs of a training: the rate of the first ones would undo it. A schedule that goes
    by the loss finds its own way, and stays.
    """
    from paddle.optimizer.lr import ReduceOnPlateau

    skipped = max(0, job.recipe.epochs - job.epochs)
    updates = job.batches.steps // job.recipe.training.accumulate
    times = skipped * (updates if job.recipe.schedule_by == "batch" else 1)
    if skipped and not times:
        note("the number of batches in an epoch is not known: the learning rates are those of the first epochs")
    if not isinstance(state.optimizer._learning_rate, ReduceOnPlateau):
        for _ in range(times):
            advance_schedule(state, 0.0, job.reference)


def first_step(job: Job, state: State) -> None:
    """Take the first step of an epoch, on its own rows, and move the schedule on once, whenever its turn is.

    Raises:
        ModelError, UsageError: as :func:`fit`.
    """
    where = f"{job.reference}, epoch 1, step 1"
    state.layer.train()
    loss = math.nan
    for batch in itertools.islice(job.batches.epoch(job.seed, 0), job.recipe.training.accumulate):
        loss = _step(job, state, batch, where)
    _update(job, state, loss, where)
    if job.recipe.schedule_by == "epoch":
        advance_schedule(state, loss, where)


def best_row(history: Sequence[Row], recipe: Recipe) -> Row:
    """The epoch whose metric is best; the earlier of two that are equal."""
    sign = 1 if recipe.goal == "max" else -1
    return max(history, key=lambda row: (sign * row.metric(recipe.metric_name), -row.epoch))


def note(text: str) -> None:
    """Tell the user a line about the run."""
    doing(f"{NOTE}{text}")


def _train_epoch(job: Job, state: State, stop: Callable[[], bool]) -> None:
    shown = 0.0
    for batch in _rest(job, state):
        where = f"{job.reference}, epoch {state.epoch + 1}, step {state.step + 1}"
        loss = take_step(job, state, batch, where)
        job.log.step(state.step, loss)
        whole = state.step % job.recipe.training.accumulate == 0
        if time.monotonic() - shown > SHOW_EVERY:
            shown = time.monotonic()
            show_step(job, state.epoch, state.step, loss)
        if whole and job.ranks.any(stop()):
            state.seen = batch_digest(batch)
            save_run(job, state)
            raise KeyboardInterrupt
    if state.step < job.recipe.training.accumulate:
        what = f"an epoch has {state.step} batches, and training.accumulate is {job.recipe.training.accumulate}"
        raise UsageError(what, where=job.reference, hint="accumulate fewer, or give more or smaller batches")
    state.optimizer.clear_grad()  # of batches that were too few for an update


def take_step(job: Job, state: State, batch: NamedBatch, where: str) -> float:
    """Add the gradients of a batch, change the weights once enough are added up, and return the batch's loss.

    Raises:
        ModelError, UsageError: as :func:`fit`.
    """
    loss = _step(job, state, batch, where)
    state.loss_sum += loss
    state.step += 1
    if state.step % job.recipe.training.accumulate == 0:
        _update(job, state, loss, where)
    return loss


def show_step(job: Job, epoch: int, step: int, loss: float, steps: int = 0) -> None:
    """Tell how far an epoch is, counted from 0; `steps` is its number of batches, by default what the data says."""
    if not job.ranks.first:
        return
    doing("training", epoch=epoch + 1, epochs=job.epochs, step=step, steps=steps or job.batches.steps, loss=loss)


def rest_of_epoch(job: Job, epoch: int, done: int) -> tuple[NamedBatch | None, Iterator[NamedBatch]]:
    """The batch that was trained last, and those behind it; the generators stay as they are, where any is done."""
    if not done:
        return None, job.batches.epoch(job.seed, epoch)
    drawn = randomness.capture()
    rest = job.batches.epoch(job.seed, epoch, done - 1)
    last = next(rest, None)
    randomness.restore(drawn)
    return last, rest


def _rest(job: Job, state: State) -> Iterator[NamedBatch]:
    """What is left of the epoch; in the midst of it the batch that was trained last is compared with what it was."""
    last, rest = rest_of_epoch(job, state.epoch, state.step)
    if state.step and state.seen and (last is None or batch_digest(last) != state.seen):
        note("the data gives other batches than before the interruption: the run goes on, but not bit for bit")
    return rest


def _step(job: Job, state: State, batch: NamedBatch, where: str) -> float:
    """Add the gradients of a batch, and return its loss."""
    options = job.recipe.training
    batch, part = job.ranks.share(batch, where)
    job.ranks.seed(job.seed, state.epoch, state.step)
    if options.penalty:
        batch = _differentiable(batch, job.recipe.inputs)
    with job.precision.mixed():
        outputs = evaluate.forward(state.layer, job.recipe, batch, where)
        loss = evaluate.loss_of(job.recipe, outputs, batch, where)
    if options.penalty:
        with user_code("penalty failed", where):
            inputs = [batch[name] for name in job.recipe.inputs]
            loss = loss + options.penalty(state.layer, loss, inputs, list(outputs))
    value = job.ranks.total(float(loss) * part)
    if not math.isfinite(value):
        raise ModelError(f"the loss is {value}", where=where, hint="lower the learning rate, or mend the loss")
    if loss.stop_gradient:
        raise UsageError(
            "the loss has no gradient, so nothing would be learned",
            where=where,
            hint="compute it from the outputs by Paddle's operators, and leave some parameter trainable",
        )
    if options.accumulate > 1:
        loss = loss / options.accumulate
    job.precision.backward(loss * part if part < 1 else loss)
    return value


def _differentiable(batch: NamedBatch, inputs: Sequence[str]) -> dict[str, paddle.Tensor]:
    """The batch as tensors, whose inputs of real numbers have gradients."""
    made = {name: as_tensor(value) for name, value in batch.items()}
    for name in inputs:
        made[name].stop_gradient = not made[name].is_floating_point()
    return made


def _update(job: Job, state: State, loss: float, where: str) -> None:
    """Change the weights by the gradients that were added up."""
    job.ranks.add_gradients(state.layer.parameters(), where)
    job.precision.update(state.optimizer)
    if state.averages:
        state.averages.update()
    if job.recipe.schedule_by == "batch":
        advance_schedule(state, loss, where)


def _end_epoch(job: Job, state: State) -> Row:
    """Evaluate, add the epoch's row to the history, and move on to the next epoch."""
    doing("evaluating", epoch=state.epoch + 1, epochs=job.epochs)
    where = f"{job.reference}, held-out data after epoch {state.epoch + 1}"
    rate = float(state.optimizer.get_lr())
    loss, metric = job.ranks.from_first(partial(_held_out, job, state, where), 2)
    held_out_loss = None if math.isnan(loss) else loss
    values = {
        "loss": state.loss_sum / state.step,
        "held_out_loss": held_out_loss,
        job.recipe.metric_name: metric,
        "learning_rate": rate,
    }
    row = add_row(job, state, Row(state.epoch + 1, state.step, values))
    if job.recipe.schedule_by == "epoch":
        advance_schedule(state, held_out_loss or 0.0, where)
    state.epoch, state.step, state.loss_sum, state.seen = state.epoch + 1, 0, 0.0, ""
    return row


def add_row(job: Job, state: State, row: Row) -> Row:
    """Add an epoch's row to the history, and return it as it stands there: it says whether it is the best so far."""
    row = replace(row, best=best_row([*state.history, row], job.recipe) is row)
    state.history.append(row)
    return row


def _held_out(job: Job, state: State, where: str) -> tuple[float, float]:
    """The loss, NaN where a recipe has none, and the metric on the held-out data."""
    held = evaluate.held_out(state.layer, job.recipe, job.batches.held_out(), where)
    return math.nan if held.loss is None else held.loss, held.metric


def advance_schedule(state: State, loss: float, where: str) -> None:
    """Move the learning-rate schedule on by one step, if there is one; `loss` is for one that goes by it."""
    from paddle.optimizer.lr import LRScheduler, ReduceOnPlateau

    schedule: Any = state.optimizer._learning_rate  # no public way to it (optimizer.py, Paddle 3.3)
    if isinstance(schedule, LRScheduler):
        with user_code("the learning-rate schedule failed", where):
            schedule.step(*([loss] if isinstance(schedule, ReduceOnPlateau) else []))


def save_run(job: Job, state: State) -> None:
    """Write all that a run needs to go on, and its history so far."""
    if not job.ranks.first:
        return
    save_state(job.folder / LAST, state, job.about)
    write_history(job, state)
    doing("saved", epoch=state.epoch, step=state.step)


def write_history(job: Job, state: State) -> None:
    """Write the rows of all epochs so far."""
    write_bytes(job.folder / METRICS, b"".join(_lines(state.history)))


def _lines(history: Sequence[Row]) -> Iterator[bytes]:
    for row in history:
        yield (json.dumps(row.to_json(), allow_nan=False) + "\n").encode()
