"""`release` and `verify` of the digits against an older commit's, in turn: processor time of the whole tree, and clock.

    git worktree add /tmp/old ce34965   # it wants `coverage` installed, too
    python benchmarks/release.py /tmp/old [ROUNDS] [train] [release] [verify]

train: `release` in a folder without runs, so that it trains first. release: again, with the checkpoint at hand.
verify: the bundle that this made. Both sides run in folders of their own, with their own recipes and specs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from _compare import Command, Run, report_times, run, sides

ROOT = Path(__file__).parents[1]
#: The most of the older commit's time that each may take; `train` is mostly the training, which is the same in both.
LIMITS = {"train": 0.8, "release": 0.55, "verify": 0.45}
SPEC, BUNDLE = "specs/digits.yaml", "artifacts/digits/1.0.0"


def main() -> int:
    """Measure; exit 1 if a limit is exceeded."""
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "exporter").is_dir():
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as place:
        new, old = sides(Path(place), sys.argv[1])
        for side in (new, old):
            _lay_out(side)
        held = [_measure(step, new, old, rounds) for step in sys.argv[3:] or LIMITS]
    return 0 if all(held) else 1


def _lay_out(side: Command) -> None:
    """The recipes and specs of its checkout in its folder."""
    assert side.folder
    for name in ("recipes", "specs"):
        came = Path(side.environment["PYTHONPATH"]) / name
        shutil.copytree(came, side.folder / name, ignore=shutil.ignore_patterns("__pycache__"))


def _measure(step: str, new: Command, old: Command, rounds: int) -> bool:
    for side in (new, old):  # to warm up, and so that the later steps find what they need
        _step("release", side)
    pairs: list[tuple[Run, Run]] = []
    for at in range(rounds):
        order = (new, old) if at % 2 else (old, new)
        runs = {id(side): _step(step, side) for side in order}
        pairs.append((runs[id(new)], runs[id(old)]))
    mine, theirs = zip(*pairs, strict=True)
    return report_times(f"{step} digits", list(mine), list(theirs), LIMITS[step], "old")


def _step(step: str, side: Command) -> Run:
    assert side.folder
    near = ("--source", ".") if (Path(side.environment["PYTHONPATH"]) == ROOT) else ()  # the old one asks nobody
    words = ("verify", BUNDLE, *near) if step == "verify" else ("release", SPEC)
    if step != "verify":
        shutil.rmtree(side.folder / "cache", ignore_errors=True)  # a release that is repeated would not be made
        shutil.rmtree(side.folder / "artifacts", ignore_errors=True)
    if step == "train":
        shutil.rmtree(side.folder / "runs", ignore_errors=True)
    return run(Command((*side.words, *words, "--quiet"), side.folder, side.environment))


if __name__ == "__main__":
    sys.exit(main())
