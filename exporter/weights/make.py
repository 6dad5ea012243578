"""The checkpoint that a release exports, made unless it is there, with its metric by the spec's recipe."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import ModelError
from exporter.process.workers import Setting
from exporter.spec.model import Spec
from exporter.train import qat
from exporter.train import run as training
from exporter.weights import measured
from exporter.weights.find import find_whole, runs_of
from exporter.weights.prune import run as pruning


def train(spec: Spec, setting: Setting) -> training.TrainResult | None:
    """Train what the spec's recipe says, unless a finished run of its code as it is now is there.

    Raises:
        ModelError: the metric of a training does not reach the recipe's floor; or as :func:`exporter.train.run.train`.
    """
    if spec.recipe is None or spec.checkpoint is not None:
        return None
    trained = runs_of(spec, spec.recipe).ensure(setting)
    if trained.shortfall and not trained.reused:  # what was reused has to be measured on the data that is there now
        raise ModelError(trained.shortfall, where=spec.recipe, hint=training.TRAIN_BETTER)
    return trained


def whole_of(spec: Spec, setting: Setting) -> tuple[Path | None, measured.Measured | None]:
    """The checkpoint that the spec names or a training has left, and of a training the metric, held to the floor."""
    run = train(spec, setting)
    if run is None:
        return find_whole(spec), None
    if not run.reused:
        return run.checkpoint, measured.Measured.of(run)
    return run.checkpoint, measured.require_floor(spec, measured.measure(spec, run.checkpoint, run, setting))


def exported_of(spec: Spec, setting: Setting) -> tuple[Path | None, measured.Measured | None]:
    """The checkpoint to export, made unless it is there, and its own metric by the recipe, held to the floor."""
    checkpoint, found = whole_of(spec, setting)
    run: training.TrainResult | None = None
    if spec.prune is not None:
        pruned = pruning.ensure(spec, checkpoint, pruning.default_folder(spec), setting)
        checkpoint, run, found = pruned.checkpoint, pruned.tuned, None
    if rounded := qat.ensure(spec, checkpoint, setting):
        checkpoint, run, found = rounded.checkpoint, rounded, None
    if found is None and checkpoint is not None and spec.recipe is not None:
        found = measured.require_floor(spec, measured.measure(spec, checkpoint, run, setting))
    return checkpoint, found
