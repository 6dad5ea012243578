"""Whether the model of a spec runs: the inputs of every case are drawn, and `forward` runs at every promised size."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import CannotRun, ModelError
from exporter.export.lower.child import Trial
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.preflight import child
from exporter.prove.proofs.kinds.metric import is_rated
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY


def needs_data(spec: Spec) -> bool:
    """Whether a case can only be drawn with the recipe's data, which may lie on another machine."""
    return any(asked.values == "dataset" for asked in spec.inputs.values())


def trial(spec: Spec) -> Trial | None:
    """Return what has a conversion try the layer that it builds, as :func:`try_cases` does; None if that needs data.

    A model that is a file runs at two sizes only: no Python code is left in it that another size could lead elsewhere.
    """
    if needs_data(spec):
        return None
    if spec.model == FACTORY:
        return observed(spec)
    return Trial(child.try_layer.address, spec.without_verdict())


def observed(spec: Spec) -> Trial:
    """Return what has a conversion run the layer of a spec that was tried before, to promise what it gives."""
    of_file = child.observe_file.address if spec.model == FACTORY else ""
    return Trial(child.observe.address, spec.without_verdict(), of_file)


def try_cases(spec: Spec, weights: Path | None, initial: Path | None, setting: Setting) -> None:
    """Try it with a checkpoint (`weights`), with the `initial` weights of a training, or with the factory's.

    Raises:
        CannotRun: the model cannot be built, or `forward` fails, crashes or takes too long.
        UsageError, EnvironmentLacks: the factory, its data or the values of the inputs are wrong, or the recipe's
            metric does not rate what the model gives.
    """
    setting.say("trying the planned cases")
    request = child.TryRequest(spec.without_verdict(), weights, initial, is_rated(spec))
    limits, follow = setting.limits, setting.on_event
    try:
        call(child.try_cases, request, limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=follow)
    except ModelError as error:
        raise CannotRun.of(error) from error
