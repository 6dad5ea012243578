"""What ONNX costs a `convert` against an older commit's, in turn: processor time with ONNX less that of `.json` alone.

    git worktree add /tmp/old ce34965   # it wants `coverage` and `paddle2onnx` installed, too
    python benchmarks/onnx_step.py /tmp/old [ROUNDS] [NET...]

NET is a network of `paddle.vision.models` whose input is called `x`. Both sides convert it in folders of their own,
with caches of their own. It wants a quiet machine: the difference of two conversions is small.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from _compare import Command, Run, report, run, sides

#: The most of the older commit's time.
LIMIT = 0.7
NETS = ("resnet50", "mobilenet_v2", "mobilenet_v3_large")


def main() -> int:
    """Measure; exit 1 if the limit is exceeded."""
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "exporter").is_dir():
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as place:
        new, old = sides(Path(place), sys.argv[1])
        held = [_measure(net, new, old, rounds) for net in sys.argv[3:] or NETS]
    return 0 if all(held) else 1


def _measure(net: str, new: Command, old: Command, rounds: int) -> bool:
    for side in (new, old):  # to warm up
        _convert(net, side, "pir")
    pairs: list[tuple[Run, Run]] = []
    for at in range(rounds):
        steps = {id(side): _step(net, side) for side in ((new, old) if at % 2 else (old, new))}
        pairs.append((steps[id(new)], steps[id(old)]))
    if any(min(mine.processor, theirs.processor) <= 0 for mine, theirs in pairs):
        print(f"onnx of {net}: it is lost in what two conversions differ by: measure again on a quiet machine")
        return False
    mine, theirs = zip(*pairs, strict=True)
    return report(f"onnx of {net}, processor", list(mine), list(theirs), LIMIT, "processor", "old")


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
