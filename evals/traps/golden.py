"""Every finding of the corpus, as a text: a change of `check` leaves it as it is, or its commit says why not.

`python -m evals.traps.golden [--write]` compares, or renews `golden.txt`: a line for each case and form in which
anything is found, with line, code and severity. The forms are the case as it is, without its SPECS, and without its
factory too.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

from evals.traps import corpus
from evals.traps.score import HERE, Judged, cases

FILE = HERE / "golden.txt"
FORMS = {"as it is": (), "without SPECS": (corpus.SPECS,), "bare": (corpus.SPECS, corpus.FACTORY)}


def lines(folders: tuple[Path, ...] = (HERE, HERE / "own"), each: int = 1) -> Iterator[str]:
    """The lines of the golden, of every `each`-th case."""
    for folder in folders:
        names = frozenset([*corpus.read(folder)][::each])
        for form, leave_out in FORMS.items():
            for case in cases(folder, names=names, leave_out=leave_out):
                if case.findings:
                    yield f"{folder.name}/{case.name}, {form}: {_told(case)}\n"


def _told(case: Judged) -> str:
    return " ".join(sorted(f"{one.location.line}:{one.code}:{one.severity.value}" for one in case.findings))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew the file")
    options = parser.parse_args()
    found = [*lines()]
    if options.write:
        FILE.write_text("".join(found))
        return 0
    known = FILE.read_text().splitlines(keepends=True)
    sys.stdout.writelines(difflib.unified_diff(known, found, "golden.txt", "now", n=0))
    return 0 if known == found else 1


if __name__ == "__main__":
    sys.exit(main())
