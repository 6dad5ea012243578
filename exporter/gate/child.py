"""In a child: which files a spec's code reads: model, data of the recipe, functions of the pipeline."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exporter.base.tensors import Array
from exporter.base.watch import watch as watch_all
from exporter.export.trace.blame import blamed
from exporter.export.trace.layer import load_layer
from exporter.export.trace.structure import leaves, output_names
from exporter.export.trace.traced import bind_inputs
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.domain import checked_places
from exporter.prove.goldens.values import draw, real_rows
from exporter.spec.model import Spec
from exporter.spec.pipeline import Pipeline
from exporter.spec.recipe.load import load_data, load_recipe
from exporter.steps.base import VALUE, State
from exporter.steps.chain import Function, read_chain, steps_of
from exporter.steps.material import behind_model
from exporter.steps.samples import read_samples


@dataclass(frozen=True)
class WatchRequest:
    """The code of a spec is to be watched, and what it opens below the folder `within` to be named."""

    spec: Spec
    within: Path


@dataclass(frozen=True)
class WatchAnswer:
    """Absolute paths, in order: files that were read or asked about, and folders that were listed; what is `hidden`."""

    read: tuple[Path, ...]
    listed: tuple[Path, ...]
    hidden: tuple[str, ...]


@job
def watch(request: WatchRequest) -> WatchAnswer:
    """Run the code once, and return the files that were read or asked about and the folders that were listed.

    Raises:
        UsageError, ModelError: the model cannot be built or run, its data cannot be loaded, or a function of its
            pipeline fails.
    """
    seen = watch_all()
    spec = request.spec
    outputs = _run(spec)
    if spec.recipe:
        doing("loading the data, to see which files it opens")
        load_data(load_recipe(spec.recipe), spec.recipe)
    if spec.pipeline:
        doing("running the pipeline's functions, to see which files they open")
        _call_functions(spec.pipeline.settled(), outputs)
    events = seen()
    read = _below(events.read | events.met | events.missed, request.within)
    return WatchAnswer(read, _below(events.listed, request.within), tuple(sorted(events.hidden)))


def _run(spec: Spec) -> dict[str, Array]:
    """Build the layer and run it on the typical case; its outputs by name, one row of each."""
    import paddle

    doing("building the model, to see which files it opens")
    layer = load_layer(spec.factory, None, spec.seed)
    order = [bound.name for bound in bind_inputs(layer, spec.input_specs())]
    inputs = draw(spec, plan_cases(spec)[0], real_rows(spec))
    doing("running the model, to see which files it opens")
    with blamed("forward", layer), checked_places(layer, inputs), paddle.no_grad():
        result = layer(*[paddle.to_tensor(inputs[name]) for name in order])
    named = zip(output_names(result, spec.outputs), (leaf for _, leaf in leaves(result)), strict=True)
    made = {name: leaf.numpy() for name, leaf in named if isinstance(leaf, paddle.Tensor)}
    return {name: value[0] if value.ndim else value for name, value in made.items()}


def _call_functions(pipeline: Pipeline, outputs: Mapping[str, Array]) -> None:
    """Run each chain up to its last function of the user's: those before the model on the first sample."""
    sample = next(iter(read_samples(pipeline.samples, Path()).values()))
    starts: dict[str, State] = {"preprocess": {VALUE: sample}, "postprocess": behind_model(outputs, tuple(outputs))}
    for side in pipeline.compared:
        for name in ("training", "deployment"):
            chain = read_chain(getattr(getattr(pipeline, side), name))
            last = max((at for at, link in enumerate(chain) if isinstance(link, Function)), default=-1)
            for _ in steps_of(chain[: last + 1], starts[side], f"pipeline.{side}.{name}"):
                pass


def _below(paths: set[str], folder: Path) -> tuple[Path, ...]:
    """Those below a folder, as they were asked for and where the links on their way lead."""
    both = {Path(os.path.abspath(path)) for path in paths} | {Path(path).resolve() for path in paths}  # noqa: PTH100
    return tuple(sorted(path for path in both if path.is_relative_to(folder)))
