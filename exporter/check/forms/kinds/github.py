"""Findings as annotations of a pull request on GitHub: one workflow command a line."""

from __future__ import annotations

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.forms.base import Form
from exporter.check.github_command import command
from exporter.check.run import Examination

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(examination: Examination, color: bool = False) -> str:
    """`::error file=…,line=…,col=…,title=EX101::message`, one for each finding."""
    del color
    return "".join(_command(each) + "\n" for each in examination.findings)


def _command(finding: Diagnostic) -> str:
    where = finding.location
    places: dict[str, str | int] = {"file": where.path}
    if where.line:
        places |= {"line": where.line, "col": max(where.column, 1)}
    return command(_LEVELS[finding.severity], {**places, "title": finding.code}, f"{finding.message}. {finding.cure}")


plugin: Form = render
