"""The severity of a finding once something was tried, and what follows of it: the one place where that is decided.

`check`, `convert`, `release` and `gate` all ask here, so that they say the same of the same finding (docs/check.md):

* What stock Paddle exports wrong or not at all, and we do (`Rule.mended`), is a note from the start.
* A spec whose model cannot be built or run is an error (EX206), and nothing else is tried.
* What a run has shown (`proved`), and a file that cannot be parsed, refuses before anything else.
* A finding that predicts a loud fault (`Shown.EXPORT`) never refuses before the export. Where the export succeeds, it
  was wrong; where it fails, it is told beside the failure, and never in its place.
* Of a file, a probe exports the model (:func:`probed`): by stock Paddle, and where that is wrong, as we do.
* A finding that predicts a silent fault refuses unless a comparison has disproved it: the line is not run by the model
  with the inputs of the spec, neither eagerly nor in the trace; or it is one whose fault would show in every run
  (`Shown.EVERY_RUN`, also of a line that builds the layer), and the program gives what the eager layer gives; or it is
  a condition (`Shown.DECISION`), and the trace decides it as the eager layer does. A comparison may miss all other
  silent faults (`Shown.SOME_RUNS`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from exporter.base.diagnostics import Diagnostic, Location, Severity, short
from exporter.base.errors import CannotRun, ExitCode, ModelError, NotATensor
from exporter.check.rules.base import Fault, Shown, rules

#: Codes of the model's own failures.
CANNOT_EXPORT, CANNOT_RUN = "EX201", "EX206"
_DROPPED = {"EX110", "EX111"}  # of what is returned and is no tensor, which no export but ours refuses
#: Faults that an export fails with.
_ENDING = {Fault.FAILS, Fault.ENDS, Fault.UNUSABLE}
#: How the failure of a trace begins, behind the format.
_TRACED = re.compile(r"^(\w+: )?trace: ")


class Evidence(NamedTuple):
    """What a comparison of the exported program with the eager layer showed.

    `differs` says how they differ, or why that is not known, and is empty where they agree; `shown` only how they do.
    `eager` and `traced` are the lines that ran, by file; `built` are those that ran while the layer was built.
    """

    cases: int
    differs: str
    eager: Mapping[str, frozenset[int]] = MappingProxyType({})
    traced: Mapping[str, frozenset[int]] = MappingProxyType({})
    built: Mapping[str, frozenset[int]] = MappingProxyType({})
    shown: str = ""


def exit_code(findings: Iterable[Diagnostic]) -> ExitCode:
    """How a verb ends that stops here: 4 where the model cannot run, or its export failed as no finding foretold."""
    codes = {finding.code for finding in findings if finding.severity is Severity.ERROR}
    if CANNOT_RUN in codes or codes == {CANNOT_EXPORT}:
        return ExitCode.MODEL
    return ExitCode.REFUSED if codes else ExitCode.PASSED


def is_mended(finding: Diagnostic) -> bool:
    """Whether a finding is about stock Paddle alone, since the export mends it."""
    rule = rules().get(finding.code)
    return rule is not None and rule.mended


def refuses(finding: Diagnostic) -> bool:
    """Whether a finding is an error that the export itself does not decide."""
    return finding.severity is Severity.ERROR and not _is_loud(finding)


def is_silent(finding: Diagnostic) -> bool:
    """Whether a finding is an error, predicted only, of a kind that an export does not show."""
    return refuses(finding) and not finding.proved and finding.code in rules()


def _is_loud(finding: Diagnostic) -> bool:
    rule = rules().get(finding.code)
    return not finding.proved and rule is not None and rule.shown is Shown.EXPORT


def exported(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """After a successful export: what would have ended it, or spoilt its files, is a warning."""
    why = "yet the export went through"
    return tuple(put_down(finding, why) if _is_loud(finding) else finding for finding in findings)


def probed(finding: Diagnostic, agree: bool, mended: frozenset[Fault]) -> Diagnostic:
    """After a probe whose programs could be run, and that `agree` with the eager layer: what it disproved is put down.

    A rule is wrong if what it thinks likeliest would have ended the export, or spoilt its file; other outputs show in a
    comparison, other values may show in other runs only. `mended` are faults of stock Paddle's export, and not of ours.
    """
    rule = rules().get(finding.code)
    if rule is None or finding.proved:
        return finding
    if mended & set(rule.predicts) and rule.shown is not Shown.SOME_RUNS:
        return put_down(finding, "by stock Paddle; yet the exporter's own export agrees with the eager layer")
    seen = {Fault.FAILS, Fault.ENDS} | ({Fault.UNUSABLE, Fault.STRUCTURE} if agree else set())
    return put_down(finding, "yet the probe has exported it") if rule.predicts[0] in seen else finding


def failed(findings: Sequence[Diagnostic], error: ModelError) -> tuple[Diagnostic, ...] | None:
    """After an export that failed: the findings that foretold it are errors, and the failure stands beside them.

    A trace that failed is no file that cannot be used: what foretold only that has foretold nothing. None where no
    finding foretold the failure, so that it is all there is to say.
    """
    errors = [each for each in findings if each.severity is Severity.ERROR and each.code in rules()]
    near = [each for each in errors if isinstance(error, NotATensor) and each.code in _DROPPED]
    faults = _ENDING - {Fault.UNUSABLE} if _TRACED.search(error.what) else _ENDING
    foretold = near or [each for each in errors if faults & set(rules()[each.code].predicts)]
    if not foretold:
        return None
    here = _place(error)
    shown = near or [finding for finding in foretold if _is_near(finding.location, here)]
    told = tuple(replace(finding, proved=True) if finding in shown else finding for finding in findings)
    if near:  # they say the same as the failure
        return told
    return (*told, _failure(error, "the findings above are what the code looks like"))


def not_exported(findings: Sequence[Diagnostic], error: ModelError) -> tuple[Diagnostic, ...]:
    """Return what :func:`failed` does; a failure that no finding foretold stands behind them, and none was shown."""
    why = "the export failed before this could show"
    doubted = [put_down(finding, why) if _is_loud(finding) else finding for finding in findings]
    return failed(findings, error) or (*doubted, _failure(error, error.hint))


def _failure(error: ModelError, cure: str) -> Diagnostic:
    what = f"the export failed: {error.what}"
    return Diagnostic(CANNOT_EXPORT, Severity.ERROR, _place(error), what, cure, proved=True)


def not_run(findings: Iterable[Diagnostic], error: CannotRun) -> tuple[Diagnostic, ...]:
    """With what was found of the code, the error that nothing can be exported of a model that does not run."""
    return (*findings, Diagnostic(CANNOT_RUN, Severity.ERROR, _place(error), error.what, error.hint, proved=True))


def _place(error: ModelError) -> Location:
    path, _, line = error.where.rpartition(":")
    if path and line.isdigit():
        return Location(short(Path(path)), int(line), 1)
    return Location(error.where or "the export")


def differing(findings: tuple[Diagnostic, ...], evidence: Evidence, where: str) -> tuple[Diagnostic, ...]:
    """With an error that the program gives something else than the eager layer, where no finding is an error."""
    if not evidence.shown or any(map(refuses, findings)):
        return findings
    code = "EX205" if "values" in evidence.shown else "EX204"
    cure = "look for state, randomness and questions about the mode in forward and what it calls"
    message = f"program and eager layer differ: {evidence.shown}"
    return (*findings, Diagnostic(code, Severity.ERROR, Location(where), message, cure, proved=True))


def _is_near(finding: Location, failure: Location) -> bool:
    return _file(finding.path) == _file(failure.path) and abs(finding.line - failure.line) <= 1


def settle(findings: Iterable[Diagnostic], evidence: Evidence) -> tuple[Diagnostic, ...]:
    """Put down the silent findings that the evidence disproves, and the loud ones, since the export went through."""
    return exported(_settled(finding, evidence) if is_silent(finding) else finding for finding in findings)


def _settled(finding: Diagnostic, evidence: Evidence) -> Diagnostic:
    path = _file(finding.location.path)
    tree = _tree(path)
    eager, traced = (lines.get(path, frozenset()) for lines in (evidence.eager, evidence.traced))
    statement = _statement(tree, finding.location.line) if tree else None
    if statement is None:
        return finding
    span, shown = _header(statement), rules()[finding.code].shown
    if shown is Shown.EVERY_RUN:
        eager |= evidence.built.get(path, frozenset())  # as `spectral_norm(…)` in `__init__`, which each run feels
    if not span & eager and not span & traced:
        return put_down(finding, "but the model does not run this line with the inputs of the spec")
    if evidence.differs or not span & eager:
        return finding
    agree = f"program and eager layer agree in {evidence.cases} cases"
    if shown is Shown.EVERY_RUN:
        return put_down(finding, f"yet {agree}")
    if shown is Shown.DECISION and span & traced and _decided_alike(statement, finding.location, eager, traced):
        return put_down(finding, f"yet the trace decides it as the eager layer does, and {agree}")
    return finding


def _decided_alike(statement: ast.stmt, where: Location, eager: frozenset[int], traced: frozenset[int]) -> bool:
    """Whether an `if` whose whole condition is the question was decided alike: the same of its sides ran."""
    if not isinstance(statement, ast.If) or not _is_whole(statement.test, where):
        return False
    sides = [_lines(statement.body), _lines(statement.orelse)]
    return all(bool(side & eager) == bool(side & traced) for side in sides)


def _is_whole(test: ast.expr, where: Location) -> bool:
    """Whether a condition asks one thing: `a`, `not a`, or a comparison, with the question in it."""
    inner = test.operand if isinstance(test, ast.UnaryOp) else test
    parts = [node for node in ast.walk(inner) if isinstance(node, (ast.BoolOp, ast.IfExp, ast.NamedExpr, ast.Lambda))]
    return not parts and inner.lineno <= where.line <= (inner.end_lineno or inner.lineno)


def _statement(tree: ast.AST, line: int) -> ast.stmt | None:
    """The innermost statement that a line belongs to; None at a definition, which is run by being there."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    innermost = max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)
    return None if isinstance(innermost, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else innermost


def _header(statement: ast.stmt) -> frozenset[int]:
    """The lines of a statement without those of its blocks."""
    own = set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody", "handlers")]
    return frozenset(own - {line for block in blocks for line in _lines(block)}) or frozenset({statement.lineno})


def _lines(block: Sequence[ast.AST]) -> frozenset[int]:
    return frozenset(
        line for node in block for line in range(getattr(node, "lineno", 0), (getattr(node, "end_lineno", 0) or 0) + 1)
    )


@cache
def _tree(path: str) -> ast.AST | None:
    try:
        return ast.parse(Path(path).read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _file(path: str) -> str:
    return str(Path(path).resolve())


def put_down(finding: Diagnostic, why: str) -> Diagnostic:
    """An error that something disproved is a warning, which says what; anything else is left as it is."""
    if finding.severity is not Severity.ERROR:
        return finding
    return replace(finding, severity=Severity.WARNING, message=f"{finding.message} ({why})")
