"""In a child: the recipe's metric of a checkpoint, on the held-out data that is there now."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import UsageError
from exporter.process.workers import Json, doing
from exporter.spec.recipe.load import load_recipe
from exporter.train import evaluate
from exporter.train.child import start_from, untrained


def rate(request: Json) -> Json:
    """Build what the recipe trains, as small as the checkpoint, and evaluate it with the checkpoint's weights.

    The answer is what `run.json` says of a metric, with the recipe's floor.

    Raises:
        UsageError, ModelError: as :func:`exporter.train.child.train`; the checkpoint is of another layer.
    """
    reference, checkpoint = request["recipe"], request["checkpoint"]
    doing("importing paddle")
    recipe = load_recipe(reference)
    batches, layer = untrained(recipe, request)
    try:
        start_from(layer, Path(checkpoint))
    except UsageError as error:
        what = f"{recipe.metric_name} cannot be measured, since what the recipe builds is another layer: {error.what}"
        hint = "let the recipe's `build` and the spec's `model` be one factory, or leave `recipe` out"
        raise UsageError(what, where=f"{checkpoint}, recipe: {reference}", hint=hint) from error
    doing("evaluating the checkpoint")
    held = evaluate.held_out(layer, recipe, batches.held_out(), f"{reference}, held-out data", singles=True)
    return {
        "name": recipe.metric_name,
        "goal": recipe.goal,
        "value": held.metric,
        "interval": held.interval,
        "floor": recipe.floor,
    }
