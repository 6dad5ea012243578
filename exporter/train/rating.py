"""In a child: the recipe's metric of a checkpoint, on the held-out data that is there now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.spec.recipe.load import load_recipe
from exporter.train import evaluate
from exporter.train.child import RecipeModel, start_from, untrained
from exporter.train.document import Metric


@dataclass(frozen=True)
class RateRequest:
    """Evaluate what a recipe trains, with the weights of a checkpoint."""

    model: RecipeModel
    checkpoint: Path


@job(reuse="the checkpoint's metric")
def rate(request: RateRequest) -> Metric:
    """Build what the recipe trains, as small as the checkpoint, and evaluate it with the checkpoint's weights.

    The metric has the recipe's floor.

    Raises:
        UsageError, ModelError: as :func:`exporter.train.child.train`; the checkpoint is of another layer.
    """
    reference, checkpoint = request.model.recipe, request.checkpoint
    doing("importing paddle")
    recipe = load_recipe(reference)
    batches, layer = untrained(recipe, request.model)
    try:
        start_from(layer, checkpoint)
    except UsageError as error:
        what = f"{recipe.metric_name} cannot be measured, since what the recipe builds is another layer: {error.what}"
        hint = "let the recipe's `build` and the spec's `model` be one factory, or leave `recipe` out"
        raise UsageError(what, where=f"{checkpoint}, recipe: {reference}", hint=hint) from error
    doing("evaluating the checkpoint")
    held = evaluate.held_out(layer, recipe, batches.held_out(), f"{reference}, held-out data", singles=True)
    floor = None if recipe.floor is None else float(recipe.floor)
    return Metric(recipe.metric_name, recipe.goal, held.metric, floor=floor, interval=held.interval)
