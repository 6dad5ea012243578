"""In a child: draw the inputs of every planned case, and run the eager layer at the sizes that the spec promises."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import ExporterError, UsageError, did_you_mean
from exporter.base.tensors import Array, TensorMap
from exporter.engines.paddle import call_layer, named_arrays
from exporter.export.lower.child import BuiltLayer
from exporter.export.trace.blame import blamed
from exporter.export.trace.layer import load_layer
from exporter.export.trace.outputs import Seen
from exporter.export.trace.structure import output_names
from exporter.export.trace.traced import bind_inputs
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.goldens.cases import Case, batch_dim, plan_cases
from exporter.prove.goldens.domain import OutOfRange, checked_places
from exporter.prove.goldens.values import Rows, draw, real_rows
from exporter.spec.inputs import Input
from exporter.spec.model import Spec
from exporter.spec.recipe.base import Data, Recipe
from exporter.spec.recipe.load import load_data, load_recipe, rows_of
from exporter.train.evaluate import refuse_other_rows, try_metric

if TYPE_CHECKING:
    import paddle

#: Seconds of processor time in which sizes are tried with few rows, and then with more: code depends on a length or a
#: width far more often than on the number of rows. Those that would take longer are the recording's to find.
_SECONDS, _SECONDS_OF_ROWS = 2.0, 0.5
#: Bytes of inputs of a case that is run here.
_MOST_BYTES = 1 << 26


@dataclass(frozen=True)
class TryRequest:
    """A spec, with its checkpoint, or with the `initial` weights of a training, or with neither.

    `rated` says that the recipe's metric will be asked about what the model gives.
    """

    spec: Spec
    checkpoint: Path | None
    initial: Path | None
    rated: bool


@job(reuse="trying the planned cases")
def try_cases(request: TryRequest) -> None:
    """Draw every case that may lack values, and run the layer at the promised sizes.

    Where it will be `rated`, the recipe's metric is asked about its outputs.

    The sizes of the dim that counts rows come last, with all others at each of their sizes before: code depends on a
    length or a width far more often than on the number of rows, and many rows take long.

    Raises:
        UsageError: values that do not fit the inputs; the weights do not fit the model; the metric does not rate it.
        ModelError: `forward` does not run at a size that the spec promises.
    """
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    spec = request.spec
    needed = _data(spec)
    rows: Rows | None = partial(rows_of, needed[1], "held_out") if needed else None
    _draw(spec, rows)
    doing("building the layer")
    layer = _layer(spec, request)
    _run_layer(layer, spec, rows)
    if request.rated and needed:
        _rate(layer, spec, *needed)


@job
def try_layer(built: BuiltLayer) -> Seen:
    """Try a layer that is built already as :func:`try_cases` does, for a spec that needs no data; raises as that."""
    _draw(built.spec, None)
    return _run_layer(built.layer, built.spec, None)


@job
def observe(built: BuiltLayer) -> Seen:
    """Run a layer that was tried before at two of the promised sizes, with the recipe's data if the spec needs them."""
    return _run_layer(built.layer, built.spec, real_rows(built.spec), most=2)


def _draw(spec: Spec, rows: Rows | None) -> None:
    if any(map(_can_lack, spec.inputs.values())):
        for case in plan_cases(spec):
            doing(f"drawing case {case.name}")
            draw(spec, case, rows)


@job
def observe_file(built: BuiltLayer) -> Seen:
    """Run a model that is a file, and no layer, at two of the promised sizes: it takes arrays by name."""
    return _run_sizes(built.spec, lambda _dims, inputs: built.layer(inputs), None, most=2)


def _run_layer(layer: paddle.nn.Layer, spec: Spec, rows: Rows | None, most: int | None = None) -> Seen:
    """Run the layer at the promised sizes, as many as there is time for, and return what it gives."""
    order = [bound.name for bound in bind_inputs(layer, spec.input_specs())]

    def run(dims: Mapping[str, int], inputs: TensorMap) -> object:
        said = _said(dims)
        with blamed(f"forward at {said}" if said else "forward", layer), checked_places(layer, inputs):
            try:
                return _run(layer, [inputs[name] for name in order])
            except OutOfRange as refusal:
                raise refusal.for_user(spec, Case(said.replace(" ", ""), dims, spec.seed)) from refusal

    return _run_sizes(spec, run, rows, most)


def _run_sizes(
    spec: Spec, run: Callable[[Mapping[str, int], TensorMap], object], rows: Rows | None, most: int | None
) -> Seen:
    """Run what takes a size and its inputs, as :func:`_run_layer` does."""
    began, per_byte, seen = time.process_time(), 0.0, Seen()
    few, more = _points(spec)
    for dims in (few + more)[:most]:
        inputs = draw(spec, Case("", dims, spec.seed), rows)
        size = sum(value.nbytes for value in inputs.values())
        if size > _MOST_BYTES:
            continue
        if time.process_time() - began + per_byte * size > (_SECONDS if dims in few else _SECONDS_OF_ROWS):
            break
        started = time.process_time()
        doing(f"running forward at {_said(dims)}" if dims else "running forward")
        seen = seen.with_run(run(dims, inputs))
        per_byte = (time.process_time() - started) / max(size, 1)
    return seen


def _said(dims: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in dims.items())


def _can_lack(asked: Input) -> bool:
    """Whether there may be no values for a case: files and data hold so much, and a range may be empty at some size."""
    return not asked.values.startswith(("normal", "uniform"))


def _rate(layer: paddle.nn.Layer, spec: Spec, recipe: Recipe, data: Data) -> None:
    """Ask the metric about a few samples, as :mod:`exporter.prove.proofs.kinds.metric` will about all of them."""
    doing("asking the recipe's metric")
    assert spec.recipe is not None  # noqa: S101  # its data are here
    order = tuple(bound.name for bound in bind_inputs(layer, spec.input_specs()))
    batch = batch_dim(spec)
    dim = spec.dims[batch] if batch else None
    count = dim.min if dim else int(next(iter(spec.inputs.values())).shape[0])
    if dim and count + dim.multiple_of <= dim.max:  # of a single row nobody sees whether it is the sample's
        count += dim.multiple_of
    value = call_layer(layer, order, {name: data.held_out[name][:count] for name in order})
    outputs = named_arrays(value, output_names(value, spec.outputs))
    try:
        refuse_other_rows(outputs, count, recipe, spec.recipe)
        try_metric(
            recipe,
            list(outputs.values()),
            lambda most: {name: data.held_out[name][:most] for name in recipe.labels},
            spec.recipe,
        )
    except ExporterError as error:
        raise UsageError(
            f"the recipe's metric does not rate what this model gives: {error.what}",
            where=f"model: {spec.model}, recipe: {spec.recipe}",
            hint="let it give what the metric takes; or promise none, with `max_metric_loss: unrated` in the budget of "
            "each precision but fp32, and in `pipeline`",
        ) from error


def _data(spec: Spec) -> tuple[Recipe, Data] | None:
    """The recipe and its data, loaded once for all cases."""
    if spec.recipe is None or all(asked.values != "dataset" for asked in spec.inputs.values()):
        return None
    doing("loading the data")
    recipe = load_recipe(spec.recipe)
    data = load_data(recipe, spec.recipe)
    known = {*data.held_out}
    for name, asked in spec.inputs.items():
        if asked.values == "dataset" and name not in known:
            raise UsageError(
                f"the recipe's held-out data has no array '{name}'",
                where=f"inputs.{name}.values: dataset",
                hint=did_you_mean(name, sorted(known)),
            )
    return recipe, data


def _layer(spec: Spec, request: TryRequest) -> paddle.nn.Layer:
    if not request.initial:
        return load_layer(spec.factory, request.checkpoint, spec.seed)
    try:
        return load_layer(spec.factory, request.initial, spec.seed)
    except UsageError as error:
        if not error.where.startswith(str(request.initial)):
            raise
        raise UsageError(
            f"what the recipe trains does not fit the model: {error.what}",
            where=f"model: {spec.model}, recipe: {spec.recipe}",
            hint="let the recipe's `build` and the spec's `model` be one factory",
        ) from error


def _points(spec: Spec) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """The sizes of all promised cases with few rows, and then with as many as they have; the smaller before the larger.

    Few are the fewest that are promised, and at the smallest of the other sizes the next number: one row is often
    right by broadcasting, two are not.
    """
    promised = sorted((dict(case.dims) for case in plan_cases(spec) if not case.kind), key=_volume)
    batch = batch_dim(spec)
    if batch is None:
        return _each_once(promised), []
    rows = spec.dims[batch]
    fewest = [{**dims, batch: rows.min} for dims in promised]
    next_few = [{**promised[0], batch: rows.min + rows.multiple_of}] if rows.min + rows.multiple_of <= rows.max else []
    few = _each_once(sorted(fewest, key=_volume) + next_few)
    return few, [dims for dims in _each_once(promised) if dims not in few]


def smallest(spec: Spec) -> dict[str, int]:
    """The sizes of the promised case that takes the least time."""
    few, _ = _points(spec)
    return few[0]


def _each_once(points: list[dict[str, int]]) -> list[dict[str, int]]:
    return list({tuple(sorted(dims.items())): dims for dims in points}.values())


def _volume(dims: Mapping[str, int]) -> int:
    product = 1
    for size in dims.values():
        product *= size
    return product


def _run(layer: paddle.nn.Layer, inputs: list[Array]) -> object:
    import paddle

    with paddle.no_grad():
        return layer(*[paddle.to_tensor(value) for value in inputs])
