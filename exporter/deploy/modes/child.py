"""In a child: one mode trains a recipe and runs it, and every step and call is timed."""

from __future__ import annotations

import itertools
import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from exporter.base import tensors
from exporter.base.errors import UsageError
from exporter.base.registry import Registry
from exporter.base.tensors import TensorSpec
from exporter.deploy.modes.base import Mode, Trainee
from exporter.paddle.threads import set_threads
from exporter.process.workers import Json, doing
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


def look(request: Json) -> Json:
    """What can be compared: of each mode why not, and how the recipe's inputs look.

    One held-out row of each input is written to the file `row`, for requests to a service.

    Raises:
        UsageError, EnvironmentLacks: the recipe, its data or the device is wrong.
    """
    import paddle

    reference = request["recipe"]
    recipe = load_recipe(reference)
    if recipe.fit is not None:
        what = "the recipe trains by a `fit` of its own, which one mode alone can run"
        raise UsageError(what, where=reference, hint="name a recipe that leaves the loop to exporter train")
    device = use_device(request["device"])
    batches = load_batches(recipe, reference)
    first = next(batches.epoch(request["seed"], 0))
    lacks: dict[str, Any] = {}
    for name in request["modes"]:
        lack = MODES[name].lacks(recipe)
        lacks[name] = {"what": lack.what, "hint": lack.hint, "here": lack.here} if lack else None
    specs = [{"name": name, **_spec(as_array(first[name]))} for name in recipe.inputs]
    row = rows_of(load_data(recipe, reference), "held_out", recipe.inputs, 1, request["seed"])
    tensors.save_scratch(Path(request["row"]), row)
    told = {"paddle": paddle.__version__, "device": device, "epochs": recipe.epochs}
    return {**told, "lacks": lacks, "inputs": specs, "metric": recipe.metric_name}


def _spec(array: Any) -> Json:
    return {"dtype": array.dtype.name, "shape": ["batch", *array.shape[1:]]}


def measure(request: Json) -> Json:
    """Train by one mode, then run forward at each batch size, then export; all times are seconds.

    The weights it ends with lie in `into/weights.safetensors`.

    Raises:
        UsageError, ModelError: as training, of the recipe's own code or of what the mode makes of it.
    """
    reference, into, seed = request["recipe"], Path(request["into"]), request["seed"]
    doing(f"{request['mode']}: loading the recipe")
    recipe = load_recipe(reference)
    device = use_device(request["device"])
    set_threads(request["threads"])
    batches = load_batches(recipe, reference)
    randomness.seed_all(seed)
    layer = build_layer(recipe, reference, {})
    job = loop.Job(reference, recipe, batches, into, seed, request["epochs"] or 0, {})
    trainee = MODES[request["mode"]].begin(job, layer)
    doing(f"{request['mode']}: training")
    losses, times = _train(trainee, job, request["steps"])
    doing(f"{request['mode']}: evaluating")
    metric = _metric(trainee, job)
    tensors.save_scratch(into / WEIGHTS, trainee.weights())
    doing(f"{request['mode']}: running forward")
    data, forward = load_data(recipe, reference), {}
    for size in request["batches"]:
        rows = rows_of(data, "held_out", recipe.inputs, size, seed)
        forward[str(size)] = _timed(partial(trainee.predict, rows), request["seconds"])
    memory = _peak(device)
    doing(f"{request['mode']}: exporting")
    export = _export(trainee, into, request["inputs"])
    timed = {"losses": losses, "times": times, "forward": forward, "export": export}
    return {**timed, "metric": metric, "memory": memory}


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


def _export(trainee: Trainee, into: Path, inputs: list[Json]) -> float:
    specs = [TensorSpec(spec["name"], spec["dtype"], tuple(spec["shape"])) for spec in inputs]
    folder = into / "exported"
    folder.mkdir()
    begin = time.perf_counter()
    trainee.export(folder, specs)
    return time.perf_counter() - begin
