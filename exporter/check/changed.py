"""Lines that a change touches, as git knows them: for a pull request only what is new is worth a comment."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from exporter.diagnostics import Diagnostic
from exporter.errors import EnvironmentLacks, UsageError

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def only_changed(findings: tuple[Diagnostic, ...], base: str) -> tuple[Diagnostic, ...]:
    """The findings on lines that differ from the commit `base`, untracked files counted as new.

    Raises:
        UsageError: there is no such commit, or no repository.
        EnvironmentLacks: there is no git.
    """
    changed = changed_lines(base)
    return tuple(each for each in findings if _touched(each, changed))


def changed_lines(base: str) -> dict[Path, frozenset[int] | None]:
    """For each changed Python file its changed lines, counted as they are now; None for all of a new file."""
    top = Path(_git("rev-parse", "--show-toplevel").strip())
    if base.startswith("-"):
        raise UsageError(f"'{base}' is not a commit", hint="give a branch, a tag or a commit: --diff main")
    found: dict[Path, frozenset[int] | None] = {}
    path, lines = None, set[int]()
    diff = _git("diff", "--unified=0", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", base, "--")
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path, lines = (top / line[6:].split("\t")[0] if line.startswith("+++ b/") else None), set()
        elif path is not None and (hunk := _HUNK.match(line)):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            lines.update(range(start, start + count))
            found[path] = frozenset(lines)
    new = _git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", str(top))
    found.update({top / name: None for name in new.split("\0") if name})
    return found


def _touched(finding: Diagnostic, changed: dict[Path, frozenset[int] | None]) -> bool:
    path = Path(finding.location.path).resolve()
    if path not in changed:
        return False
    lines = changed[path]
    return lines is None or finding.location.line in lines or finding.location.line == 0


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)  # noqa: S607 - on PATH
    except FileNotFoundError as error:
        raise EnvironmentLacks("git is not installed", hint="install git, or leave out --diff") from error
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise UsageError(
            f"git cannot tell what changed: {reason}", hint="give a commit of this repository: --diff main"
        )
    return done.stdout
