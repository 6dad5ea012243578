"""Quantisation-aware training, seen from the main process: the run that fine-tunes a checkpoint while it rounds.

runs/NAME.qat/   a run like any other; its best.safetensors holds float32 weights under the model's own names, and in
                 its header the range of what each rounded layer takes, so that weights and ranges cannot part
"""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import UsageError
from exporter.export.trained_ranges import holds_ranges
from exporter.process.workers import Setting
from exporter.spec.model import PrecisionSettings, Spec
from exporter.train import run as training

_HINT = "fine-tune the float32 checkpoint: exporter train RECIPE --qat CHECKPOINT"


def wanted(spec: Spec) -> PrecisionSettings | None:
    """The settings of the precision that takes trained ranges, if one does."""
    return next((one for one in spec.precisions.values() if one.ranges == "trained"), None)


def ensure(spec: Spec, start: Path | None, setting: Setting) -> training.TrainResult | None:
    """Fine-tune `start` with its roundings in place, unless just this run lies there; None where `start` is its result.

    Raises:
        UsageError: nothing says how to train, and `start` holds no ranges; or as training.
    """
    request = _request(spec, start)
    return None if request is None else training.ensure(request, setting)


def finished(spec: Spec, start: Path | None) -> Path | None:
    """The fine-tuned checkpoint that lies there, or `start` itself where that is one.

    Raises:
        UsageError: it was not made yet, or from other weights, code or settings.
    """
    if (request := _request(spec, start)) is None:
        return start
    if (found := training.finished(request)) is None:
        raise UsageError(
            "the model was not fine-tuned with rounding yet", where=str(request.into), hint="release the spec"
        )
    return found.checkpoint


def pending(spec: Spec, start: Path | None) -> bool:
    """Whether `start` is yet to be fine-tuned with its roundings in place; raises as :func:`ensure`."""
    request = _request(spec, start)
    return request is not None and training.finished(request) is None


def default_folder(spec: Spec) -> Path:
    """Where the run of a spec lies."""
    return Path("runs", f"{spec.name}.qat")


def _request(spec: Spec, start: Path | None) -> training.TrainRequest | None:
    asked = wanted(spec)
    if asked is None or (start is not None and holds_ranges(start)):
        return None
    if spec.recipe is None or start is None:
        raise UsageError("the checkpoint holds no trained ranges", where=str(start or spec.model), hint=_HINT)
    return training.TrainRequest(
        spec.recipe, default_folder(spec), spec.seed, asked.epochs, spec.device, start, qat=True, args=spec.args
    )
