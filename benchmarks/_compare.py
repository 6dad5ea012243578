"""Time two commands in turn, A B A B …, and compare them pair by pair: machines drift, ratios in one run hold."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Run:
    """Wall seconds of one command, processor seconds of it and its children, and the tree's peak memory.

    The memory is resident, in MB; 0 if it was not watched.
    """

    seconds: float
    megabytes: float
    processor: float = 0.0


def run(command: Sequence[str], *, memory: bool = False) -> Run:
    """Run a command to its end; it must succeed."""
    begin, before = time.perf_counter(), _processor()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak = 0
    while memory and process.poll() is None:
        peak = max(peak, _resident(process.pid))
        time.sleep(0.02)
    _, errors = process.communicate()
    seconds = time.perf_counter() - begin
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{errors.decode(errors='replace')[-2000:]}")
    return Run(seconds, peak / 2**20, _processor() - before)


def run_all(commands: Sequence[Sequence[str]], *, memory: bool = False) -> Run:
    """Run one after the other: times are added, of memory the largest counts."""
    parts = [run(command, memory=memory) for command in commands]
    times = sum(one.seconds for one in parts), sum(one.processor for one in parts)
    return Run(times[0], max(one.megabytes for one in parts), times[1])


def compare(
    ours: Sequence[str], theirs: Sequence[str] | Sequence[Sequence[str]], runs: int, *, memory: bool = False
) -> tuple[list[Run], list[Run]]:
    """Run both once to warm up, then in turn; return what was measured of each. Theirs may be several commands."""
    several = [list(theirs)] if isinstance(theirs[0], str) else [list(one) for one in theirs]
    run(ours)
    run_all(several)  # type: ignore[arg-type]
    pairs = [(run(ours, memory=memory), run_all(several, memory=memory)) for _ in range(runs)]  # type: ignore[arg-type]
    return [one for one, _ in pairs], [other for _, other in pairs]


def report(name: str, ours: list[Run], theirs: list[Run], limit: float, field: str = "seconds") -> bool:
    """Print medians and the median of the ratios pair by pair; whether the limit holds."""
    mine, other = ([getattr(one, field) for one in runs] for runs in (ours, theirs))
    ratio = statistics.median(a / b for a, b in zip(mine, other, strict=True))
    unit = "MB" if field == "megabytes" else "s"
    holds = ratio <= limit
    print(
        f"{name:<28} ours {statistics.median(mine):8.3f} {unit}   bare {statistics.median(other):8.3f} {unit}   "
        f"ratio {ratio:.3f} (limit {limit}) {'holds' if holds else 'EXCEEDED'}"
    )
    return holds


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _resident(pid: int) -> int:
    try:
        parent = psutil.Process(pid)
        return sum(process.memory_info().rss for process in (parent, *parent.children(recursive=True)))
    except psutil.Error:
        return 0
