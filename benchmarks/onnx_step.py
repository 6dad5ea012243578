"""What ONNX costs a `convert` against an older commit's, in turn: processor time with ONNX less that of `.json` alone.

    git worktree add /tmp/old ce34965   # it wants `coverage` and `paddle2onnx` installed, too
    python benchmarks/onnx_step.py /tmp/old [ROUNDS] [NET...]

NET is a network of `paddle.vision.models` whose input is called `x`. Both sides convert it in folders of their own,
with caches of their own. It wants a quiet machine: the difference of two conversions is small.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial

from _compare import Command, Run, against_older, by_turns, report, run

#: The most of the older commit's time.
LIMIT = 0.7
NETS = ("resnet50", "mobilenet_v2", "mobilenet_v3_large")


def main() -> int:
    """Measure; exit 1 if the limit is exceeded."""
    return against_older(__doc__, _measure, NETS)


def _measure(net: str, new: Command, old: Command, rounds: int) -> bool:
    for side in (new, old):  # to warm up
        _convert(net, side, "pir")
    mine, theirs = by_turns(partial(_step, net), new, old, rounds)
    if min(step.processor for step in (*mine, *theirs)) <= 0:
        print(f"onnx of {net}: it is lost in what two conversions differ by: measure again on a quiet machine")
        return False
    return report(f"onnx of {net}, processor", mine, theirs, LIMIT, "processor", "old")


def _step(net: str, side: Command) -> Run:
    """What ONNX adds."""
    both, less = _convert(net, side, "pir,onnx"), _convert(net, side, "pir")
    return Run(both.seconds - less.seconds, 0.0, both.processor - less.processor)


def _convert(net: str, side: Command, formats: str) -> Run:
    assert side.folder
    for name in ("cache", "out"):  # a conversion that is repeated would not be made
        shutil.rmtree(side.folder / name, ignore_errors=True)
    inputs = ("--input", "x=float32[batch,3,224,224]", "--dim", "batch=1..64")
    words = ("convert", f"paddle.vision.models:{net}", *inputs, "--out", "out", "--formats", formats, "--quiet")
    return run(Command((*side.words, *words), side.folder, side.environment))


if __name__ == "__main__":
    sys.exit(main())
