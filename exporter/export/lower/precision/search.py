"""Which layers stay in float32: those that are named, and with `search` the worst until the budget holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from exporter.base import machine
from exporter.base.bounded_json import Data
from exporter.base.errors import UsageError, did_you_mean
from exporter.export.lower.precision.base import Order
from exporter.process.workers import doing

#: How many dB the search wants above the budget: calibration rows are not those that the gate judges by.
HEADROOM = 0.5


#: Bytes that the smallest layer is taken to save.
_OVERHEAD = 1024


@dataclass(frozen=True)
class Candidate:
    """One variant that was tried: the layers kept in float32, its bytes, its signal-to-noise ratio in dB.

    `speedup` over fp32 in the engine that serves it, where it was measured.
    """

    kept: tuple[str, ...]
    size: int
    snr_db: float
    speedup: float | None = None

    def to_json(self) -> dict[str, Data]:
        """As it stands in the manifest's details."""
        measured: dict[str, Data] = {"kept": list(self.kept), "bytes": self.size, "snr_db": round(self.snr_db, 2)}
        return measured if self.speedup is None else {**measured, "speedup": round(self.speedup, 2)}

    def beats(self, other: Candidate) -> bool:
        """Nowhere worse (larger, noisier, slower) and not the same."""
        return (
            self != other
            and self.size <= other.size
            and self.snr_db >= other.snr_db
            and (self.speedup or 0.0) >= (other.speedup or 0.0)
        )


@dataclass(frozen=True)
class Tried:
    """What a search learnt: each layer's signal-to-noise ratio when it alone is quantised, and the candidates."""

    alone: Mapping[str, float] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()

    def to_json(self) -> dict[str, Data]:
        """Nothing, where nothing was searched."""
        if not self.candidates:
            return {}
        alone = {name: round(value, 2) for name, value in sorted(self.alone.items(), key=lambda one: one[1])}
        best = [candidate.to_json() for candidate in front(self.candidates)]
        learnt: dict[str, Data] = {"alone_snr_db": alone, "front": best}
        if any(one.speedup is not None for one in self.candidates):
            cpu = machine.cpu()
            about: dict[str, Data] = {"model": cpu["model"], "cores": cpu["cores"], "abilities": cpu["abilities"]}
            learnt["timed_on"] = {**about, "threads": 1}
        return learnt


def choose(
    order: Order,
    layers: Collection[str],
    make: Callable[[tuple[str, ...]], Candidate],
    speed: Callable[[tuple[str, ...]], float] | None = None,
) -> tuple[tuple[str, ...], Tried]:
    """The layers to keep, and what was tried to find them.

    `speed` measures what is told of the candidates where the settings ask for it. It never chooses: the same input has
    to give the same bytes.

    Raises:
        UsageError: `keep` names a layer that is not there.
    """
    kept = resolve(order.settings.keep, layers)
    if not order.settings.search:
        return kept, Tried()
    kept, tried = _search(order, layers, make, kept)
    if order.settings.timed and speed is not None:
        doing("timing the candidates")
        timed = tuple(replace(one, speedup=speed(one.kept)) for one in tried.candidates)
        tried = replace(tried, candidates=timed)
    return kept, tried


def _search(
    order: Order, layers: Collection[str], make: Callable[[tuple[str, ...]], Candidate], kept: tuple[str, ...]
) -> tuple[tuple[str, ...], Tried]:
    wanted = (order.budget.min_snr_db or 0.0) + HEADROOM
    first = make(kept)
    if first.snr_db >= wanted:
        return kept, Tried({}, (first,))
    alone = {}
    for number, layer in enumerate(layers, start=1):
        doing(f"quantising {layer} alone ({number} of {len(layers)})")
        alone[layer] = make(tuple(one for one in layers if one != layer))
    most = max(one.size for one in alone.values())
    noise = {name: 10 ** (-one.snr_db / 10) for name, one in alone.items()}
    # The noise that a layer adds, for each byte that it saves: a small layer in float32 costs little.
    price = {name: noise[name] / (most - one.size + _OVERHEAD) for name, one in alone.items()}
    candidates = [first]
    # By price, the layers that save most come last. Where one of these alone is too noisy, every layer would be kept
    # for it; by noise it is kept first.
    worst = sorted((layer for layer in layers if layer not in kept), key=lambda layer: -price[layer])
    count = _fewest(worst, lambda names: make((*kept, *names)), wanted, candidates)
    if count == len(worst):
        worst.sort(key=lambda layer: -noise[layer])
        count = _fewest(worst, lambda names: make((*kept, *names)), wanted, candidates)
    return (*kept, *worst[:count]), Tried({name: one.snr_db for name, one in alone.items()}, tuple(candidates))


def _fewest(
    worst: list[str], make: Callable[[tuple[str, ...]], Candidate], wanted: float, candidates: list[Candidate]
) -> int:
    """How many of these layers have to be kept, the first of them, so that the budget holds; all are enough."""
    low, high, step = 0, len(worst), 1  # `low` layers kept are too few; `high` are enough, or all there are
    while high - low > 1:
        count = min(low + step, high - 1)
        doing(f"keeping {count} of {len(worst)} layers in float32")
        candidates.append(make(tuple(worst[:count])))
        if candidates[-1].snr_db >= wanted:
            high, step = count, max(1, (count - low) // 2)
        else:
            low, step = count, step * 2
    return high


def front(candidates: Collection[Candidate]) -> list[Candidate]:
    """Those that no other beats, the smallest first."""
    return sorted(
        (one for one in candidates if not any(other.beats(one) for other in candidates)), key=lambda one: one.size
    )


def resolve(keep: tuple[str, ...], layers: Collection[str]) -> tuple[str, ...]:
    """The names in `keep`, each of which must be a layer.

    Raises:
        UsageError: one is not.
    """
    for name in keep:
        if name not in layers:
            hint = did_you_mean(name, layers)
            raise UsageError(f"no layer '{name}' with weights is in the program", where="keep", hint=hint)
    return keep
