"""What verbs say in the same way: as wide as the terminal, and in lines that no runner takes for its own commands."""

from __future__ import annotations

import json
import shlex
import shutil
import sys

from exporter.base.errors import ExitCode, Refusal, harmless, printable


def width() -> int | None:
    """The columns of the terminal (`COLUMNS`, if that is set); None in a pipe or a file, where a line has no end."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def tell(text: str) -> None:
    """Write lines for people."""
    sys.stdout.write("".join(map(harmless, text.splitlines(keepends=True))))


def unreleased(bundle: str, why: str, undone: str, *, as_json: bool) -> Refusal:
    """The gate's no to a bundle that did not pass, and `why`: nothing is written; `undone` says what was not done."""
    what, hint = (
        f"{why}, so it is not {undone}",
        f"exporter verify {shlex.quote(bundle)}, which says why not",
    )
    if as_json:
        error = {"what": what, "where": bundle, "hint": hint, "exit": int(ExitCode.REFUSED)}
        sys.stdout.write(json.dumps({"error": error}) + "\n")
    else:
        sys.stderr.write(printable(f"error: {bundle}: {what}") + "\n")
    return Refusal(ExitCode.REFUSED, hint)
