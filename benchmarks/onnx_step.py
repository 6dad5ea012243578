"""What ONNX costs a `convert` against an older commit's, in turn: processor time with ONNX less that of `.json` alone.

    git worktree add /tmp/old ce34965   # it wants `coverage` and `paddle2onnx` installed, too
    python benchmarks/onnx_step.py /tmp/old [ROUNDS] [NET...]

NET is a network of `paddle.vision.models` whose input is called `x`. Both sides convert it in folders of their own,
with caches of their own. It wants a quiet machine: the difference of two conversions is small, and in one round it can
even be negative. So each round says whether its step kept the limit, by a difference (a ratio to a small number says
nothing), and the rounds vote: what three quarters of them say is the answer, anything between is no answer.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from functools import partial

from _compare import Command, against_older, by_turns, run

#: The most of the older commit's time.
LIMIT = 0.7
NETS = ("resnet50", "mobilenet_v2", "mobilenet_v3_large")


def main() -> int:
    """Measure; exit 1 if the limit is exceeded."""
    return against_older(__doc__, _measure, NETS)


def _measure(net: str, new: Command, old: Command, rounds: int) -> bool:
    for side in (new, old):  # to warm up
        _convert(net, side, "pir")
    steps = by_turns(partial(_step, net), new, old, rounds)
    kept = statistics.fmean(mine <= LIMIT * theirs for mine, theirs in zip(*steps, strict=True))
    answer = "holds" if kept >= 0.75 else "EXCEEDED" if kept <= 0.25 else "lost in what two conversions differ by"
    mine, theirs = map(statistics.median, steps)
    print(
        f"onnx of {net:<20} ours {mine:6.3f} s   old {theirs:6.3f} s   ratio of medians {mine / theirs:.3f}, "
        f"limit {LIMIT} kept in {kept:.0%} of {rounds} rounds: {answer}",
        flush=True,
    )
    return kept >= 0.75


def _step(net: str, side: Command) -> float:
    """What ONNX adds, in seconds of processor time."""
    return _convert(net, side, "pir,onnx") - _convert(net, side, "pir")


def _convert(net: str, side: Command, formats: str) -> float:
    assert side.folder
    for name in ("cache", "out"):  # a conversion that is repeated would not be made
        shutil.rmtree(side.folder / name, ignore_errors=True)
    inputs = ("--input", "x=float32[batch,3,224,224]", "--dim", "batch=1..64")
    words = ("convert", f"paddle.vision.models:{net}", *inputs, "--out", "out", "--formats", formats, "--quiet")
    return run(Command((*side.words, *words), side.folder, side.environment)).processor


if __name__ == "__main__":
    sys.exit(main())
