"""Compare the exported program with the eager layer, where a finding predicts a fault that an export does not show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.check.settle import Evidence
from exporter.diagnostics import Diagnostic
from exporter.lower._convert import convert_all
from exporter.scratch import scratch
from exporter.spec.model import Spec
from exporter.workers import PADDLE, SINGLE_THREAD, Json, Setting, call


def gather(spec: Spec, findings: Sequence[Diagnostic], setting: Setting) -> Evidence:
    """Export the model, run program and eager layer on the spec's cases, and follow the lines that run.

    The weights are those of the spec's checkpoint, or else the factory's.

    Raises:
        UsageError, ModelError: the model cannot be built, run or exported.
    """
    plain = spec.model_copy(update={"formats": ("pir",), "precisions": {"fp32": spec.precisions["fp32"]}})
    weights = Path(spec.checkpoint) if spec.checkpoint else None  # a recipe's may be yet to come
    with scratch() as place:
        request: Json = {
            "spec": spec.without_verdict().model_dump(mode="json"),
            "checkpoint": str(weights) if weights else None,
            "paths": sorted({str(Path(finding.location.path).resolve()) for finding in findings}),
            "file": str(Path(place, "cases.safetensors")),
            "program": str(Path(place, "pir")),
        }
        setting.say("comparing the program with the eager layer, since a finding doubts it")
        eager = _ask("eager", request, setting)
        artifact = convert_all(plain, weights, place, setting).artifacts[0]
        order = {"outputs": list(artifact.outputs), "native": list(artifact.native_outputs), "leaves": eager["leaves"]}
        program = _ask("program", {**request, **order}, setting)
    told = (eager["lines"], program["lines"], eager["built"])
    lines = [{path: frozenset(ran) for path, ran in by_path.items()} for by_path in told]
    return Evidence(len(eager["leaves"]), eager["few"] or program["differs"], *lines)


def _ask(function: str, request: Json, setting: Setting) -> Json:
    target = f"exporter.preflight._compare:{function}"
    return call(target, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=setting.on_event)
