"""How fast one bundle is against another: in every engine that runs both, a round of one, then a round of the other."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.errors import ExitCode
from exporter.deploy.bench.run import Benchmark, Wish, bench
from exporter.process.workers import Setting


@dataclass(frozen=True)
class Latency:
    """One run of both bundles: the new one's time over the old one's, by the geometric mean of the sizes both have.

    The median of the rounds, and the lowest and highest of them: where 1 lies between these, nothing is shown.
    """

    variant: str
    engine: str
    times: float
    low: float
    high: float

    def __str__(self) -> str:
        """For a person."""
        said = "; no difference is shown" if self.low <= 1 <= self.high else ""
        between = f"in rounds from x{self.low:.2f} to x{self.high:.2f}"
        return f"{self.variant}/{self.engine}: x{self.times:.2f} of the old one's time, {between}{said}"


@dataclass(frozen=True)
class Compared:
    """What was timed of both; what could not be, and why; and the exit code of that."""

    latencies: tuple[Latency, ...]
    failed: tuple[str, ...]
    exit: ExitCode


def compare(old: Path, new: Path, wish: Wish, setting: Setting) -> Compared:
    """Time both by turns; raises as :func:`exporter.deploy.bench.run.bench`."""
    once = replace(wish, rounds=1)
    rounds = [(bench(old, once, setting), bench(new, once, setting)) for _ in range(wish.rounds)]
    failed = {f"{name}: {why}": None for pair in rounds for one in pair for name, why in one.failed.items()}
    code = max(one.exit for pair in rounds for one in pair)
    return Compared(tuple(latencies(rounds)), tuple(failed), code)


def latencies(rounds: Sequence[tuple[Benchmark, Benchmark]]) -> Iterator[Latency]:
    """Of rounds of both, old and new: each run that both have."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for old, new in rounds:
        before = {(one.variant, one.engine, one.size): one.median for one in old.measured}
        shares: dict[tuple[str, str], list[float]] = {}
        for one in new.measured:
            if (key := (one.variant, one.engine, one.size)) in before:
                shares.setdefault(key[:2], []).append(math.log(one.median / before[key]))
        for run, logs in shares.items():
            ratios.setdefault(run, []).append(math.exp(statistics.mean(logs)))
    for run, times in sorted(ratios.items()):
        yield Latency(*run, statistics.median(times), min(times), max(times))
