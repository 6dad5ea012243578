"""The checkpoint that a release exports, made unless it is there, with its metric by the spec's recipe."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import ModelError
from exporter.process.workers import Setting
from exporter.train import qat
from exporter.train import run as training
from exporter.weights import measured
from exporter.weights.find import Weights
from exporter.weights.prune import run as pruning


def train(weights: Weights, setting: Setting) -> training.TrainResult | None:
    """Train what the spec's recipe says, unless a finished run of its code is there; None where none is needed.

    Raises:
        ModelError: the metric of a training does not reach the recipe's floor; or as :func:`exporter.train.run.train`.
    """
    if weights.runs is None or weights.spec.checkpoint is not None:
        return None
    trained = weights.runs.ensure(setting, weights.trained)
    if trained.shortfall and not trained.reused:  # what was reused has to be measured on the data that is there now
        raise ModelError(trained.shortfall, where=weights.runs.request.recipe, hint=training.TRAIN_BETTER)
    return trained


def make_whole(weights: Weights, setting: Setting) -> tuple[Path | None, measured.Measured | None]:
    """Return the checkpoint that the spec names or a training leaves, and of a training the metric, held to the floor.

    Raises:
        ExporterError: as :func:`train` and :func:`exporter.weights.measured.measure`.
    """
    run, spec = train(weights, setting), weights.spec
    if run is None:
        return weights.whole, None
    if not run.reused:
        return run.checkpoint, measured.Measured.of(run)
    return run.checkpoint, measured.require_floor(spec, measured.measure(spec, run.checkpoint, run, setting))


def make(weights: Weights, setting: Setting) -> tuple[Path | None, measured.Measured | None]:
    """Return the checkpoint to export, made unless it is there, and its metric by the recipe, held to the floor.

    Raises:
        ExporterError: as :func:`make_whole`, pruning and fine-tuning.
    """
    checkpoint, metric = make_whole(weights, setting)
    spec, run = weights.spec, None
    if spec.prune is not None:
        pruned = pruning.ensure(spec, checkpoint, pruning.default_folder(spec), setting)
        checkpoint, run, metric = pruned.checkpoint, pruned.tuned, None
    if rounded := qat.ensure(spec, checkpoint, setting):
        checkpoint, run, metric = rounded.checkpoint, rounded, None
    if metric is None and checkpoint is not None and spec.recipe is not None:
        metric = measured.require_floor(spec, measured.measure(spec, checkpoint, run, setting))
    return checkpoint, metric
