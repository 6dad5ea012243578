"""In a child: one step of a training and one evaluation, so that a mistake in the recipe is found before an epoch.

It runs what the training itself runs first, on the same rows with the same seed, so nothing is refused here that the
training would take. Nothing but `weights` in the request is written.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exporter.errors import ExporterError
from exporter.recipe.base import Data, Recipe
from exporter.recipe.load import load_data, load_recipe
from exporter.tensors import save_scratch
from exporter.train import evaluate, loop, randomness
from exporter.train.checkpoint import State, weights
from exporter.train.child import build_layer, make_optimizer, require_plots, use_device
from exporter.train.fake_quant import round_in_training
from exporter.workers import Json, doing

if TYPE_CHECKING:
    from exporter.tensors import Array

#: More bytes of repeated outputs than this are not made; the metric then gets fewer samples.
_MOST_BYTES = 1 << 28
#: How often the metric is tried on other outputs, where those of an untrained layer fail it.
_TRIES = 2


def rehearse(request: Json) -> Json:
    """Build, take one step, evaluate one batch, and save; `weights` gets the layer's weights behind the step.

    With `steps` false only the evaluation is made, of a recipe whose training is over. With `qat` a second step is
    taken with roundings in place.

    Raises:
        UsageError, EnvironmentLacks, ModelError: as :func:`exporter.train.child.train`.
    """
    reference = request["recipe"]
    doing("importing paddle")
    if request["steps"]:
        require_plots()
    recipe = load_recipe(reference)
    use_device(request["device"])
    doing("loading the data")
    data = load_data(recipe, reference)
    doing("building the model that the recipe trains")
    randomness.seed_all(request["seed"])
    layer = build_layer(recipe, reference, request["args"])
    if not request["steps"]:
        _evaluate(layer, recipe, data, reference)
        return {}
    state = State(layer, make_optimizer(recipe, reference, layer))
    with tempfile.TemporaryDirectory() as folder:
        job = loop.Job(reference, recipe, data, Path(folder), request["seed"], request["epochs"] or recipe.epochs, {})
        doing("training for one step")
        loop.first_step(job, state)
        if request["weights"]:  # behind the step: a layer that starts as zero would prove nothing
            save_scratch(Path(request["weights"]), weights(layer))
        _evaluate(layer, recipe, data, reference)
        loop.save_run(job, state)
        if request["qat"]:
            doing("training for one step with roundings")
            round_in_training(layer, state.ranges, reference)
            loop.first_step(job, state)
    return {}


def _evaluate(layer: object, recipe: Recipe, data: Data, reference: str) -> None:
    """Run the first and the last batch of the held-out data, and give the metric as many samples as it will have."""
    doing("evaluating one batch")
    where = f"{reference}, held-out data"
    arrays, size = data.held_out, recipe.batch_size
    total = len(arrays[recipe.inputs[0]])
    ends = dict.fromkeys((0, (total - 1) // size * size))  # the last one may be smaller
    made = [evaluate.outputs_of(layer, recipe, _rows(recipe, arrays, start, size), where) for start in ends]
    few = min(total, max(size, _MOST_BYTES // max(sum(output.nbytes // len(output) for output in made[0]), 1)))
    labels = {name: arrays[name][:few] for name in recipe.labels}
    outputs = [np.resize(output, (few, *output.shape[1:])) for output in made[0]]
    try:
        evaluate.score(recipe, outputs, labels, where)
    except ExporterError:
        # An untrained layer may give one class to every sample, for which a sound metric has no value.
        if not any(_scores(recipe, outputs, labels, where, number) for number in range(_TRIES)):
            raise


def _rows(recipe: Recipe, arrays: object, start: int, size: int) -> dict[str, Array]:
    return {name: arrays[name][start : start + size] for name in (*recipe.inputs, *recipe.labels)}  # type: ignore[index]


def _scores(recipe: Recipe, outputs: list[Array], labels: dict[str, Array], where: str, seed: int) -> bool:
    """Whether the metric has a value for random outputs of the same shapes."""
    generator = np.random.default_rng(seed)
    drawn = [generator.uniform(0, 1, output.shape).astype(output.dtype) for output in outputs]
    try:
        evaluate.score(recipe, drawn, labels, where)
    except ExporterError:
        return False
    return True
