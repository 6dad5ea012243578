"""Export what can be exported, in children with limits, and let the outcome speak where the code only looked wrong.

A model is probed if it can be built without arguments and its inputs are known: from a spec, or from input specs that
the file declares. What the probe shows marks the findings of the static part that explain it as proved; where there are
none, it is a finding of its own, at the line that Paddle blames or at `forward`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.errors import ChildCrashed, ChildFailed, ChildOutOfMemory, ChildTimedOut, ExporterError
from exporter.check import settle
from exporter.check.codes import PROBE_CODES
from exporter.check.entry import Model
from exporter.check.probe.child import (
    EagerRequest,
    ExportAnswer,
    ExportRequest,
    ProbedInput,
    Subject,
    eager,
    exported,
    written,
)
from exporter.check.probe.lines import Blamed, BlameRequest, blamed
from exporter.check.probe.values import Parting, parting
from exporter.check.probe.variation import Varied, varied
from exporter.check.rules.base import Fault, rules
from exporter.process.job import A, Job, Q
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, call

#: Which rules explain that a program depends on something outside the model.
_DEPENDS = {"randomness": "EX101", "the clock": "EX101", "the environment": "EX101", "earlier calls": "EX103"}
_CODES = {"fails": "EX201", "ends": "EX202", "unusable": "EX203", "structure": "EX204", "values": "EX205"}
_NOTHING = ExportAnswer("unusable")
_CURES = {
    "fails": "rewrite the line so that nothing in it needs the value of a tensor",
    "ends": "look for a loop of Python's over a dimension that varies, and for NumPy on tensors",
    "unusable": "return new tensors only, and name every input once",
    "structure": "return a flat tuple of different tensors",
    "values": "look for state, randomness and questions about the mode in forward and what it calls",
    "depends": "make it an input, or read it once in __init__",
}


@dataclass(frozen=True)
class Outcome:
    """What the probe of one model showed: `kind` is agrees, not probed, or one of the faults.

    `depends` names what else than the model its program depends on. `mended`: so it is by stock Paddle, while what the
    exporter writes agrees. `subject` is what the children were told of the model, with `limits`; None where they were
    told nothing more after the export.
    """

    model: Model
    kind: str
    what: str
    line: int
    depends: tuple[str, ...] = ()
    subject: Subject | None = None
    limits: Limits | None = None
    mended: bool = False


def probe(path: Path, model: Model, seconds: float) -> Outcome:
    """Build, run, export and compare one model; `seconds` limits each child, as :class:`Limits`."""
    inputs = tuple(
        ProbedInput(
            name=value.name or f"x{at}",
            dtype=value.dtype,
            sizes=tuple(size if isinstance(size, int) else None for size in value.sizes),
        )
        for at, value in enumerate(model.inputs)
    )
    subject, limits = Subject(path.resolve(), model.builder, inputs), Limits(seconds=seconds)
    with scratch() as folder:
        file = folder / "eager.safetensors"
        try:
            subject, leaves = _eagerly(subject, file, limits)
        except ExporterError as error:
            return Outcome(model, "not probed", f"the model does not run by itself: {_telling(error.what)}", 0)
        request = ExportRequest(subject, file, leaves)
        outcome = _export(model, request, limits)
        mended = outcome.kind not in ("agrees", "not probed") and _found_out(written, request, limits, _NOTHING)
        if mended and mended.outcome == "agrees":
            return replace(outcome, mended=True)
        if outcome.kind in ("fails", "ends", "not probed"):
            return outcome
        depends = _found_out(varied, subject, limits, Varied()).depends
        return replace(outcome, depends=depends, subject=subject, limits=limits)


def _paddle(job: Job[Q, A], request: Q, limits: Limits) -> A:
    """Ask a child with Paddle; its variables are those of the gate's children, so that one server forks them all."""
    return call(job, request, limits, environment=SINGLE_THREAD, imports=PADDLE)


def _eagerly(subject: Subject, file: Path, limits: Limits) -> tuple[Subject, tuple[tuple[str, ...], ...]]:
    """Run the model eagerly; return it as it runs, and the structure of its outputs.

    Integers that the model cannot take, as lengths or places, are once tried as ones.
    """
    try:
        return subject, _paddle(eager, EagerRequest(subject, file), limits).leaves
    except ChildFailed:
        if not any("int" in value.dtype for value in subject.inputs):
            raise
        tame = replace(subject, tame=True)
        return tame, _paddle(eager, EagerRequest(tame, file), limits).leaves


def _export(model: Model, request: ExportRequest, limits: Limits) -> Outcome:
    try:
        answer = _paddle(exported, request, limits)
    except (ChildCrashed, ChildTimedOut, ChildOutOfMemory) as error:
        return Outcome(model, "ends", f"{error.what} {error.where}".strip(), 0)
    except ChildFailed as error:
        return Outcome(model, "fails", _telling(error.what), _line_in(error.details, str(request.subject.path)))
    return Outcome(model, answer.outcome, _telling(answer.what), 0)


def _telling(message: str) -> str:
    """The line of a message that says what went wrong: Paddle writes a screenful around it."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    found = [line for line in lines if re.match(r"\w*(Error|Exception)\b|\(\w+\)", line)]
    return (found or lines or ["no message"])[-1][:200]


def _line_in(details: str, path: str) -> int:
    """The last line of the model's file that a traceback names; dy2static quotes the lines it has rewritten."""
    named = re.findall(rf'File "{re.escape(path)}", line (\d+)', details)
    return int(named[-1]) if named else 0


def prove(findings: Sequence[Diagnostic], outcomes: Sequence[Outcome]) -> list[Diagnostic]:
    """Findings with what the probes showed: proved, added to, or put down to warnings where every model exports."""
    kept = list(findings)
    for outcome in outcomes:
        if outcome.kind == "not probed":
            cure = "build it with its defaults, name its inputs"
            kept.append(_new("EX206", Severity.INFO, outcome, outcome.what, cure))
        elif outcome.mended:
            kept = [replace(each, proved=True) if settle.is_mended(each) else each for each in kept]
        elif outcome.kind != "agrees":
            _explain(kept, outcome)
        for what in outcome.depends:
            _explain_dependency(kept, outcome, what)
    agree = all(each.mended or each.kind == "agrees" for each in outcomes)
    if outcomes and (agree or all(each.kind in ("agrees", "values", "structure") for each in outcomes)):
        mended = frozenset(Fault(each.kind) for each in outcomes if each.mended)
        kept = [settle.probed(each, agree, mended) for each in kept]
    return kept


def _explain(kept: list[Diagnostic], outcome: Outcome) -> None:
    """Mark the findings that an outcome proves: those at the line that Paddle blames, else all of their kind."""
    codes = {code for code, rule in rules().items() if Fault(outcome.kind) in rule.predicts}
    causes = [at for at, each in enumerate(kept) if each.severity is not Severity.INFO and each.code in codes]
    if outcome.line:
        path = outcome.model.forward.path
        here = [at for at in causes if kept[at].location.path == path]
        near = [at for at in here if abs(kept[at].location.line - outcome.line) <= 1]
        causes = near or [at for at in causes if kept[at].severity is Severity.ERROR]
    certain = [at for at in causes if outcome.line or kept[at].severity is Severity.ERROR]
    if not certain and len({kept[at].code for at in causes}) == 1:
        certain = causes  # nothing else is suspected
    for at in certain:
        kept[at] = replace(kept[at], proved=True, severity=Severity.ERROR)
    if outcome.line or not any(kept[at].proved for at in causes):  # a finding never takes the place of a failure
        outcome = replace(outcome, line=outcome.line or _locate(outcome))
        message = f"{PROBE_CODES[_CODES[outcome.kind]].removeprefix('the probe: ')}: {outcome.what}"
        kept.append(_new(_CODES[outcome.kind], Severity.ERROR, outcome, message, _CURES[outcome.kind]))


def _locate(outcome: Outcome) -> int:
    """The line at which eager and program part, where nothing that the code looks like told it; 0 if it is not found.

    Other outputs begin at the `return`. Other values begin at a condition that the trace decided otherwise, at the line
    that leaves the first wrong one, or, where only later calls are wrong, at the line that keeps something for them.
    """
    if outcome.kind not in ("values", "structure", "unusable") or outcome.subject is None or outcome.limits is None:
        return 0
    subject, limits = outcome.subject, outcome.limits
    blame = _found_out(blamed, BlameRequest(subject, values=outcome.kind == "values"), limits, Blamed())
    if outcome.kind != "values":
        return blame.returned
    if blame.skipped:
        return blame.skipped
    parted = _found_out(parting, subject, limits, Parting())
    return blame.kept[0] if blame.kept and (parted.case or not parted.line) else parted.line


def _found_out(job: Job[Q, A], request: Q, limits: Limits, nothing: A) -> A:
    """Ask a child that looks for more; `nothing` where it could not find out."""
    try:
        return _paddle(job, request, limits)
    except ExporterError:
        return nothing


def _explain_dependency(kept: list[Diagnostic], outcome: Outcome, what: str) -> None:
    code = next((code for name, code in _DEPENDS.items() if what.startswith(name)), "")
    causes = [at for at, each in enumerate(kept) if each.code == code]
    for at in causes:
        kept[at] = replace(kept[at], proved=True)
    if not causes and outcome.kind == "agrees":
        drawn = what in ("randomness", "the clock")
        message = f"the program depends on {what}: what was read while it was traced is a constant of it"
        severity = Severity.ERROR if drawn else Severity.WARNING
        kept.append(_new("EX207", severity, outcome, message, _CURES["depends"]))


def _new(code: str, severity: Severity, outcome: Outcome, message: str, cure: str) -> Diagnostic:
    where = outcome.model.forward
    if outcome.line:
        where = Location(where.path, outcome.line, 1)
    return Diagnostic(code, severity, where, message, cure, proved=code != "EX206")
