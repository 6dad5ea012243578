"""Whether the model of a spec runs: the inputs of every case are drawn, and `forward` runs at every promised size."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import CannotRun, ModelError
from exporter.export.lower.child import Trial
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.preflight.child import try_layer
from exporter.prove.proofs.kinds.metric import is_rated
from exporter.spec.model import Spec


def needs_data(spec: Spec) -> bool:
    """Whether a case can only be drawn with the recipe's data, which may lie on another machine."""
    return any(asked.values == "dataset" for asked in spec.inputs.values())


def trial(spec: Spec) -> Trial:
    """Return what has a conversion try the layer that it builds, as :func:`try_cases` does; the spec needs no data."""
    return Trial(try_layer.address, spec.without_verdict())


def try_cases(spec: Spec, weights: Path | None, initial: Path | None, setting: Setting) -> None:
    """Try it with a checkpoint (`weights`), with the `initial` weights of a training, or with the factory's.

    Raises:
        CannotRun: the model cannot be built, or `forward` fails, crashes or takes too long.
        UsageError, EnvironmentLacks: the factory, its data or the values of the inputs are wrong, or the recipe's
            metric does not rate what the model gives.
    """
    setting.say("trying the planned cases")
    asked = {
        "spec": spec.without_verdict().model_dump(mode="json"),
        "checkpoint": str(weights) if weights else None,
        "initial": str(initial) if initial else None,
        "rated": is_rated(spec),
    }
    target = "exporter.prove.preflight.child:try_cases"
    try:
        call(target, asked, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=setting.on_event)
    except ModelError as error:
        raise CannotRun.of(error) from error
