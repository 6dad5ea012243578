"""The child that trains: recipe, data and device are made ready, the loop runs, the run is declared finished."""

from __future__ import annotations

import fcntl
import inspect
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.distribution import how_to_install
from exporter.base.errors import BundleError, EnvironmentLacks, UsageError
from exporter.base.files import remove, sha256_file, write_json
from exporter.base.references import bound_arguments, user_code
from exporter.base.tensors import load, load_with_metadata
from exporter.export import trained_ranges
from exporter.export.trace.pruned import KEY, read_plan
from exporter.export.trace.shrink import shrink
from exporter.paddle.names import forget_parameter_names
from exporter.process.workers import Json, doing, quiet_interrupts
from exporter.spec.recipe.base import Recipe
from exporter.spec.recipe.load import load_batches, load_recipe
from exporter.train import evaluate, loop, own, randomness
from exporter.train.checkpoint import State, load_state, set_weights
from exporter.train.device import use_device
from exporter.train.fake_quant import round_in_training
from exporter.train.log import FOLDER as LOGS
from exporter.train.log import Log
from exporter.train.ranks import Ranks

if TYPE_CHECKING:
    import paddle

    from exporter.spec.recipe.batches import Batches

PLOT, RUN = "loss.png", "run.json"
_LOCK_PATIENCE = 15.0  # seconds; a child whose parent was killed needs them to end its step and save


def train(request: Json) -> Json:
    """Train as the request (from :mod:`exporter.train.run`) says, and return the content of `run.json`.

    One of several ranks trains with the others; only the first has the run's folder, and returns something.

    Raises:
        UsageError, EnvironmentLacks, ModelError: see :func:`exporter.train.run.train`.
        KeyboardInterrupt: interrupted; the state is saved.
    """
    folder, reference = Path(request["folder"]), request["recipe"]
    doing("loading paddle")
    require_plots()
    recipe = load_recipe(reference)
    ranks = Ranks(request.get("rank", 0), request.get("endpoints", ()))
    refuse_ranks(ranks.count, recipe, qat=request["qat"])
    device = _device(request["device"], ranks)
    ranks.connect(device)
    doing("loading the data")
    batches = load_batches(recipe, reference)
    description = _describe(request, recipe, device)
    log = Log(request.get("log", ()) if ranks.first else (), folder)
    with _locked(folder) if ranks.first else nullcontext(), quiet_interrupts() as asked, closing(log):
        doing("building the model")
        randomness.seed_all(request["seed"])
        layer, plan = build_layer(recipe, reference, request["args"]), {}
        if request["start"]:
            plan = start_from(layer, Path(request["start"]["file"]))
        if request["qat"]:
            recipe = loop.eager(recipe)
        state, precision = loop.begin(recipe, reference, layer)
        before = {}
        if request["qat"]:
            doing("evaluating in float32")
            where = f"{reference}, held-out data before training"
            before[trained_ranges.BEFORE] = repr(evaluate.held_out(layer, recipe, batches.held_out(), where).metric)
            round_in_training(layer, state.ranges, reference)
        about = {name: str(description[name]) for name in ("recipe", "recipe_digest", "seed", "paddle")}
        about |= {"metric": recipe.metric_name, **plan, **before}
        epochs = description["epochs"]
        job = loop.Job(reference, recipe, batches, folder, request["seed"], epochs, about, precision, ranks, log)
        if request["resume"]:
            _check_same(folder, request["began_with"], description)
        elif ranks.first:
            for name in (loop.BEST, loop.LAST, loop.METRICS, PLOT, own.FOLDER, LOGS):
                remove(folder / name)
            write_json(folder / RUN, description)
        if recipe.fit:
            own.fit(job, state, _stop(asked), resume=request["resume"], qat=request["qat"])
        else:
            if request["resume"]:
                load_state(folder / loop.LAST, state)
            elif request["qat"]:
                loop.begin_late(job, state)
            loop.fit(job, state, _stop(asked))
        return _finish(job, state, description) if ranks.first else {}


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


def untrained(recipe: Recipe, request: Json) -> tuple[Batches, paddle.nn.Layer]:
    """The recipe's batches and its layer, on the device and from the seed that the request names.

    Raises:
        UsageError, EnvironmentLacks: as :func:`train`, of the data, the device and `build`.
    """
    reference = request["recipe"]
    use_device(request["device"])
    doing("loading the data")
    batches = load_batches(recipe, reference)
    doing("building the model that the recipe trains")
    randomness.seed_all(request["seed"])
    return batches, build_layer(recipe, reference, request["args"])


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


def _describe(request: Json, recipe: Recipe, device: str) -> Json:
    import paddle

    return {
        "schema": 1,
        "recipe": request["recipe"],
        "recipe_digest": request["recipe_digest"],
        "recipe_epochs": recipe.epochs,
        "epochs": request["epochs"] or recipe.epochs,
        "seed": request["seed"],
        "device": device.partition(":")[0],
        "paddle": paddle.__version__,
        "finished": False,
        **({"start": request["start"]["sha256"]} if request["start"] else {}),
        **({"qat": True} if request["qat"] else {}),
        **({"args": request["args"]} if request["args"] else {}),
        **({"ranks": len(request["endpoints"])} if "endpoints" in request else {}),
    }


def _finish(job: loop.Job, state: State, description: Json) -> Json:
    from exporter.train.plot import write_plot

    doing("drawing the losses")
    write_plot(job.folder / PLOT, state.history, job.recipe, job.reference)
    best = loop.best_row(state.history, job.recipe)
    name = job.recipe.metric_name
    metric = {"name": name, "goal": job.recipe.goal, "value": best[name], "epoch": best["epoch"]}
    if job.recipe.floor is not None and not description.get("start") and job.epochs >= job.recipe.epochs:
        metric["floor"] = float(job.recipe.floor)  # of a whole training: a shorter one, or one of a cut layer, has none
    description |= {
        "finished": True,
        "metric": {**metric, **_measured(job, state, best)},
        "checkpoint": {"file": loop.BEST, "sha256": sha256_file(job.folder / loop.BEST)},
    }
    write_json(job.folder / RUN, description)  # last: it is what makes the run a finished one
    return description


def _measured(job: loop.Job, state: State, best: Json) -> Json:
    """Between which bounds the metric of the best epoch lies; nothing where that cannot be said.

    The value of the epoch is replaced by what is measured: a loop of the recipe's own may have given any, and a run
    that was interrupted may go on with other data. Weights that were trained with roundings are another model without
    them.
    """
    if state.ranges:
        return {}
    doing("evaluating the best epoch")
    where = f"{job.reference}, held-out data of the best epoch"
    set_weights(state.layer, load(job.folder / loop.BEST), str(job.folder / loop.BEST))
    held = evaluate.held_out(state.layer, job.recipe, job.batches.held_out(), where, singles=True)
    bounds = {"interval": list(held.interval)} if held.interval else {}
    name = job.recipe.metric_name
    if not math.isclose(held.metric, best[name], rel_tol=1e-3, abs_tol=1e-6):
        measured = f"{name} of the checkpoint is {held.metric:.4f} on the held-out data"
        loop.note(f"{measured}, not {best[name]:.4f} as logged")
    return {**bounds, "value": held.metric}


def _check_same(folder: Path, before: Json, now: Json) -> None:
    for name in ("device", "paddle"):
        if before[name] != now[name]:
            raise UsageError(
                f"the run began with {name} {before[name]}; {now[name]} would go on with other bits",
                where=str(folder),
                hint=f"go on with {name} {before[name]}, or remove the folder and train again",
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
