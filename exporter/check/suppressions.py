"""`# exporter: ignore[EX101] reason`: on the line of a finding, or alone on the line above it.

A reason is asked for, because the next reader will ask for it. An ignore that nothing needs any more is said too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from exporter.base.diagnostics import Diagnostic, Location, Severity

_MARK = re.compile(r"#\s*exporter:\s*ignore(?:\[(?P<codes>[^\]]*)\])?[ \t]*(?P<reason>.*)$")

Comments: TypeAlias = Callable[[str], Sequence[tuple[int, str]]]


class _Mark(NamedTuple):
    """One comment: the line that it speaks for, the codes, and whether it gives a reason."""

    line: int
    column: int
    covers: int
    codes: tuple[str, ...]
    reason: str


def apply(findings: Sequence[Diagnostic], files: Mapping[str, bool], comments: Comments) -> tuple[Diagnostic, ...]:
    """The findings that no comment ignores, and what is wrong with the comments (EX004).

    `comments` gives the lines of a file that may hold one, with their numbers; `files` are those that were looked at,
    and whether as a whole: of one class of a file nothing says that a comment elsewhere in it ignores nothing.
    """
    kept: list[Diagnostic] = []
    marks = {path: list(_marks(comments(path))) for path in {*files, *(each.location.path for each in findings)}}
    used: set[tuple[str, int, str]] = set()
    for finding in findings:
        path = finding.location.path
        mark = next((m for m in marks[path] if m.covers == finding.location.line and finding.code in m.codes), None)
        if mark is None or finding.code == "EX001":
            kept.append(finding)
        else:
            used.add((path, mark.line, finding.code))
    for path, found in marks.items():
        for mark in found:
            unused = {code for code in mark.codes if (path, mark.line, code) not in used}
            kept += _complaints(path, mark, unused if files.get(path, True) else set())
    return tuple(kept)


def _marks(lines: Sequence[tuple[int, str]]) -> Iterator[_Mark]:
    for number, line in lines:
        match = _MARK.search(line)
        if match:
            codes = tuple(code.strip() for code in (match["codes"] or "").split(",") if code.strip())
            alone = not line[: match.start()].strip()
            yield _Mark(number, match.start() + 1, number + alone, codes, match["reason"].strip())


def _complaints(path: str, mark: _Mark, unused: set[str]) -> Iterator[Diagnostic]:
    where = Location(path, mark.line, mark.column)
    if not mark.codes:
        message, cure = "an ignore without a code ignores nothing", "write `# exporter: ignore[EX101] reason`"
    elif unused:
        message, cure = f"nothing to ignore here: {', '.join(sorted(unused))} is not found", "remove the comment"
    elif not mark.reason:
        message, cure = "an ignore without a reason", "say why, behind the bracket"
    else:
        return
    yield Diagnostic("EX004", Severity.WARNING, where, message, cure)
