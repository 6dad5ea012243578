"""Compare the exported program with the eager layer, where a finding predicts a fault that an export does not show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.base.diagnostics import Diagnostic
from exporter.base.errors import CannotRun, ModelError
from exporter.check import settle
from exporter.check.settle import Evidence
from exporter.export.lower.convert import convert_all
from exporter.process.job import A, Job, Q
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.preflight.cases import needs_data, try_cases
from exporter.prove.verdict.plan import only_legacy
from exporter.spec.model import Spec


def judged(
    spec: Spec, findings: tuple[Diagnostic, ...], setting: Setting, *, fully: bool = False
) -> tuple[Diagnostic, ...]:
    """The findings on a spec's model with the severity that an export gives them.

    It is tried only where a finding predicts a silent fault, since `convert` and `release` export the model in any
    case. `fully` tries it in every case and in each format: `check` then says what those two would.

    Raises:
        CannotRun: the model does not run, with the findings.
        UsageError, EnvironmentLacks: the model, its data or its values are wrong.
    """
    silent = [finding for finding in findings if settle.is_silent(finding)]
    if len(silent) < sum(map(settle.refuses, findings)) or not (silent or fully):  # refused anyway, or nothing to try
        return findings
    compared = spec.formats[0] if only_legacy(spec) else "pir"
    weights, formats = weights_there(spec), (compared, *(spec.formats if fully else ()))
    try:
        if not silent and needs_data(spec):  # as `convert`, which asks for no data then
            with scratch() as place:
                convert_all(_plain(spec, formats), weights, place, setting)
            return settle.exported(findings)
        try_cases(spec, weights, None, setting)
        evidence = gather(spec, silent, setting, formats)
    except CannotRun as error:
        error.findings = settle.not_run(findings, error)
        raise
    except ModelError as error:
        return settle.not_exported(findings, error)
    told = settle.settle(findings, evidence)
    return settle.differing(told, evidence, spec.model) if fully else told


def _plain(spec: Spec, formats: Sequence[str]) -> Spec:
    """The spec in float32, with these formats."""
    wanted = {"formats": tuple(dict.fromkeys(formats)), "precisions": {"fp32": spec.precisions["fp32"]}}
    return spec.model_copy(update=wanted)


def weights_there(spec: Spec) -> Path | None:
    """The spec's checkpoint, if it is there already: else the factory's weights stand for it."""
    weights = Path(spec.checkpoint) if spec.checkpoint else None
    return weights if weights and weights.is_file() else None


def gather(spec: Spec, findings: Sequence[Diagnostic], setting: Setting, formats: Sequence[str] = ("pir",)) -> Evidence:
    """Export the model, run its program and the eager layer on the spec's cases, and follow the lines that run.

    The program is that of the first of the formats, which is one of Paddle's.
    The weights are those of the spec's checkpoint, or else the factory's.

    Raises:
        UsageError, ModelError: the model cannot be built, run or exported to one of the formats.
    """
    from exporter.prove.preflight import compare

    plain, weights = _plain(spec, formats), weights_there(spec)
    with scratch() as place:
        spec = spec.without_verdict()
        paths = tuple(sorted({str(Path(finding.location.path).resolve()) for finding in findings}))
        file = Path(place, "cases.safetensors")
        setting.say("comparing the program with the eager layer")
        eager = _ask(compare.eager, compare.EagerRequest(spec, weights, paths, file), setting)
        artifact = convert_all(plain, weights, place, setting).artifacts[0]
        request = compare.ProgramRequest(
            *(spec, weights, paths, file),
            format=artifact.format,
            program=Path(place, artifact.variant),
            outputs=artifact.outputs,
            native=artifact.native_outputs,
            leaves=eager.leaves,
        )
        program = _ask(compare.program, request, setting)
    ran, traced, built = (
        {path: frozenset(lines) for path, lines in by_path.items()}
        for by_path in (eager.lines, program.lines, eager.built)
    )
    return Evidence(len(eager.leaves), eager.few or program.differs, ran, traced, built, program.differs)


def _ask(job: Job[Q, A], request: Q, setting: Setting) -> A:
    return call(job, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=setting.on_event)
