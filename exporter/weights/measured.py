"""The recipe's metric of a checkpoint, seen from the main process: what a release states, and holds to the floor."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.errors import ModelError
from exporter.export import trained_ranges
from exporter.export.trace.pruned import plan_in
from exporter.process import workers
from exporter.process.workers import Setting
from exporter.spec.model import Spec
from exporter.train import qat
from exporter.train.run import TRAIN_BETTER, TrainResult, shortfall

_CUT_LESS = "leave more of the FLOPs, or fine-tune for more epochs (`prune`); or state a lower floor in the recipe"
_ROUND_BETTER = "fine-tune for more epochs, or promise the loss with `max_metric_loss` of that precision"


@dataclass(frozen=True)
class Measured:
    """The recipe's metric of a checkpoint on the held-out data that is there now, with its interval of 95 %.

    `missed` is the floor that it does not reach. `run` is the one that made the checkpoint; None where the checkpoint
    was given by its path, or only cut. `note` says that the run recorded another value.
    """

    checkpoint: Path
    recipe: str
    metric: str
    value: float
    interval: tuple[float, float] | None = None
    missed: float | None = None
    run: TrainResult | None = None
    note: str = ""

    @classmethod
    def of(cls, run: TrainResult) -> Measured:
        """What a training has measured that ended just now."""
        return cls(run.checkpoint, run.recipe, run.metric, run.value, run.interval, run.missed, run)


def measure(spec: Spec, checkpoint: Path, run: TrainResult | None, setting: Setting) -> Measured:
    """Evaluate in a child what the spec's recipe builds, with the weights of a checkpoint, in float32.

    A loss that the spec promises of a precision with trained ranges lowers the floor of a checkpoint that holds ranges.

    Raises:
        UsageError: the checkpoint does not fit what the recipe builds; or as training.
        EnvironmentLacks, ModelError: as training.
    """
    from exporter.train.child import RecipeModel
    from exporter.train.rating import RateRequest, rate

    assert spec.recipe is not None  # noqa: S101  # nothing else has a metric
    setting.say(f"measuring {checkpoint} by {spec.recipe}")
    answer = workers.call(
        rate,
        RateRequest(RecipeModel(spec.recipe, spec.seed, spec.device, dict(spec.args)), checkpoint),
        replace(setting.limits, seconds=math.inf),  # as training: the data takes as long as it takes
        environment=workers.SINGLE_THREAD,
        imports=workers.PADDLE,
        on_event=setting.on_event,
    )
    rounded = trained_ranges.rounded_in_training(checkpoint) is not None
    if answer.floor is not None and rounded:
        answer = replace(answer, floor=answer.floor + (1 if answer.goal == "min" else -1) * _promised(spec))
    found = Measured(checkpoint, spec.recipe, answer.name, answer.value, answer.interval, answer.missed, run)
    recorded = run is not None and not rounded  # with roundings a run has measured another layer
    found = replace(found, note=_note(found, run)) if run and recorded else found
    if found.note:
        setting.say(found.note)
    return found


def require_floor(spec: Spec, found: Measured) -> Measured:
    """The same; raises ModelError where it does not reach the floor, as a training that does not."""
    if found.missed is None:
        return found
    hint, rounded = TRAIN_BETTER, trained_ranges.rounded_in_training(found.checkpoint) is not None
    if found.note:
        hint = "train anew on the data that is there now, as the note says; or undo the change of the data"
    elif rounded:
        hint = _ROUND_BETTER
    elif plan_in(found.checkpoint) is not None:
        hint = _CUT_LESS
    what = shortfall(found.metric, found.value, found.missed)
    if rounded and (loss := _promised(spec)):
        what += f", from which a promised loss of {loss:g} is taken off"
    if rounded and found.run is not None:
        what += (
            f"; its best epoch had {found.run.value:.4f} with the roundings that it was trained with, and this is the"
            " same checkpoint without them, as the float32 files hold it"
        )
    raise ModelError("; ".join(filter(None, (what, found.note))), where=f"{spec.recipe}, {found.checkpoint}", hint=hint)


def _promised(spec: Spec) -> float:
    """The loss of the metric that the spec itself promises of the precision with trained ranges."""
    asked = qat.wanted(spec)
    loss = asked.budget.max_metric_loss if asked else None
    return loss if isinstance(loss, float) else 0.0


def _note(found: Measured, run: TrainResult) -> str:
    if math.isclose(found.value, run.value, rel_tol=1e-3, abs_tol=1e-6):
        return ""
    folder = run.checkpoint.parent
    return (
        f"{found.metric} of {folder} is {found.value:.4f} on the held-out data that is there now, and was "
        f"{run.value:.4f} when the run ended: it was trained or measured on other data. To train anew, remove {folder}"
    )
