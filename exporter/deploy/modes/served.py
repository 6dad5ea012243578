"""Eager and each artifact behind one HTTP service: how many requests a second each answers, by turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from exporter.base.distribution import how_to_install
from exporter.base.errors import ChildFailed, ModelError, UsageError
from exporter.base.tensors import TensorSpec, load
from exporter.bundle.open import Bundle
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.interface import DTYPES
from exporter.deploy.handoff.kinds import http_service
from exporter.deploy.modes.result import EAGER, Asked, Served, Wish
from exporter.deploy.modes.service import ServiceRequest, ask
from exporter.deploy.modes.turns import turns
from exporter.engines.base import Runnable
from exporter.engines.job import call_engine, runnable
from exporter.process.workers import Setting
from exporter.prove.proofs.base import source_of
from exporter.prove.verdict.plan import ENGINES
from exporter.spec.model import Spec
from exporter.spec.read import validate

#: The file with one row of each input, which every request carries.
ROW = "row.safetensors"
#: Which engine runs an artifact of each format, as an operator would.
BY = {"pir": "paddle_inference", "pdmodel": "paddle_inference", "onnx": "onnxruntime"}
#: The largest batch that the artifacts promise.
_MOST_ROWS = 8


#: Converts a spec into a folder, and returns the bundle; raises ModelError where it cannot be exported.
Convert: TypeAlias = Callable[[Spec, Path, Setting], Bundle]


def serve(
    wish: Wish, inputs: Sequence[TensorSpec], place: Path, checkpoint: Path, setting: Setting, convert: Convert
) -> Served:
    """Make the artifacts of eager's weights, and ask the service of each for a while in each round.

    What cannot be exported or served is no fault of what else was measured: the answer says why.
    """
    if why := _why_not(wish):
        return Served(why_not=why)
    try:
        return _serve(wish, _spec(wish, inputs, checkpoint), place, setting, convert)
    except (ModelError, UsageError) as error:
        return Served(why_not=f"{error.what} {error.where}".strip())


def _serve(wish: Wish, spec: Spec, place: Path, setting: Setting, convert: Convert) -> Served:
    begin = time.perf_counter()
    bundle = convert(spec, place / "bundle", setting)
    took = time.perf_counter() - begin
    runs = dict(_runs(spec, bundle))
    rounds: dict[str, list[Asked]] = {name: [] for name in runs}
    answers: dict[str, Sequence[float]] = {}
    for number, name in turns(runs, wish.rounds, wish.seed):
        setting.say(f"round {number + 1} of {wish.rounds}: serving {name}")
        asked, answers[name] = _ask(wish, *runs[name], bundle, place, setting)
        rounds[name].append(asked)
    apart = {name: _apart(answers[EAGER], answer) for name, answer in answers.items()}
    return Served(rounds, apart, took)


def _why_not(wish: Wish) -> str:
    if find_spec("aiohttp") is None:
        return f"the service runs on aiohttp, which is not installed: {how_to_install('compare')}"
    return "" if wish.device == "cpu" else "the service is measured on the CPU alone"


def _spec(wish: Wish, inputs: Sequence[TensorSpec], checkpoint: Path) -> Spec:
    """The recipe's own layer with eager's weights, at the sizes that its data has."""
    taken = {one.name: {"dtype": one.dtype, "shape": list(one.shape), "values": "dataset"} for one in inputs}
    dims = {"batch": {"min": 1, "typical": 2, "max": _MOST_ROWS}}
    source = {"model": f"{wish.recipe}.build", "recipe": wish.recipe, "checkpoint": str(checkpoint)}
    return validate({"name": "compared", **source, "inputs": taken, "dims": dims}, wish.recipe)


def _runs(spec: Spec, bundle: Bundle) -> Iterator[tuple[str, tuple[str, Runnable]]]:
    """By name: the engine and what it opens."""
    outputs = tuple(one.name for one in bundle.manifest.outputs)
    source = source_of(spec, Path(spec.checkpoint) if spec.checkpoint else None, outputs)
    yield EAGER, ("eager", Runnable("source", None, "", tuple(spec.inputs), outputs, source))
    for name, variant in bundle.manifest.variants.items():
        engine = BY[variant.format]
        if ENGINES[engine].runs(variant.format, variant.precision):
            yield f"{name} by {engine}", (engine, runnable(variant.artifact(), bundle.folder))


def _ask(
    wish: Wish, engine: str, artifact: Runnable, bundle: Bundle, place: Path, setting: Setting
) -> tuple[Asked, Sequence[float]]:
    chosen = Chosen(bundle, next(iter(bundle.manifest.variants)))
    about = http_service.settings(chosen, bundle.folder / chosen.variant.artifact().main)
    request = ServiceRequest(
        engine,
        wish.device,
        replace(artifact, threads=wish.threads),
        place / ROW,
        about=replace(about, join=None),
        body=_body(load(place / ROW)),
        clients=wish.clients,
        seconds=wish.serve,
    )
    answer = call_engine(ask, request, setting)
    if answer.asked is None:
        raise ChildFailed(answer.fault, where=f"the service of {engine}", hint="run it with --debug")
    return answer.asked, answer.values


def _body(row: Mapping[str, Any]) -> dict[str, Any]:
    datatypes = {dtype: datatype for datatype, dtype in DTYPES.items()}
    return {
        "inputs": [
            {
                "name": name,
                "datatype": datatypes[value.dtype.name],
                "shape": list(value.shape),
                "data": value.ravel().tolist(),
            }
            for name, value in row.items()
        ]
    }


def _apart(eager: Sequence[float], own: Sequence[float]) -> float:
    return max((abs(one - other) for one, other in zip(eager, own, strict=True)), default=0.0)
