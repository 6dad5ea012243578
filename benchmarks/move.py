"""`--help`, `verify` and `release` of the digits against the commit before a move, in turn: what a move may cost.

    git worktree add /tmp/before c2d89a18
    python benchmarks/move.py /tmp/before [ROUNDS] [help] [verify] [release]

Both sides run in folders of their own, with their own recipes and specs. Processor time of the whole tree, and clock;
`help` has twenty times as many rounds, since it takes a fifth of a second.
"""

from __future__ import annotations

import sys
from functools import partial

from _compare import Command, Run, against_older, by_turns, forget_releases, lay_out, report_times, run

#: The most of the older commit's time that each may take.
LIMIT = 1.03
STEPS = {
    "help": ("--help",),
    "verify": ("verify", "artifacts/digits/1.0.0", "--source", ".", "--quiet"),
    "release": ("release", "specs/digits.yaml", "--quiet"),
}
_HELPS = 20


def main() -> int:
    """Measure; exit 1 if the limit is exceeded."""
    return against_older(__doc__, _measure, [*STEPS], _lay_out)


def _lay_out(side: Command) -> None:
    """Lay the recipes and specs of its checkout into a side's folder, and train there."""
    lay_out(side)
    _step("release", side)


def _measure(step: str, new: Command, old: Command, rounds: int) -> bool:
    mine, theirs = by_turns(partial(_step, step), new, old, rounds * (_HELPS if step == "help" else 1))
    return report_times(f"{step} digits", mine, theirs, LIMIT, "old")


def _step(step: str, side: Command) -> Run:
    if step == "release":
        forget_releases(side)
    return run(Command((*side.words, *STEPS[step]), side.folder, side.environment))


if __name__ == "__main__":
    sys.exit(main())
