"""The pre-flight, seen from the main process: what a release will do after a training, done before it.

The steps are the real ones on initial weights: one training step and one evaluation (:mod:`exporter.train.rehearsal`),
the inputs of every case and `forward` at promised sizes (:mod:`exporter.prove.preflight.child`), the conversion to each
variant, the cut that `prune` asks for. What they write is thrown away. So an error here is the one that would come
later, with its own exit code.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.export.lower.convert import convert_all
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.goldens.calibrate import calibration
from exporter.prove.preflight.cases import try_cases
from exporter.prove.preflight.consumers import hold_for_consumers
from exporter.prove.proofs.base import source_of
from exporter.spec.model import PrecisionSettings, Spec
from exporter.train import qat
from exporter.train import run as training
from exporter.weights.find import Weights
from exporter.weights.prune import run as pruning


def rehearse(weights: Weights, smaller: Path, setting: Setting) -> None:
    """Try every later step; only where a training is to come also those that would follow at once without one.

    `smaller` is the folder where a pruned model lies, or will.

    Raises:
        UsageError, EnvironmentLacks, ModelError: what that step would raise.
    """
    spec, whole = weights.spec, weights.whole
    long = weights.untrained or _tunes(spec, whole, smaller)
    with scratch() as place:
        initial = Path(place, "initial.safetensors") if weights.untrained else None
        if weights.runs is not None and long:
            request = weights.runs.placed()
            if weights.untrained:
                training.check(request, resume=training.resumable(request))
            asked = replace(request, qat=qat.wanted(spec) is not None)
            setting.say(f"rehearsing {spec.recipe}")
            if note := training.rehearse(asked, initial, on_event=setting.on_event):
                setting.say(note)
        try_cases(spec, whole, initial, setting)
        if long and spec.prune is not None:
            pruning.rehearse(spec, whole or initial, Path(place, "pruned"), setting)
        if long:
            _convert(_quick(spec), whole or initial, Path(place, "converted"), setting)


def _tunes(spec: Spec, whole: Path | None, smaller: Path) -> bool:
    """Whether the checkpoint that is there is yet to be fine-tuned: after pruning, or with roundings in place."""
    if spec.prune is None:
        return qat.pending(spec, whole)
    if pruning.pending(spec, whole, smaller):
        return True
    if qat.wanted(spec) is None:
        return False
    try:
        return qat.pending(spec, pruning.finished(spec, whole).checkpoint)
    except UsageError:  # it was not pruned yet
        return True


def _convert(spec: Spec, weights: Path | None, into: Path, setting: Setting) -> None:
    into.mkdir()
    with calibration(spec, setting) as samples:
        conversion = convert_all(spec, weights, into, setting, samples)
    source = source_of(spec, weights, conversion.output_names)
    hold_for_consumers(spec.targets, conversion, into, setting, source)


def _quick(spec: Spec) -> Spec:
    """The spec with every variant, and none of what takes long or needs trained weights: no search, few samples."""
    precisions = {name: _quickly(name, settings, spec) for name, settings in spec.precisions.items()}
    return spec.model_copy(update={"precisions": precisions})


def _quickly(name: str, settings: PrecisionSettings, spec: Spec) -> PrecisionSettings:
    if name == "fp32":
        return settings
    typical = max((dim.typical for dim in spec.dims.values()), default=1)
    real = settings.data is not None or any(filled.values == "dataset" for filled in spec.inputs.values())
    update: dict[str, object] = {"search": False, "timed": False, "samples": min(settings.samples, typical)}
    if settings.ranges == "trained":
        update |= {"ranges": "calibrated", "epochs": None, "noise": settings.noise or not real}
    return settings.model_copy(update=update)
