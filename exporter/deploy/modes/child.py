"""In a child: one mode trains a recipe and runs it, and every step and call is timed."""

from __future__ import annotations

import itertools
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from exporter.base import tensors
from exporter.base.errors import UsageError
from exporter.base.registry import Registry
from exporter.base.tensors import Array, TensorSpec
from exporter.deploy.modes.base import Lack, Mode, Trainee
from exporter.deploy.modes.result import Round
from exporter.paddle.threads import set_threads
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.spec.recipe.batches import as_array
from exporter.spec.recipe.load import load_batches, load_data, load_recipe, rows_of
from exporter.train import evaluate, loop, randomness
from exporter.train.child import build_layer
from exporter.train.device import use_device

MODES: Registry[Mode] = Registry("exporter.deploy.modes", "mode")
#: Files that a child leaves in its folder.
WEIGHTS = "weights.safetensors"
#: Calls before the clock counts: programs are made, and allocators and kernels settle, in them.
_WARM_CALLS, _WARM_SECONDS = 3, 0.1
#: Calls that are timed at least, however slow they are.
_LEAST = 5


@dataclass(frozen=True)
class LookRequest:
    """The modes of a recipe are to be looked at; one held-out row of each input is written to the file `row`."""

    recipe: str
    modes: tuple[str, ...]
    seed: int
    device: str
    row: Path


@dataclass(frozen=True)
class Looked:
    """What can be compared: of each mode why not. The first dim of each input is called `batch`."""

    paddle: str
    device: str
    epochs: int
    lacks: Mapping[str, Lack | None]
    inputs: tuple[TensorSpec, ...]
    metric: str


@dataclass(frozen=True)
class MeasureRequest:
    """A mode is to train a recipe for `epochs`, or for so many `steps`, and then to run it.

    It runs forward for `seconds` at each of the sizes `batches`. What it writes lies below `into`.
    """

    recipe: str
    mode: str
    seed: int
    device: str
    threads: int
    epochs: int | None
    steps: int | None
    batches: tuple[int, ...]
    seconds: float
    inputs: tuple[TensorSpec, ...]
    into: Path


@job
def look(request: LookRequest) -> Looked:
    """Return what can be compared, and how the recipe's inputs look; write a row of them.

    Raises:
        UsageError, EnvironmentLacks: the recipe, its data or the device is wrong.
    """
    import paddle

    reference = request.recipe
    recipe = load_recipe(reference)
    if recipe.fit is not None:
        what = "the recipe trains by a `fit` of its own, which one mode alone can run"
        raise UsageError(what, where=reference, hint="name a recipe that leaves the loop to exporter train")
    device = use_device(request.device)
    batches = load_batches(recipe, reference)
    first = next(batches.epoch(request.seed, 0))
    lacks = {name: MODES[name].lacks(recipe) for name in request.modes}
    specs = tuple(_spec(name, as_array(first[name])) for name in recipe.inputs)
    row = rows_of(load_data(recipe, reference), "held_out", recipe.inputs, 1, request.seed)
    tensors.save_scratch(request.row, row)
    return Looked(paddle.__version__, device, recipe.epochs, lacks, specs, recipe.metric_name)


def _spec(name: str, array: Array) -> TensorSpec:
    return TensorSpec(name, array.dtype.name, ("batch", *array.shape[1:]))


@job
def measure(request: MeasureRequest) -> Round:
    """Train by one mode, then run forward at each batch size, then export; return all times in seconds.

    The weights it ends with lie in `into/weights.safetensors`.

    Raises:
        UsageError, ModelError: as training, of the recipe's own code or of what the mode makes of it.
    """
    reference, into, seed = request.recipe, request.into, request.seed
    doing(f"{request.mode}: loading the recipe")
    recipe = load_recipe(reference)
    device = use_device(request.device)
    set_threads(request.threads)
    batches = load_batches(recipe, reference)
    randomness.seed_all(seed)
    layer = build_layer(recipe, reference, {})
    training = loop.Job(reference, recipe, batches, into, seed, request.epochs or 0, {})
    trainee = MODES[request.mode].begin(training, layer)
    doing(f"{request.mode}: training")
    losses, times = _train(trainee, training, request.steps)
    doing(f"{request.mode}: evaluating")
    metric = _metric(trainee, training)
    tensors.save_scratch(into / WEIGHTS, trainee.weights())
    doing(f"{request.mode}: running forward")
    data, forward = load_data(recipe, reference), {}
    for size in request.batches:
        rows = rows_of(data, "held_out", recipe.inputs, size, seed)
        forward[str(size)] = _timed(partial(trainee.predict, rows), request.seconds)
    memory = _peak(device)
    doing(f"{request.mode}: exporting")
    export = _export(trainee, into, request.inputs)
    return Round(losses, times, forward, export, metric, memory)


def _train(trainee: Trainee, job: loop.Job, most: int | None) -> tuple[list[float], list[float]]:
    """The loss and the seconds of each step."""
    losses: list[float] = []
    times: list[float] = []
    for epoch in range(job.epochs) if job.epochs else itertools.count():
        before = len(losses)
        for batch in job.batches.epoch(job.seed, epoch):
            where = f"{job.reference}, epoch {epoch + 1}, step {len(losses) - before + 1}"
            begin = time.perf_counter()
            loss = trainee.step(batch, where)
            times.append(time.perf_counter() - begin)
            losses.append(loss)
            if len(losses) == most:
                return losses, times
        done = losses[before:]
        trainee.end_epoch(sum(done) / len(done), f"{job.reference}, epoch {epoch + 1}")
    return losses, times


def _metric(trainee: Trainee, job: loop.Job) -> float:
    """The recipe's metric on the held-out samples."""
    recipe = job.recipe
    scoring = evaluate.Scoring(recipe, f"{job.reference}, held-out data")
    for batch in job.batches.held_out():
        outputs = trainee.predict({name: as_array(batch[name]) for name in recipe.inputs})
        scoring.add(outputs, {name: as_array(batch[name]) for name in recipe.labels})
    return scoring.value()


def _timed(call: Callable[[], object], seconds: float) -> list[float]:
    begin, calls = time.perf_counter(), 0
    while calls < _WARM_CALLS or time.perf_counter() - begin < _WARM_SECONDS:
        call()
        calls += 1
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < _LEAST or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def _peak(device: str) -> int:
    """Bytes at the peak: of the GPU's memory where there is one, else of this process, Paddle itself included."""
    import paddle

    if device.startswith("gpu"):
        return int(paddle.device.cuda.max_memory_allocated(device))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in KiB


def _export(trainee: Trainee, into: Path, inputs: Sequence[TensorSpec]) -> float:
    folder = into / "exported"
    folder.mkdir()
    begin = time.perf_counter()
    trainee.export(folder, inputs)
    return time.perf_counter() - begin
