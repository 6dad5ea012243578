"""In a child: a training loop of the recipe's own, kept as our own is: best checkpoint, atomic, resumed."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.errors import ModelError, UsageError
from exporter.base.files import translated
from exporter.base.references import user_code
from exporter.process.workers import doing
from exporter.spec.recipe.base import NamedBatch, Part
from exporter.spec.recipe.batches import as_array
from exporter.train import evaluate, loop
from exporter.train.checkpoint import Saved, State, put_optimizer, put_position, read_state
from exporter.train.document import Row

if TYPE_CHECKING:
    import paddle

    from exporter.base.tensors import Array

#: Files of the loop's own, below the run's folder.
FOLDER = "own"


def fit(job: loop.Job, state: State, stop: Callable[[], bool], *, resume: bool, qat: bool) -> None:
    """Run the recipe's `fit`; a loop that logs no epoch ends as one epoch, whose weights are the checkpoint.

    Raises:
        KeyboardInterrupt: `stop` said so; what `fit` saved last is there.
        ModelError: a value that it logs, or the metric, is not finite.
        UsageError: it fails.
    """
    assert job.recipe.fit is not None  # noqa: S101  # who calls this has looked
    run = OwnRun(job, state, stop, late=max(0, job.recipe.epochs - job.epochs) if qat else 0)
    if resume:
        run.go_on()
    job.log.begin(state.history)
    state.layer.train()
    try:
        with user_code("fit failed", job.reference):
            job.recipe.fit(state.layer, run)
        if stop():
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        if not (job.folder / loop.LAST).exists():
            loop.note("fit has saved nothing by run.save: there is nothing to go on from")
        raise
    run.end()


class OwnRun:
    """What `fit` is given: :class:`exporter.spec.recipe.base.Run`."""

    def __init__(self, job: loop.Job, state: State, stop: Callable[[], bool], late: int) -> None:
        self._job, self._state, self._stop, self._late = job, state, stop, late
        self._saved: Saved | None = None
        self._step, self._shown, self._late_read, self._fed, self._resumed = 0, 0.0, False, False, False

    device = property(lambda self: _device())
    seed = property(lambda self: self._job.seed)
    epochs = property(lambda self: self._job.epochs)
    epoch = property(lambda self: len(self._state.history))
    stop = property(lambda self: self._stop())

    @property
    def late(self) -> int:
        """See :class:`exporter.spec.recipe.base.Run`, as for all that follows."""
        self._late_read = True
        return self._late

    @property
    def folder(self) -> Path:
        folder = self._job.folder / FOLDER
        with translated(folder):
            folder.mkdir(exist_ok=True)
        return folder

    def restore(self, optimizer: paddle.optimizer.Optimizer | None = None) -> dict[str, Any]:
        if self._saved is None:
            return {}
        if optimizer is not None:
            self._state.optimizer = optimizer
        put_optimizer(self._saved, self._state)
        self._saved = None
        return {name: _decoded(value, self._state.arrays) for name, value in self._state.extra.items()}

    def batches(self, part: Part = "train", skip: int = 0) -> Iterator[NamedBatch]:
        if part == "held_out":
            return self._job.batches.held_out()
        self._fed = True
        return loop.rest_of_epoch(self._job, self.epoch, skip)[1]

    def loader(self, part: Part = "train") -> Iterable[list[Any]]:
        return _Loader(self, part, self._job.batches.steps)

    def progress(self, step: int, loss: float, steps: int = 0) -> None:
        self._step = step
        self._job.log.step(step, float(loss))
        if time.monotonic() - self._shown > loop.SHOW_EVERY:
            self._shown = time.monotonic()
            loop.show_step(self._job, self.epoch, step, float(loss), steps)
        self._end_if_asked()

    def log(self, **values: float) -> bool:
        name, number = self._job.recipe.metric_name, self.epoch + 1
        doing("evaluating", epoch=number, epochs=self._job.epochs)
        where = f"{self._job.reference}, run.log after epoch {number}"
        measured: Mapping[str, float | None] = _finite(values, where)
        if name not in measured:
            measured = {**measured, **self._measured(f"{self._job.reference}, held-out data after epoch {number}")}
        row = loop.add_row(self._job, self._state, Row(number, self._step, measured))
        self._state.epoch, self._step = self.epoch, 0
        loop.keep_if_best(self._job, self._state, row)
        self._job.log.epoch(row)
        doing("finished epoch", epochs=self._job.epochs, metric=name, row=row.to_json())
        return row.best

    def save(self, optimizer: paddle.optimizer.Optimizer | None = None, **values: Any) -> None:
        state = self._state
        if optimizer is not None:
            state.optimizer = optimizer
        state.arrays = {}
        state.extra = {name: _encoded(value, state.arrays, name) for name, value in values.items()}
        loop.save_run(self._job, state)
        self._end_if_asked()

    def callback(self) -> Any:
        from exporter.train.hapi import callback

        return callback(self)

    def go_on(self) -> None:
        """Put back what was saved, but for what :meth:`restore` does in its place."""
        self._saved = read_state(self._job.folder / loop.LAST)
        put_position(self._saved, self._state)
        self._resumed = True

    def end(self) -> None:
        """After `fit`: see that there is a checkpoint, and tell what could not be promised."""
        if self._saved is not None:
            loop.note(
                "fit did not call run.restore: optimizer and random numbers began anew, so that this run is not, bit "
                "for bit, the one that was interrupted"
            )
        elif self._resumed and not self._fed:
            loop.note("fit has batches of its own: it went on bit for bit only if they came as they would have come")
        if self._late and not self._late_read:
            loop.note("fit did not read run.late: its fine-tuning took the learning rates of the first epochs")
        if not self._state.history:
            loop.note("fit logged no epoch by run.log: its last weights are the checkpoint")
            self.log()
        loop.write_history(self._job, self._state)

    def _measured(self, where: str) -> dict[str, float]:
        held = evaluate.held_out(self._state.layer, self._job.recipe, self._job.batches.held_out(), where)
        loss = {} if held.loss is None else {"held_out_loss": held.loss}
        return {**loss, self._job.recipe.metric_name: held.metric}

    def _end_if_asked(self) -> None:
        if self._stop():
            raise KeyboardInterrupt


class _Loader:
    """Batches as lists, with a length where it is known."""

    def __init__(self, run: OwnRun, part: Part, steps: int) -> None:
        self._run, self._part, self._steps = run, part, steps

    def __iter__(self) -> Iterator[list[Any]]:
        return (list(batch.values()) for batch in self._run.batches(self._part))

    def __len__(self) -> int:
        if self._part == "held_out" or not self._steps:
            raise TypeError("the number of batches is not known")
        return self._steps


def _device() -> str:
    import paddle

    return str(paddle.get_device())


def _finite(values: Mapping[str, float], where: str) -> dict[str, float]:
    numbers = {}
    for name, value in values.items():
        if name in ("epoch", "steps", "best"):
            raise UsageError(f"'{name}' is counted already", where=where, hint="log it by another name")
        try:
            numbers[name] = float(value)
        except (TypeError, ValueError) as error:
            what = f"'{name}' is a {type(value).__name__}"
            raise UsageError(what, where=where, hint="log numbers") from error
        if not math.isfinite(numbers[name]):
            what = f"{name} is {numbers[name]}"
            raise ModelError(what, where=where, hint="lower the learning rate, or mend the loss")
    return numbers


def _encoded(value: Any, arrays: dict[str, Array], name: str) -> Any:
    """A saved value as JSON, in which an array is a name in `arrays`."""
    if hasattr(value, "numpy") or hasattr(value, "__array__"):
        arrays[f"{len(arrays):05}"] = as_array(value)
        return {"array": f"{len(arrays) - 1:05}"}
    if isinstance(value, Mapping):
        return {"dict": {str(key): _encoded(inner, arrays, f"{name}.{key}") for key, inner in value.items()}}
    if isinstance(value, (list, tuple)):
        return [_encoded(inner, arrays, name) for inner in value]
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        hint = "save numbers, text, lists, dicts, arrays or tensors, as a state_dict()"
        raise UsageError(f"run.save cannot keep '{name}', a {type(value).__name__}", hint=hint) from error
    return value


def _decoded(value: Any, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, list):
        return [_decoded(inner, arrays) for inner in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    return {key: _decoded(inner, arrays) for key, inner in value["dict"].items()}
