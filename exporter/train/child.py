"""The child that trains: recipe, data and device are made ready, the loop runs, the run is declared finished."""

from __future__ import annotations

import fcntl
import inspect
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.distribution import how_to_install
from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from exporter.base.files import remove, sha256_file
from exporter.base.references import bound_arguments, user_code
from exporter.base.tensors import load, load_with_metadata
from exporter.export import trained_ranges
from exporter.export.trace.pruned import KEY, read_plan
from exporter.export.trace.shrink import shrink
from exporter.paddle.names import forget_parameter_names
from exporter.process.job import job
from exporter.process.workers import doing, quiet_interrupts
from exporter.spec.recipe.base import Recipe
from exporter.spec.recipe.load import load_batches, load_recipe
from exporter.train import evaluate, loop, own, randomness
from exporter.train.checkpoint import State, load_state, set_weights
from exporter.train.device import use_device
from exporter.train.document import BEST, Metric, Row, RunDescription
from exporter.train.fake_quant import round_in_training
from exporter.train.log import FOLDER as LOGS
from exporter.train.log import Log
from exporter.train.ranks import Ranks

if TYPE_CHECKING:
    import paddle

    from exporter.spec.recipe.batches import Batches

PLOT = "loss.png"
_LOCK_PATIENCE = 15.0  # seconds; a child whose parent was killed needs them to end its step and save


@dataclass(frozen=True)
class RecipeModel:
    """The layer that a recipe builds: drawn from a seed, on a device, with the arguments of the spec's factory."""

    recipe: str
    seed: int
    device: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Start:
    """A checkpoint to begin from, and its digest."""

    file: Path
    sha256: str


@dataclass(frozen=True)
class RunRequest:
    """Train into a folder. `epochs`: None for as many as the recipe says.

    With `resume` the run goes on that began as `began_with`. One of several ranks has a number, and the `endpoints` of
    all; without these a process trains alone.
    """

    model: RecipeModel
    recipe_digest: str
    folder: Path
    epochs: int | None = None
    resume: bool = False
    began_with: RunDescription | None = None
    start: Start | None = None
    qat: bool = False
    log: tuple[str, ...] = ()
    rank: int = 0
    endpoints: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunAnswer:
    """The finished run; None of a rank that is not the first."""

    run: RunDescription | None


@job
def train(request: RunRequest) -> RunAnswer:
    """Train as the request says, and return the run that is finished then.

    One of several ranks trains with the others; only the first has the run's folder, and returns something.

    Raises:
        UsageError, EnvironmentLacks, ModelError: see :func:`exporter.train.run.train`.
        KeyboardInterrupt: interrupted; the state is saved.
    """
    folder, reference = request.folder, request.model.recipe
    doing("loading paddle")
    require_plots()
    recipe = load_recipe(reference)
    ranks = Ranks(request.rank, request.endpoints)
    refuse_ranks(ranks.count, recipe, qat=request.qat)
    device = _device(request.model.device, ranks)
    ranks.connect(device)
    doing("loading the data")
    batches = load_batches(recipe, reference)
    description = _describe(request, recipe, device)
    log = Log(request.log if ranks.first else (), folder)
    with _locked(folder) if ranks.first else nullcontext(), quiet_interrupts() as asked, closing(log):
        job, state = _begin(request, recipe, batches, description, ranks, log)
        if request.resume:
            assert request.began_with is not None  # noqa: S101  # whoever resumes has read it
            _check_same(folder, request.began_with, description)
        elif ranks.first:
            for name in (BEST, loop.LAST, loop.METRICS, PLOT, own.FOLDER, LOGS):
                remove(folder / name)
            description.write(folder)
        _fit(job, state, _stop(asked), request)
        return RunAnswer(_finish(job, state, description) if ranks.first else None)


def _begin(
    request: RunRequest, recipe: Recipe, batches: Batches, description: RunDescription, ranks: Ranks, log: Log
) -> tuple[loop.Job, State]:
    """A run before its first step: the layer is built, and measured and made to round where it is to train so."""
    reference, seed = request.model.recipe, request.model.seed
    doing("building the model")
    randomness.seed_all(seed)
    layer = build_layer(recipe, reference, request.model.args)
    plan = start_from(layer, request.start.file) if request.start else {}
    if request.qat:
        recipe = loop.eager(recipe)
    state, precision = loop.begin(recipe, reference, layer)
    about = {name: str(getattr(description, name)) for name in ("recipe", "recipe_digest", "seed", "paddle")}
    about |= {"metric": recipe.metric_name, **plan}
    if request.qat:
        doing("evaluating in float32")
        where = f"{reference}, held-out data before training"
        about[trained_ranges.BEFORE] = repr(evaluate.held_out(layer, recipe, batches.held_out(), where).metric)
        round_in_training(layer, state.ranges, reference)
    folder, epochs = request.folder, description.epochs
    return loop.Job(reference, recipe, batches, folder, seed, epochs, about, precision, ranks, log), state


def _fit(job: loop.Job, state: State, stop: Callable[[], bool], request: RunRequest) -> None:
    """Train from the beginning, or from where the run was interrupted, by the loop here or the recipe's own."""
    if job.recipe.fit:
        own.fit(job, state, stop, resume=request.resume, qat=request.qat)
        return
    if request.resume:
        load_state(job.folder / loop.LAST, state)
    elif request.qat:
        loop.begin_late(job, state)
    loop.fit(job, state, stop)


def refuse_ranks(ranks: int, recipe: Recipe, *, qat: bool) -> None:
    """Raises UsageError where several would not train one model: each would see ranges, or batches, of its own."""
    if ranks == 1:
        return
    if recipe.fit:
        hint = "leave ranks out; a loop of your own runs under paddle.distributed.launch"
        raise UsageError("a recipe with a `fit` of its own is not shared among ranks", where="ranks", hint=hint)
    if qat:
        raise UsageError("training with rounding is not shared among ranks", where="ranks", hint="leave ranks out")


def _device(asked: str, ranks: Ranks) -> str:
    """The device of a rank: a GPU each, where there are GPUs; raises EnvironmentLacks where there are fewer of them."""
    device = use_device(asked)
    return use_device(f"gpu:{ranks.rank}") if ranks.count > 1 and device.startswith("gpu") else device


def require_plots() -> None:
    """Raises EnvironmentLacks where the plot of the losses, which is drawn last, cannot be."""
    if find_spec("matplotlib") is None:
        raise EnvironmentLacks("matplotlib is not installed", where="the loss plot", hint=how_to_install("train"))


def untrained(recipe: Recipe, model: RecipeModel) -> tuple[Batches, paddle.nn.Layer]:
    """The recipe's batches and its layer, on the device and from the seed that `model` names.

    Raises:
        UsageError, EnvironmentLacks: as :func:`train`, of the data, the device and `build`.
    """
    use_device(model.device)
    doing("loading the data")
    batches = load_batches(recipe, model.recipe)
    doing("building the model that the recipe trains")
    randomness.seed_all(model.seed)
    return batches, build_layer(recipe, model.recipe, model.args)


def build_layer(recipe: Recipe, reference: str, arguments: Mapping[str, Any]) -> paddle.nn.Layer:
    """The recipe's layer; raises UsageError where `build` fails or gives something else.

    The `arguments` are those of the spec's factory: a `build` without parameters, as a lambda, has made its choice.
    """
    import paddle

    given = arguments if arguments and inspect.signature(recipe.build).parameters else {}
    if given:
        bound_arguments(recipe.build, given, f"{reference}, build")
    forget_parameter_names()
    with user_code("build() failed", reference):
        layer = recipe.build(**given)
    if not isinstance(layer, paddle.nn.Layer):
        kind = type(layer).__name__
        raise UsageError(f"build() gave a {kind}", where=reference, hint="return a paddle.nn.Layer")
    return layer


def start_from(layer: paddle.nn.Layer, checkpoint: Path) -> dict[str, str]:
    """Give the layer a checkpoint's weights, cut down first if it was pruned; return its plan for later checkpoints."""
    try:
        tensors, about = load_with_metadata(checkpoint)
    except BundleError as error:  # no bundle here: the file is the user's
        raise UsageError(error.what, where=error.where, hint=error.hint) from error
    if KEY in about:
        shrink(layer, read_plan(about[KEY], str(checkpoint)), str(checkpoint))
    set_weights(layer, tensors, str(checkpoint))
    return {KEY: about[KEY]} if KEY in about else {}


def _describe(request: RunRequest, recipe: Recipe, device: str) -> RunDescription:
    import paddle

    return RunDescription(
        recipe=request.model.recipe,
        recipe_digest=request.recipe_digest,
        recipe_epochs=recipe.epochs,
        epochs=request.epochs or recipe.epochs,
        seed=request.model.seed,
        device=device.partition(":")[0],
        paddle=paddle.__version__,
        start=request.start.sha256 if request.start else None,
        qat=request.qat,
        args=request.model.args,
        ranks=len(request.endpoints) or 1,
    )


def _finish(job: loop.Job, state: State, description: RunDescription) -> RunDescription:
    from exporter.train.plot import write_plot

    doing("drawing the losses")
    write_plot(job.folder / PLOT, state.history, job.recipe, job.reference)
    best = loop.best_row(state.history, job.recipe)
    name, recipe = job.recipe.metric_name, job.recipe
    metric = Metric(name, recipe.goal, best.metric(name), best.epoch)
    if recipe.floor is not None and not description.start and job.epochs >= recipe.epochs:
        # of a whole training: a shorter one, or one of a cut layer, has none
        metric = replace(metric, floor=float(recipe.floor))
    description = description.end(_measured(job, state, best, metric), sha256_file(job.folder / BEST))
    description.write(job.folder)  # last: it is what makes the run a finished one
    return description


def _measured(job: loop.Job, state: State, best: Row, metric: Metric) -> Metric:
    """The metric of the best epoch as it is measured now, with its interval; as it is where that cannot be said.

    The value of the epoch is replaced by what is measured: a loop of the recipe's own may have given any, and a run
    that was interrupted may go on with other data. Weights that were trained with roundings are another model without
    them.
    """
    if state.ranges:
        return metric
    doing("evaluating the best epoch")
    where = f"{job.reference}, held-out data of the best epoch"
    set_weights(state.layer, load(job.folder / BEST), str(job.folder / BEST))
    held = evaluate.held_out(state.layer, job.recipe, job.batches.held_out(), where, singles=True)
    logged = best.metric(metric.name)
    if not math.isclose(held.metric, logged, rel_tol=1e-3, abs_tol=1e-6):
        measured = f"{metric.name} of the checkpoint is {held.metric:.4f} on the held-out data"
        loop.note(f"{measured}, not {logged:.4f} as logged")
    return replace(metric, value=held.metric, interval=held.interval)


def _check_same(folder: Path, before: RunDescription, now: RunDescription) -> None:
    for name in ("device", "paddle"):
        began, here = getattr(before, name), getattr(now, name)
        if began != here:
            raise UsageError(
                f"the run began with {name} {began}; {here} would go on with other bits",
                where=str(folder),
                hint=f"go on with {name} {began}, or remove the folder and train again",
            )


def _stop(asked: list[bool]) -> Callable[[], bool]:
    """Tell the loop to end when it was asked to, or when the parent is gone: nobody would read the answer."""
    parent = os.getppid()
    return lambda: asked[0] or os.getppid() != parent


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time write into a run."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + _LOCK_PATIENCE
        while not _lock(handle):
            if time.monotonic() > deadline:
                raise UsageError(
                    "another process is training here", where=str(folder), hint="wait for it, or choose another --out"
                )
            time.sleep(0.1)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
