"""Record the goldens of a spec: the cases, planned here and drawn in a child, and the float64 truth of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.errors import ModelError
from exporter.parity.cases import plan_cases
from exporter.spec.model import Spec
from exporter.workers import PADDLE, SINGLE_THREAD, Setting, call


@dataclass(frozen=True)
class Record:
    """What the manifest says of the recorded cases; of those left out, with the reason; and of the model."""

    cases: list[dict[str, Any]]
    left_out: dict[str, str]
    notes: tuple[str, ...]


def record(spec: Spec, checkpoint: Path | None, outputs: Sequence[str], into: Path, setting: Setting) -> Record:
    """Write the goldens to the file `into`.

    Raises:
        UsageError: samples or values do not fit the inputs.
        ModelError: the eager layer fails on a case that the spec promises.
    """
    setting.say("recording goldens")
    request = {
        "spec": spec.model_dump(mode="json"),
        "checkpoint": str(checkpoint) if checkpoint else None,
        "outputs": list(outputs),
        "into": str(into),
    }
    answer = call(
        "exporter.parity._child:record",
        request,
        setting.limits,
        environment=SINGLE_THREAD,
        imports=PADDLE,
        on_event=setting.on_event,
    )
    recorded = [one["name"] for one in answer["cases"]]
    planned = [*(case.name for case in plan_cases(spec)), *answer["found"]]
    if sorted([*recorded, *answer["left_out"]]) != sorted(planned):
        raise ModelError(
            "not every planned case was recorded", where=str(into), hint="this is a bug of ours; report it"
        )
    return Record(answer["cases"], answer["left_out"], tuple(answer["notes"]))
