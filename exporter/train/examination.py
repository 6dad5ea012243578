"""In a child: the gradients of a recipe's first batch, and the memory that a step takes; `train --doctor`."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporter.base.errors import ExporterError, UsageError
from exporter.base.machine import memory
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.spec.recipe.base import NamedBatch, Recipe, unset
from exporter.spec.recipe.batches import as_tensor
from exporter.spec.recipe.load import load_batches, load_recipe
from exporter.train import evaluate, loop, randomness
from exporter.train.broken import WRITTEN_PARAMETER
from exporter.train.child import RecipeModel, build_layer
from exporter.train.device import use_device
from exporter.train.finding import Finding
from exporter.train.gradients import examine
from exporter.train.kept import kept_by_layer
from exporter.train.techniques import recompute

if TYPE_CHECKING:
    import paddle

#: Sublayers of which it is measured what recomputation would save, where the recipe names none.
_MOST_SUBLAYERS = 8
#: Rows of the two small steps from which the memory of a whole one is foreseen, and how many rows are enough to ask.
_FEW_ROWS = (2, 6)
_MANY_ROWS = 16


@dataclass(frozen=True)
class Gradient:
    """The root mean squares of a parameter's values and of its gradient."""

    name: str
    weight: float
    gradient: float


@dataclass(frozen=True)
class StepMemory:
    """Bytes of a forward and backward pass at its peak, those that each sublayer keeps, and what recomputation saves.

    The last is by the names of the sublayers whose activations are computed again.
    """

    step: int
    kept: Mapping[str, int]
    recompute_saves: Mapping[str, int]


@dataclass(frozen=True)
class RecipeExamination:
    """What is wrong with the gradients of a recipe's first batch, and how large they are; and the memory of a step.

    `memory` is None where no step was taken, or gave no gradients.
    """

    findings: tuple[Finding, ...]
    gradients: tuple[Gradient, ...] = ()
    memory: StepMemory | None = None


@job
def examine_recipe(model: RecipeModel) -> RecipeExamination:
    """Examine the untrained layer on the first batch of the first epoch; what is found, and bytes of a step.

    Raises:
        UsageError, EnvironmentLacks, ModelError: as :func:`exporter.train.child.train`.
    """
    reference = model.recipe
    doing("importing paddle")
    recipe = load_recipe(reference)
    if recipe.loss is unset:
        hint = "give it one beside its `fit`"
        raise UsageError("the recipe has no loss to differentiate", where=reference, hint=hint)
    use_device(model.device)
    doing("loading the data")
    batch = next(load_batches(recipe, reference).epoch(model.seed, 0))
    if finding := _too_large(recipe, model, batch):
        return RecipeExamination((finding,))
    doing("looking at the gradients")
    layer = _built(recipe, model)
    state, _ = loop.begin(loop.eager(recipe), reference, layer)
    where = f"{reference}, the first batch"
    try:
        evaluate.loss_of(recipe, evaluate.forward(layer, recipe, batch, where), batch, where)
    except UsageError as mistake:  # told in its own words, unless it is one of gradients
        if WRITTEN_PARAMETER not in mistake.what:
            raise
    inputs, labels = ([as_tensor(batch[name]) for name in names] for names in (recipe.inputs, recipe.labels))
    examination = examine(layer, recipe.loss, inputs, labels, None if recipe.fit else state.optimizer)
    return RecipeExamination(
        examination.findings,
        tuple(Gradient(name, weight, size) for name, weight, size in examination.sizes),
        _memory(recipe, model, batch) if examination.sizes else None,
    )


def _built(recipe: Recipe, model: RecipeModel) -> paddle.nn.Layer:
    randomness.seed_all(model.seed)
    return build_layer(recipe, model.recipe, model.args)


def _too_large(recipe: Recipe, model: RecipeModel, batch: NamedBatch) -> Finding | None:
    """That a step would not fit into the memory that is free, foreseen from two with few rows; None where it fits.

    What a step keeps grows by the row. Where the rows of a batch cannot be taken apart, nothing is foreseen.
    """
    rows = {len(value) for value in batch.values() if getattr(value, "ndim", 0)}
    if len(rows) != 1 or max(rows) < _MANY_ROWS:
        return None
    doing("foreseeing the memory of a step")
    few, more = _FEW_ROWS
    try:
        least, most = (
            _peak(recipe, model, {name: value[:count] for name, value in batch.items()}, ()) for count in _FEW_ROWS
        )
    except (ExporterError, RuntimeError, ValueError, OSError):  # the whole batch is tried next, and says what is wrong
        return None
    each = max(0.0, (most - least) / (more - few))
    fixed, free = least - few * each, _free()
    need = fixed + each * max(rows)
    if need <= free:
        return None
    fits = int((free - fixed) // each) if each and free > fixed else 0
    what = f"a step would take about {_gib(need)} besides weights and optimizer, and {_gib(free)} are free"
    fewer = f"train with at most {fits} rows at a time and accumulate (training.accumulate), or recompute activations"
    hint = fewer if fits else "use a smaller model, or more memory"
    return Finding("error", f"a batch of {max(rows)} rows", what, hint)


def _gib(size: float) -> str:
    return f"{size / 2**30:.1f} GiB"


def _free() -> int:
    """Bytes that the device of this process has left: a GPU's own memory, else what this process may still use."""
    import paddle

    device = paddle.get_device()
    if device.startswith("gpu"):
        total = paddle.device.cuda.get_device_properties(device).total_memory
        return int(total - paddle.device.cuda.memory_allocated(device))
    return memory()["available"]


def _memory(recipe: Recipe, model: RecipeModel, batch: NamedBatch) -> StepMemory:
    """Bytes of a forward and backward pass at their peak, those kept by layer, and how many recomputation saves.

    With the sublayers that the recipe names; else with each of the layer's own, and with all of them.
    """
    children = [name for name, child in _built(recipe, model).named_children() if child.parameters()]
    named = recipe.training.recompute
    tried = [named] if named else [*((name,) for name in children[:_MOST_SUBLAYERS]), tuple(children)]
    doing("measuring the memory of a step")
    whole = _peak(recipe, model, batch, ())
    fewer = {" ".join(names): whole - _peak(recipe, model, batch, names) for names in tried}
    return StepMemory(whole, _kept(recipe, model, batch), fewer)


def _kept(recipe: Recipe, model: RecipeModel, batch: NamedBatch) -> dict[str, int]:
    """Bytes that each sublayer keeps for the backward pass."""
    layer = _built(recipe, model)
    layer.train()

    def run() -> None:
        evaluate.loss_of(recipe, evaluate.forward(layer, recipe, batch, model.recipe), batch, model.recipe)

    return kept_by_layer(layer, run)


def _peak(recipe: Recipe, model: RecipeModel, batch: NamedBatch, again: Sequence[str]) -> int:
    import paddle

    from exporter.paddle.private import core

    gc.collect()  # a layer is part of cycles: freed within the steps, an earlier one would hide some of their memory
    layer = _built(recipe, model)
    sublayers = dict(layer.named_sublayers())
    for name in again:
        recompute(sublayers[name])
    layer.train()
    kind, device = "Allocated", paddle.get_device()
    number = int(device.partition(":")[2] or 0)
    gpu = device.startswith("gpu")
    now = core.device_memory_stat_current_value if gpu else core.host_memory_stat_current_value
    reset = core.device_memory_stat_reset_peak_value if gpu else core.host_memory_stat_reset_peak_value
    peak = core.device_memory_stat_peak_value if gpu else core.host_memory_stat_peak_value
    before = 0
    for _ in range(2):  # gradients are there from the second step on
        reset(kind, number)
        before = now(kind, number)
        outputs = evaluate.forward(layer, recipe, batch, model.recipe)
        evaluate.loss_of(recipe, outputs, batch, model.recipe).backward()
        del outputs
    return int(peak(kind, number) - before)
