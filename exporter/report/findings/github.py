"""Findings as annotations of a pull request on GitHub: one workflow command a line."""

from __future__ import annotations

from exporter.check.run import Examination
from exporter.diagnostics import Diagnostic, Severity
from exporter.report.findings.base import Form

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(examination: Examination, color: bool = False) -> str:
    """`::error file=…,line=…,col=…,title=EX101::message`, one for each finding."""
    del color
    return "".join(_command(each) + "\n" for each in examination.findings)


def _command(finding: Diagnostic) -> str:
    where = finding.location
    places = [f"file={_property(where.path)}"]
    if where.line:
        places += [f"line={where.line}", f"col={max(where.column, 1)}"]
    text = _message(f"{finding.message}. {finding.cure}")
    return f"::{_LEVELS[finding.severity]} {','.join(places)},title={finding.code}::{text}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


plugin: Form = render
