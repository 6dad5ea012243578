"""In a child: one step of a training and one evaluation, so that a mistake in the recipe is found before an epoch.

It runs what the training itself runs first, on the same rows with the same seed, so nothing is refused here that the
training would take. Nothing but `weights` in the request is written.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.tensors import save_scratch
from exporter.export.trace.layer import weights
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.spec.recipe.base import Recipe
from exporter.spec.recipe.batches import Batches, Whole, as_array
from exporter.spec.recipe.load import load_recipe
from exporter.train import evaluate, loop
from exporter.train.child import RecipeModel, build_layer, refuse_ranks, require_plots, untrained
from exporter.train.fake_quant import round_in_training

if TYPE_CHECKING:
    import paddle


@dataclass(frozen=True)
class RehearsalRequest:
    """Rehearse a training. `weights` gets the layer's weights behind the step; `qat` asks for a step with roundings."""

    model: RecipeModel
    epochs: int | None = None
    qat: bool = False
    ranks: int = 1
    weights: Path | None = None


@dataclass(frozen=True)
class RehearsalAnswer:
    """A line for the user about what was not tried; empty where everything was."""

    note: str = ""


@job(reuse="rehearsing the training")
def rehearse(request: RehearsalRequest) -> RehearsalAnswer:
    """Build, take one step, evaluate one batch, and save.

    Raises:
        UsageError, EnvironmentLacks, ModelError: as :func:`exporter.train.child.train`.
    """
    reference = request.model.recipe
    doing("importing paddle")
    require_plots()
    recipe = load_recipe(reference)
    refuse_ranks(request.ranks, recipe, qat=False)
    batches, layer = untrained(recipe, request.model)
    if recipe.fit:
        return _rehearse_own(layer, recipe, batches, request)
    state, precision = loop.begin(recipe, reference, layer)
    epochs = request.epochs or recipe.epochs
    with tempfile.TemporaryDirectory() as folder:
        run = loop.Job(reference, recipe, batches, Path(folder), request.model.seed, epochs, {}, precision)
        doing("training for one step")
        loop.first_step(run, state)
        if request.weights:  # behind the step: a layer that starts as zero would prove nothing
            save_scratch(request.weights, weights(layer))
        _evaluate(layer, recipe, batches, reference)
        loop.save_run(run, state)
        if request.qat:
            doing("training for one step with roundings")
            if recipe.training.to_static or recipe.training.recompute:
                layer = build_layer(recipe, reference, request.model.args)
                state, precision = loop.begin(loop.eager(recipe), reference, layer)
                run = replace(run, precision=precision)
            round_in_training(layer, state.ranges, reference)
            loop.first_step(run, state)
    return RehearsalAnswer()


def _rehearse_own(
    layer: paddle.nn.Layer, recipe: Recipe, batches: Batches, request: RehearsalRequest
) -> RehearsalAnswer:
    """Run forward and the metric of a recipe whose `fit` trains: it cannot be run for one step alone."""
    reference = request.model.recipe
    if request.qat:
        round_in_training(layer, {}, reference)
    _evaluate(layer, recipe, batches, reference)
    if request.weights:
        save_scratch(request.weights, weights(layer))
    return RehearsalAnswer(f"{reference}: fit is not rehearsed, and a mistake in it shows when it trains")


def _evaluate(layer: paddle.nn.Layer, recipe: Recipe, batches: Batches, reference: str) -> None:
    """Run the first and the last held-out batch, and give the metric as many samples as it will have."""
    doing("evaluating one batch")
    where = f"{reference}, held-out data"
    ends = batches.ends()  # the last one may be smaller
    made = [evaluate.outputs_of(layer, recipe, batch, where) for batch in ends]
    of_batch = {name: as_array(ends[0][name]) for name in recipe.labels}
    labels = batches.labels if isinstance(batches, Whole) else lambda _: of_batch
    evaluate.try_metric(recipe, made[0], labels, where)
