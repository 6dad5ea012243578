"""What it costs to load and run an artifact: measured at the release, and a limit for each later run of it.

A program of a bundle may loop or allocate without end, and no reading of it tells. So a release records what each run
took, in steps so coarse that a second release records the same, and a later run may take a multiple of that. Measured
on small networks: 0.2 to 0.3 s and 50 MB in each child beyond its imports, so 2 s and 384 MB are 7 and 8 times
as much. What takes more than a second gets 30 times its step: another CPU may lack the instructions that made it fast.
A bundle that records more gets more, up to the limits that hold for every child; of one that records nothing, an older
one, the size of its files stands for what it takes.
"""

from __future__ import annotations

import contextlib
import importlib
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exporter.process.workers import Beyond

#: How many times what was recorded a later run may take; other machines are slower, and other versions larger.
TIMES_SECONDS, TIMES_MEGABYTES = 30, 3
#: The same for what takes a second at most: so little that a stranger's program without end is over soon.
LEAST_TIMES_SECONDS = 4
#: The smallest steps, and the factor between those that follow.
_SMALL_SECONDS, _LEAST_MEGABYTES = (0.5, 1.0), 128
_FACTOR_SECONDS, _FACTOR_MEGABYTES = 4, 2
#: What a run is taken to cost for each megabyte of its artifact and goldens, if nobody recorded it.
_SECONDS_A_MEGABYTE, _TIMES_ITS_SIZE = 0.25, 8


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time, and megabytes of resident memory beyond what the imports take."""

    seconds: float
    megabytes: float

    def coarse(self) -> dict[str, float]:
        """Rounded up to a step, as a manifest records it."""
        seconds = next((step for step in _SMALL_SECONDS if self.seconds <= step), _SMALL_SECONDS[-1])
        megabytes = _LEAST_MEGABYTES
        while seconds < self.seconds:
            seconds *= _FACTOR_SECONDS
        while megabytes < self.megabytes:
            megabytes *= _FACTOR_MEGABYTES
        return {"seconds": seconds, "megabytes": megabytes}


def by_size(megabytes: float) -> dict[str, float]:
    """What a run of files of that size is taken to cost, where nobody recorded it.

    Measured, in steps: ResNet18 has 55 MB and takes 16 s and 512 MB at most, SqueezeNet 15 MB, 4 s and 256 MB,
    MobileNetV3-small with pictures of 640 by 640 98 MB, 16 s and 1,024 MB. Each is allowed more than that. A small file
    may loop long: none is taken for less than a second.
    """
    return Cost(max(_SMALL_SECONDS[-1], _SECONDS_A_MEGABYTE * megabytes), _TIMES_ITS_SIZE * megabytes).coarse()


def beyond(recorded: Mapping[str, float], times: int = 1) -> Beyond:
    """What a run may take of which this was recorded, or what takes some times as much."""
    seconds = max(_SMALL_SECONDS[0], recorded["seconds"])
    return Beyond(
        times * seconds * (TIMES_SECONDS if seconds > _SMALL_SECONDS[-1] else LEAST_TIMES_SECONDS),
        int(times * TIMES_MEGABYTES * max(_LEAST_MEGABYTES, recorded["megabytes"])),
    )


class Costing:
    """In a child: measures from here on."""

    def __init__(self) -> None:
        self._seconds, self._megabytes = time.process_time(), _peak()

    def cost(self) -> Cost:
        """What was used since it was made."""
        return Cost(time.process_time() - self._seconds, _peak() - self._megabytes)


def import_all(names: Sequence[str]) -> None:
    """Import what a server of children has not: an import is no cost of an artifact's. What lacks is told later."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _peak() -> float:
    """Megabytes of resident memory that this process had at most; Linux counts in KiB, macOS in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / ((1 << 20) if sys.platform == "darwin" else (1 << 10))
