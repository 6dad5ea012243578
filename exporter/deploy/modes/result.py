"""What a comparison of modes has measured, and its ratios to eager with their intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from exporter.base.machine import Cpu

#: The mode, and the artifact, that all others are held against.
EAGER = "eager"
#: Training steps that are left out of the median: they trace, and fill caches.
WARM_STEPS = 5
#: Rounds below which no claim is judged: of fewer an interval tells too little.
LEAST_ROUNDS = 5


@dataclass(frozen=True)
class Wish:
    """What to compare.

    `modes`: all that there are, if empty. Each round trains `epochs` (those of the recipe, if neither is given) or
    `steps`, then runs forward for `seconds` at each of the `batches`. A service is asked by `clients` for `serve`
    seconds a round; 0: not at all.
    """

    recipe: str
    modes: tuple[str, ...] = ()
    epochs: int | None = None
    steps: int | None = None
    batches: tuple[int, ...] = (1, 8, 32)
    rounds: int = LEAST_ROUNDS
    seconds: float = 0.3
    serve: float = 2.0
    clients: int = 8
    threads: int = 1
    seed: int = 0
    device: str = "cpu"


@dataclass(frozen=True)
class Round:
    """One process of one mode: loss and seconds of each training step, seconds of forward by batch size.

    `metric` is the recipe's on the held-out samples, `memory` the peak in bytes, `export` the seconds that Paddle's own
    API takes to write the inference program.
    """

    losses: Sequence[float]
    times: Sequence[float]
    forward: Mapping[str, Sequence[float]]
    export: float
    metric: float
    memory: int

    @property
    def step(self) -> float:
        """The median seconds of a training step, without those that trace."""
        return statistics.median(self.times[WARM_STEPS:] or self.times)


@dataclass(frozen=True)
class Interval:
    """A ratio and its bounds of 95 %; the bounds are NaN where there is one round alone."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isnan(self.low):
            return f"{self.value:.2f}"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Apart:
    """How far a mode's weights end from eager's.

    The L2 norm of the difference over that of eager's weights, and the largest difference of one weight.
    """

    relative: float
    largest: float


@dataclass(frozen=True)
class Asked:
    """One round of one artifact behind the service: answers a second, and their seconds at the median and at 99 %."""

    rate: float
    median: float
    p99: float


@dataclass(frozen=True)
class Served:
    """The rounds of each artifact; `apart` is the largest difference from what eager answers.

    `convert` is how many seconds it took to make the artifacts. `why_not` says why nothing was served.
    """

    rounds: Mapping[str, Sequence[Asked]] = field(default_factory=dict)
    apart: Mapping[str, float] = field(default_factory=dict)
    convert: float = 0.0
    why_not: str = ""


@dataclass(frozen=True)
class Machine:
    """The machine that measured: its CPU, and bytes of memory as :func:`exporter.base.machine.memory` says."""

    cpu: Cpu
    memory: Mapping[str, int]


@dataclass(frozen=True)
class Comparison:
    """All of it. `lacks` says of modes that were not compared why, `failed` of those that did not get through.

    `repeats` says of each mode whether every round had the same losses, to the bit.
    """

    wish: Wish
    paddle: str
    machine: Machine
    metric: str
    titles: Mapping[str, str]
    rounds: Mapping[str, Sequence[Round]]
    apart: Mapping[str, Apart]
    lacks: Mapping[str, str]
    failed: Mapping[str, str]
    served: Served

    @property
    def repeats(self) -> dict[str, bool]:
        """By mode."""
        return {mode: all(one.losses == rounds[0].losses for one in rounds) for mode, rounds in self.rounds.items()}

    def to_eager(self, mode: str, of: Callable[[Round], float]) -> Interval:
        """How many times as much eager takes as the mode does, round by round."""
        return ratio([of(one) for one in self.rounds[EAGER]], [of(one) for one in self.rounds[mode]])

    def rate_to_eager(self, name: str) -> Interval:
        """How many times as many requests a second an artifact answers as eager does."""
        return ratio(*([one.rate for one in self.served.rounds[which]] for which in (name, EAGER)))

    def to_json(self) -> dict[str, object]:
        """The object that `compare-modes --json` prints."""
        ratios = {
            mode: {
                "step": asdict(self.to_eager(mode, lambda one: one.step)),
                "forward": {
                    str(size): asdict(self.to_eager(mode, lambda one, size=size: forward(one, size)))  # type: ignore[misc]
                    for size in self.wish.batches
                },
            }
            for mode in self.rounds
            if len(self.rounds[EAGER]) > 1
        }
        told = asdict(self)
        return {**told, "repeats": self.repeats, "eager_over_mode": ratios}


def forward(one: Round, size: int) -> float:
    """The median seconds of a call at a batch size."""
    return statistics.median(one.forward[str(size)])


def ratio(above: Sequence[float], below: Sequence[float]) -> Interval:
    """The geometric mean of the ratios of pairs, and its interval by drawing the pairs anew (bootstrap)."""
    import numpy as np

    from exporter.base.numbers.intervals import bootstrap

    logs = np.log(np.asarray(above) / np.asarray(below))
    value = float(np.exp(logs.mean()))
    if len(logs) < 2:
        return Interval(value, math.nan, math.nan)
    low, high = bootstrap(lambda drawn: float(np.exp(logs[drawn].mean())), len(logs))
    return Interval(value, low, high)
