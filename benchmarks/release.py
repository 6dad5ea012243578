"""`release` and `verify` of the digits against an older commit's, in turn: processor time of the whole tree, and clock.

    git worktree add /tmp/old ce34965   # it wants `coverage` installed, too
    python benchmarks/release.py /tmp/old [ROUNDS] [train] [release] [verify]

train: `release` in a folder without runs, so that it trains first. release: again, with the checkpoint at hand.
verify: the bundle that this made. Both sides run in folders of their own, with their own recipes and specs.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

from _compare import Command, Run, against_older, by_turns, forget_releases, lay_out, report_times, run

ROOT = Path(__file__).parents[1]
#: The most of the older commit's time that each may take; `train` is mostly the training, which is the same in both.
LIMITS = {"train": 0.8, "release": 0.55, "verify": 0.45}
SPEC, BUNDLE = "specs/digits.yaml", "artifacts/digits/1.0.0"


def main() -> int:
    """Measure; exit 1 if a limit is exceeded."""
    return against_older(__doc__, _measure, [*LIMITS], lay_out)


def _measure(step: str, new: Command, old: Command, rounds: int) -> bool:
    for side in (new, old):  # to warm up, and so that the later steps find what they need
        _step("release", side)
    mine, theirs = by_turns(partial(_step, step), new, old, rounds)
    return report_times(f"{step} digits", mine, theirs, LIMITS[step], "old")


def _step(step: str, side: Command) -> Run:
    assert side.folder
    near = ("--source", ".") if (Path(side.environment["PYTHONPATH"]) == ROOT) else ()  # the old one asks nobody
    words = ("verify", BUNDLE, *near) if step == "verify" else ("release", SPEC)
    if step != "verify":
        forget_releases(side)
    if step == "train":
        shutil.rmtree(side.folder / "runs", ignore_errors=True)
    return run(Command((*side.words, *words, "--quiet"), side.folder, side.environment))


if __name__ == "__main__":
    sys.exit(main())
