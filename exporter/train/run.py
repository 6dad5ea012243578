"""Training, seen from the main process: which run lies in a folder, and the child that makes or continues one.

A run grows in its folder, except where a finished one lies there: then it grows in `<folder>.partial`, and takes the
other's place when it is finished. So a good checkpoint is never gone before its successor is complete.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.errors import UsageError
from exporter.base.files import TEMPORARY, remove, replace_folder, sha256_file, translated
from exporter.process import answers, workers
from exporter.process.job import A, Job, Q
from exporter.process.workers import Limits, OnEvent, Setting
from exporter.spec.recipe.source import source_digest
from exporter.train import log, parallel
from exporter.train.document import BEST, RUN, RunDescription, read_run
from exporter.train.progress import Epochs

if TYPE_CHECKING:
    from exporter.train.child import RecipeModel, RunAnswer, RunRequest
    from exporter.train.examination import RecipeExamination

LAST = "last.safetensors"
_OURS = {RUN, BEST, LAST, "metrics.jsonl", "loss.png", "own", log.FOLDER}
#: What to do about a metric that does not reach the floor.
TRAIN_BETTER = "train longer or on more data; or state a floor in the recipe that the model can reach"


@dataclass(frozen=True)
class TrainRequest:
    """What to train: a recipe (`module:attribute`) into a folder. `epochs`: None for as many as the recipe says.

    `start` is a checkpoint to begin from instead of what `build()` gives; a pruned one makes the layer smaller first.
    With `qat` the layer rounds as int8 will, and the checkpoint holds the trained ranges (:mod:`exporter.train.qat`).
    `args` go to the recipe's `build`, if it has parameters. So many `ranks` share the rows of each batch. `log` names
    loggers (:mod:`exporter.train.log`).
    """

    recipe: str
    into: Path
    seed: int = 0
    epochs: int | None = None
    device: str = "auto"
    start: Path | None = None
    qat: bool = False
    args: Mapping[str, Any] = field(default_factory=dict)
    ranks: int = 1
    log: tuple[str, ...] = ()

    @property
    def model(self) -> RecipeModel:
        """The layer that is trained, before training."""
        from exporter.train.child import RecipeModel

        return RecipeModel(self.recipe, self.seed, self.device, dict(self.args))

    @property
    def partial(self) -> Path:
        """Where a run grows while a finished one lies in `into`."""
        return self.into.with_name(f"{self.into.name}.partial")


@dataclass(frozen=True)
class TrainResult:
    """A finished run. `epoch`, counted from 1 to `epochs`, is the one whose weights the checkpoint holds.

    `interval` is the metric's, of 95 %; None where the metric is no mean over samples, or the run is an older one.
    `missed` is the recipe's floor where the metric does not reach it. A run that is `reused` was measured when it
    ended, on the data that was there then.
    """

    checkpoint: Path
    metric: str
    value: float
    epoch: int
    epochs: int
    recipe: str
    recipe_digest: str
    seed: int
    interval: tuple[float, float] | None = None
    missed: float | None = None
    reused: bool = field(default=False, compare=False)

    @property
    def shortfall(self) -> str:
        """That the metric does not reach the recipe's floor, in words; empty where it does."""
        return "" if self.missed is None else shortfall(self.metric, self.value, self.missed)


def shortfall(metric: str, value: float, floor: float) -> str:
    """That a metric does not reach the recipe's floor, in words."""
    return f"{metric} {value:.4f} does not reach the recipe's floor, {floor:g}"


def finished(request: TrainRequest) -> TrainResult | None:
    """Return the finished run of exactly this recipe (by its source), seed and number of epochs, if it is there.

    The device does not count. Nothing is imported but files are read.

    Raises:
        UsageError: the recipe has no source file, or `run.json` is not ours.
    """
    run = read_run(request.into)
    if run is None or not run.finished or _difference(run, request):
        return None
    checkpoint = request.into / BEST
    if not checkpoint.is_file() or sha256_file(checkpoint) != run.checkpoint_sha256:
        return None
    return replace(_result(request, run), reused=True)


def ensure(request: TrainRequest, setting: Setting) -> TrainResult:
    """Return the finished run; or continue the one that was interrupted; or train. It is said which, and each epoch.

    Raises:
        ExporterError, KeyboardInterrupt: as :func:`train`.
    """
    done = "fine-tuned" if request.start else "trained"
    how = " with 8-bit rounding" if request.qat else ""
    if found := finished(request):
        setting.say(f"{request.recipe} was {done}{how} before: {found.checkpoint}")
        return found
    resume = resumable(request)
    further = ", from where it was interrupted" if resume else ""
    setting.say(f"{'fine-tuning' if request.start else 'training'} {request.recipe}{how}{further}")
    told = Epochs(setting.say, f"{request.recipe} ")

    def follow(event: answers.Event) -> None:
        told(event)
        if setting.on_event:
            setting.on_event(event)

    return train(request, resume=resume, on_event=follow)


def train(
    request: TrainRequest, *, resume: bool = False, timeout: float | None = None, on_event: OnEvent | None = None
) -> TrainResult:
    """Train in a child; the same request gives the same bytes, also when it was interrupted and resumed.

    With `resume` a finished run of the same request is returned as it is. `timeout` is in seconds; without it
    training takes as long as it takes.

    Raises:
        UsageError: the recipe, its data or the folder is wrong; there is an unfinished run and `resume` is false, or
            none and it is true; what is there was made by another recipe source, seed or number of epochs.
        EnvironmentLacks: there is no such device; the disk is full.
        ModelError: the loss or metric is not finite, or the child crashed, hung or ran out of memory.
        KeyboardInterrupt: interrupted (SIGINT or SIGTERM); the state is saved and `resume` goes on from there.
    """
    from exporter.train.child import RunRequest, Start

    digest = source_digest(request.recipe)
    _refuse_start(request)
    if resume and (found := finished(request)):
        return found
    folder, saved = _place(request, resume)
    with translated(folder):
        folder.mkdir(parents=True, exist_ok=True)
    begun = RunRequest(
        model=request.model,
        recipe_digest=digest,
        folder=folder,
        epochs=request.epochs,
        resume=resume,
        began_with=saved,
        start=Start(request.start, sha256_file(request.start)) if request.start else None,
        qat=request.qat,
        log=request.log,
    )
    ask = partial(_train_in_child, timeout, on_event)
    try:
        with _saving_interrupts():
            if request.ranks > 1:
                answer = parallel.train_on(request.ranks, begun, ask, partial(_go_on, request))
            else:
                answer = ask(begun)
    finally:
        with suppress(OSError):
            folder.rmdir()  # only if it is empty: a run that never began leaves nothing
    if folder != request.into:
        with translated(request.into):
            replace_folder(folder, request.into)
        remove(folder)  # the earlier run, now in exchange
    assert answer.run is not None  # noqa: S101  # the first rank describes the run
    return _result(request, answer.run)


def _train_in_child(timeout: float | None, on_event: OnEvent | None, request: RunRequest) -> RunAnswer:
    from exporter.train import child

    return _in_child(child.train, request, timeout, None if request.rank else on_event)


def _in_child(job: Job[Q, A], request: Q, timeout: float | None, on_event: OnEvent | None) -> A:
    # One thread: with more, the order in which sums are added, and so their last bits, depends on the machine.
    limits = Limits(seconds=timeout or float("inf"))
    single, paddle = workers.SINGLE_THREAD, workers.PADDLE
    return workers.call(job, request, limits, environment=single, imports=paddle, on_event=on_event)


def _go_on(request: TrainRequest, before: RunRequest) -> RunRequest:
    """How a child is asked again after a rank was lost: from what was saved, or from the beginning."""
    _, saved = _unfinished(request)
    return replace(before, resume=saved is not None, began_with=saved)


def check(request: TrainRequest, *, resume: bool = False) -> None:
    """Find what forbids a training without reading more than files.

    Raises:
        UsageError, EnvironmentLacks: as :func:`train`.
    """
    source_digest(request.recipe)
    log.require(request.log)
    _refuse_start(request)
    if not (resume and finished(request)):
        _place(request, resume)


def rehearse(
    request: TrainRequest,
    weights: Path | None = None,
    *,
    timeout: float | None = None,
    on_event: OnEvent | None = None,
) -> str:
    """Find in a child, in seconds, what the training would find after its first epoch; see :mod:`.rehearsal`.

    Returns a line for the user about what was not tried; "" where everything was.

    `weights` gets the layer's weights after one step. `timeout` is in seconds; without it the data takes as long to
    load as it takes.

    Raises:
        UsageError, EnvironmentLacks, ModelError: as :func:`train`.
    """
    from exporter.train import rehearsal

    tried = rehearsal.RehearsalRequest(
        request.model, epochs=request.epochs, qat=request.qat, ranks=request.ranks, weights=weights
    )
    return _in_child(rehearsal.rehearse, tried, timeout, on_event).note


def examine(
    request: TrainRequest, *, timeout: float | None = None, on_event: OnEvent | None = None
) -> RecipeExamination:
    """In a child: what is wrong with the gradients of the recipe's first batch; see :mod:`.examination`.

    Raises:
        UsageError, EnvironmentLacks, ModelError: as :func:`train`.
    """
    from exporter.train.examination import examine_recipe

    source_digest(request.recipe)  # there is such a recipe
    return _in_child(examine_recipe, request.model, timeout, on_event)


def resumable(request: TrainRequest) -> bool:
    """Whether an unfinished run is there that `resume` would go on with."""
    _, saved = _unfinished(request)
    return saved is not None and not _difference(saved, request)


def _refuse_start(request: TrainRequest) -> None:
    if request.start is not None and not request.start.is_file():
        raise UsageError(
            "no such checkpoint", where=str(request.start), hint="check the path that training starts from"
        )


def _place(request: TrainRequest, resume: bool) -> tuple[Path, RunDescription | None]:
    """Return the folder to write to and, to resume, the `run.json` in it."""
    folder, saved = _unfinished(request)
    _refuse_strangers(request.into)
    _refuse_strangers(folder)
    if resume and saved is None:
        raise UsageError("there is no unfinished run to resume", where=str(request.into), hint="train without --resume")
    if saved is not None:
        difference = _difference(saved, request)
        if resume and difference:
            hint = "undo the change, or remove the folder to train again"
            raise UsageError(f"cannot resume: {difference}", where=str(folder), hint=hint)
        if not resume:
            what = "an unfinished run is here" + (f", and {difference}" if difference else "")
            hint = "remove the folder to begin again" + ("" if difference else ", or go on with --resume")
            raise UsageError(what, where=str(folder), hint=hint)
    return folder, saved


def _unfinished(request: TrainRequest) -> tuple[Path, RunDescription | None]:
    """Where a run of this request grows, and its `run.json` if something was saved there that can be resumed."""
    there = read_run(request.into)
    folder = request.partial if there and there.finished else request.into
    saved = read_run(folder)
    if saved is None or saved.finished or not (folder / LAST).exists():
        return folder, None
    return folder, saved


def _difference(run: RunDescription, request: TrainRequest) -> str:
    """Say in what a run differs from the request; "" if in nothing that changes its bytes."""
    epochs, arguments = request.epochs or run.recipe_epochs, dict(request.args)
    if run.recipe != request.recipe:
        return f"the run is of {run.recipe}, not of {request.recipe}"
    if run.recipe_digest != source_digest(request.recipe):
        return "the recipe's source, or that of a local file it imports, has changed since"
    if run.seed != request.seed:
        return f"the run has seed {run.seed}, not {request.seed}"
    if run.epochs != epochs:
        return f"the run has {run.epochs} epochs, not {epochs}"
    if run.args != arguments:
        return f"the run's model has the arguments {run.args}, not {arguments}"
    if run.start != (sha256_file(request.start) if request.start else None):
        return "the run did not start from this checkpoint"
    if run.ranks != request.ranks:
        return f"the run has {run.ranks} ranks, not {request.ranks}"
    if run.qat != request.qat:
        return f"the run {'does not round' if request.qat else 'rounds'} in training"
    return ""


def _refuse_strangers(folder: Path) -> None:
    """A run owns its folder, which is exchanged as a whole: what else lies there would be lost."""
    if not folder.is_dir():
        return
    strangers = sorted(path.name for path in folder.iterdir() if path.name not in _OURS)
    strangers = [name for name in strangers if not name.startswith(TEMPORARY)]
    if strangers:
        raise UsageError(
            f"the folder holds '{strangers[0]}', which is not of a run", where=str(folder), hint="choose another --out"
        )


def _result(request: TrainRequest, run: RunDescription) -> TrainResult:
    metric = run.metric
    assert metric is not None and metric.epoch is not None  # noqa: S101  # a finished run has both
    return TrainResult(
        checkpoint=request.into / BEST,
        metric=metric.name,
        value=metric.value,
        epoch=metric.epoch,
        epochs=run.epochs,
        recipe=run.recipe,
        recipe_digest=run.recipe_digest,
        seed=run.seed,
        missed=metric.missed,
        interval=metric.interval,
    )


@contextmanager
def _saving_interrupts() -> Iterator[None]:
    """Make SIGTERM an interrupt too, so that the child is asked to save before this process ends.

    SIGINT as well: a script's background job inherits it ignored, and still `kill -INT` must be able to end it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    before = [(one, signal.signal(one, signal.default_int_handler)) for one in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for one, handler in before:
            signal.signal(one, handler)
