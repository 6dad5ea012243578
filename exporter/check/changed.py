"""Lines that a change touches, as git knows them: for a pull request only what is new is worth a comment."""

from __future__ import annotations

import re
from pathlib import Path

from exporter.base.diagnostics import Diagnostic
from exporter.base.git import Base

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def only_changed(findings: tuple[Diagnostic, ...], base: Base) -> tuple[Diagnostic, ...]:
    """The findings on lines that differ from a commit, untracked files counted as new.

    Raises:
        UsageError, EnvironmentLacks: as :class:`exporter.base.git.Base`.
    """
    changed = changed_lines(base)
    return tuple(each for each in findings if _touched(each, changed))


def changed_lines(base: Base) -> dict[Path, frozenset[int] | None]:
    """For each changed file its changed lines, counted as they are now; None for all of a new file."""
    found: dict[Path, frozenset[int] | None] = {}
    path, lines = None, set[int]()
    for line in base.diff("--unified=0", "--src-prefix=a/", "--dst-prefix=b/").split("\n"):
        if line.startswith("+++ "):
            path, lines = (base.top / line[6:].split("\t")[0] if line.startswith("+++ b/") else None), set()
        elif path is not None and (hunk := _HUNK.match(line)):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            lines.update(range(start, start + count))
            found[path] = frozenset(lines)
    found.update(dict.fromkeys(base.untracked()))
    return found


def _touched(finding: Diagnostic, changed: dict[Path, frozenset[int] | None]) -> bool:
    path = Path(finding.location.path).resolve()
    if path not in changed:
        return False
    lines = changed[path]
    return lines is None or finding.location.line in lines or finding.location.line == 0
