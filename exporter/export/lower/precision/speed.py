"""How much faster a candidate is than fp32, in the engine that serves it: both in one process and thread, in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

#: Turns that each side takes, and the seconds of one turn.
TURNS, SECONDS = 7, 0.05


def speedup(plain: Callable[[], object], other: Callable[[], object]) -> float:
    """The median ratio of fp32's time for a call to the other's: 2 is twice as fast."""
    repeats = [max(1, round(SECONDS / max(_seconds(one, 1), 1e-6))) for one in (plain, other)]  # warm afterwards
    ratios = []
    for _ in range(TURNS):
        took = [_seconds(one, count) / count for one, count in zip((plain, other), repeats, strict=True)]
        ratios.append(took[0] / took[1])
    return statistics.median(ratios)


def _seconds(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start
