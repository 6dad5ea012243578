"""Findings for people: each with the line it is about, and a summary that says how much was looked at."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.check.forms.base import Form
from exporter.check.run import Examination

_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}


def render(examination: Examination, color: bool = False) -> str:
    """Code frames, then one line of summary."""
    _lines.cache_clear()  # a file may have been mended between two checks of one process
    parts = [_finding(each, color) for each in examination.findings]
    return "\n".join([*parts, _summary(examination)]) + "\n"


def _finding(finding: Diagnostic, color: bool) -> str:
    head = f"{finding.severity.value}[{finding.code}]"
    if color:
        head = f"\x1b[1;{_COLORS[finding.severity]}m{head}\x1b[0m"
    proof = " (shown by a run)" if finding.proved and finding.code != "EX001" else ""
    lines = [f"{head}: {finding.message}{proof}", *_frame(finding.location), f"  = {finding.cure}"]
    return "\n".join(lines) + "\n"


def _frame(location: Location) -> list[str]:
    arrow = f"  --> {location}"
    lines = _lines(location.path)
    if not 0 < location.line <= len(lines):
        return [arrow]
    number = str(location.line)
    edge = " " * len(number)
    text = lines[location.line - 1].expandtabs(1).rstrip()
    width = 160  # a minified line would fill the screen
    shown = text if len(text) <= width else text[:width] + " …"
    frame = [arrow, f"{edge} |", f"{number} | {shown}"]
    if 0 < location.column <= width:
        frame.append(f"{edge} | {' ' * (location.column - 1)}^")
    return frame


@lru_cache(maxsize=64)
def _lines(path: str) -> tuple[str, ...]:
    try:
        return tuple(Path(path).read_text(encoding="utf-8-sig").splitlines())
    except (OSError, UnicodeDecodeError, ValueError):
        return ()


def _summary(examination: Examination) -> str:
    counts = Counter(each.severity for each in examination.findings)
    found = ", ".join(_count(counts[each], each.value) for each in Severity if counts[each]) or "No findings"
    probed = f", {_count(examination.probed, 'model')} probed" if examination.probed else ""
    return f"{found} ({_count(examination.layers, 'layer')} in {_count(examination.files, 'file')} checked{probed})."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 or noun == 'info' else 's'}"


plugin: Form = render
