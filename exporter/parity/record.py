"""Record the goldens of a spec: the cases, planned here and drawn in a child, and the float64 truth of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exporter.engines.base import SINGLE_THREAD
from exporter.errors import ModelError
from exporter.parity.cases import plan_cases
from exporter.spec.model import Spec
from exporter.workers import Setting, call


def record(
    spec: Spec,
    checkpoint: Path | None,
    outputs: Sequence[str],
    into: Path,
    setting: Setting,
) -> list[dict[str, Any]]:
    """Write the goldens to the file `into`; return what the manifest says of each case.

    Raises:
        UsageError: samples or values do not fit the inputs.
        ModelError: the eager layer fails on a case that the spec promises, or two cases have one name.
    """
    setting.say("recording goldens")
    cases = plan_cases(spec.dims, spec.seed)
    request = {
        "spec": spec.model_dump(mode="json"),
        "checkpoint": str(checkpoint) if checkpoint else None,
        "outputs": list(outputs),
        "cases": [{"name": case.name, "dims": dict(case.dims), "seed": case.seed} for case in cases],
        "into": str(into),
    }
    described: list[dict[str, Any]] = call(
        "exporter.parity._child:record", request, setting.limits, environment=SINGLE_THREAD, on_event=setting.on_event
    )["cases"]
    if [one["name"] for one in described] != [case.name for case in cases]:
        raise ModelError(
            "not every planned case was recorded", where=str(into), hint="this is a bug of ours; report it"
        )
    return described
