"""Record the goldens of a spec: the cases, planned here and drawn in a child, and the float64 truth of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exporter.base.errors import ChildCrashed, ChildOutOfMemory, ChildTimedOut, ModelError
from exporter.process.answers import Event
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Json, Setting, call
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.finish import finish
from exporter.spec.model import ONLY_VERDICT, Spec

#: How the child calls what it does while it tries inputs that nobody promised.
SEARCHING = "searching for unreached lines"
#: What to do about a promised case on which eager does not run.
NARROW = "narrow what the dims and values of the spec promise to what forward takes"


@dataclass(frozen=True)
class Record:
    """What the manifest says of the recorded cases; of those left out, with the reason; and of the model."""

    cases: list[dict[str, Any]]
    left_out: dict[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Exported:
    """What was exported: the outputs' names in `forward`'s order, and the digest of each of the layer's tensors."""

    outputs: Sequence[str]
    parameters: Mapping[str, str] = field(default_factory=dict)


def record(spec: Spec, checkpoint: Path | None, exported: Exported, into: Path, setting: Setting) -> Record:
    """Write the goldens of what was exported to the file `into`.

    Raises:
        UsageError: samples or values do not fit the inputs.
        ModelError: the eager layer fails on a case that the spec promises, or the factory gives other weights now.
    """
    setting.say("recording goldens")
    with scratch() as place:
        answer = _asked(spec, checkpoint, exported, place, setting)
        cases, left_out, said = finish(spec, answer, place, into)
    recorded = [one["name"] for one in cases]
    planned = [*(case.name for case in plan_cases(spec)), *answer["found"]]
    if answer["whole"] and sorted([*recorded, *left_out]) != sorted(planned):
        raise ModelError(
            "not every planned case was recorded", where=str(into), hint="report it: this is a bug of ours"
        )
    return Record(cases, left_out, (*said, *answer["notes"]))


def _asked(spec: Spec, checkpoint: Path | None, exported: Exported, into: Path, setting: Setting) -> Json:
    """The answer of the child; of a further one, if one died of an input that nobody promised."""
    step: Json = {"doing": "", "case": None}
    given_up: list[str] = []

    def follow(event: Event) -> None:
        step.update(doing=event["doing"], case=event.get("case"))
        if setting.on_event:
            setting.on_event(event)

    probing = {case.name for case in plan_cases(spec) if case.kind}
    keys: Json = {}
    while True:
        try:
            answer = _call(spec, checkpoint, exported, into, replace(setting, on_event=follow), **keys)
        except (ChildCrashed, ChildTimedOut, ChildOutOfMemory) as error:
            case, fatal = step["case"], keys.get("fatal", {})
            if step["doing"].startswith(SEARCHING) and not given_up:
                given_up = [f"the search for inputs that reach other lines was given up: {error.what}"]
                keys = {**keys, "search": False}
            elif case in probing and case not in fatal:
                keys = {**keys, "fatal": {**fatal, case: f"eager does not survive it: {error.what}"}}
            else:
                error.hint = f"{NARROW}; --debug shows what the child said last" if case else error.hint
                raise
        else:
            answer["notes"][:0] = given_up
            return answer


def _call(spec: Spec, checkpoint: Path | None, exported: Exported, into: Path, setting: Setting, **keys: Any) -> Json:
    request = {
        "spec": spec.without_verdict().model_dump(mode="json"),
        "checkpoint": str(checkpoint) if checkpoint else None,
        "outputs": list(exported.outputs),
        "parameters": dict(sorted(exported.parameters.items())),  # one order, of what is remembered too
        "into": str(into),
        "beside": spec.model_dump(mode="json", include=set(ONLY_VERDICT)),
        **keys,
    }
    return call(
        "exporter.prove.goldens.child:record",
        request,
        setting.limits,
        environment=SINGLE_THREAD,
        imports=PADDLE,
        on_event=setting.on_event,
    )
