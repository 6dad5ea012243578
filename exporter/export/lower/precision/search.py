"""How each layer is written: what is named stays in float32; `search` lifts the noisiest until the budget holds.

A layer rises step by step, and each step has its price in bytes: first it computes in float32 with weights of 8 bits,
which costs no byte and some speed, then its weights have 16 bits, then 32. So a layer whose activations do not fit into
8 bits keeps its small weights, and a depthwise convolution of a few hundred numbers gets weights that are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Protocol

from exporter.base import machine
from exporter.base.bounded_json import Data
from exporter.base.errors import ModelError
from exporter.base.numbers.norms import LOUDEST
from exporter.export.lower.precision.base import Order
from exporter.export.lower.precision.noise import ratio_db
from exporter.process.workers import doing

#: How many dB the search wants above the budget, besides what the samples are unsure by: the gate judges by others.
HEADROOM = 0.5
#: What a step costs besides the bytes that it adds to the file: some speed, as if it added these.
_OVERHEAD = 1024
#: How many calls rank a layer; the candidates are measured with all of them.
_RANKED_BY = 8
#: No more of an output than this share is taken to be noise, so that sums stay finite.
_MOST_NOISE = 10 ** (LOUDEST / 10)


class Make(Protocol):
    """Writes a variant and measures it, with all calls to calibrate with or the first few."""

    def __call__(self, plan: Plan, calls: int | None = None) -> Candidate: ...


class Grade(StrEnum):
    """How a layer is written: all in 8 or 16 bits, its weights alone in 8 or 16 bits, or in float32."""

    INT8 = "int8"
    FP16 = "fp16"
    WEIGHTS_INT8 = "weights_int8"
    WEIGHTS_FP16 = "weights_fp16"
    FLOAT32 = "float32"


#: The grade of every layer.
Plan = Mapping[str, Grade]
#: What precisions offer a layer, the smallest first. Weights of 16 bits are taken to add no noise.
INT8_LADDER = (Grade.INT8, Grade.WEIGHTS_INT8, Grade.WEIGHTS_FP16, Grade.FLOAT32)
INT8_OR_FLOAT32 = (Grade.INT8, Grade.FLOAT32)
FP16_OR_FLOAT32 = (Grade.FP16, Grade.FLOAT32)


@dataclass(frozen=True)
class Candidate:
    """One variant that was tried: the grade of each layer, its bytes, and by output the share of noise in its energy.

    `likely` is the share that other samples likely stay below, `speedup` that over fp32 in the engine that serves it,
    where they were measured.
    """

    plan: Plan
    size: int
    noise: Mapping[str, float]
    likely: Mapping[str, float] | None = None
    speedup: float | None = None

    @property
    def snr_db(self) -> float:
        """The signal-to-noise ratio of the worst output, by which each is judged."""
        return min(map(ratio_db, self.noise.values()))

    def holds(self, wanted: float) -> bool:
        """Say whether the worst output likely has this ratio, in dB, with other samples too."""
        return min(map(ratio_db, (self.likely or self.noise).values())) >= wanted

    def to_json(self) -> dict[str, Data]:
        """As it stands in the manifest's details."""
        measured = {**by_grade(self.plan), "bytes": self.size, "snr_db": round(self.snr_db, 2)}
        return measured if self.speedup is None else {**measured, "speedup": round(self.speedup, 2)}

    def beats(self, other: Candidate) -> bool:
        """Nowhere worse (larger, noisier, slower) and not the same."""
        return (
            self != other
            and self.size <= other.size
            and self.snr_db >= other.snr_db
            and (self.speedup or 0.0) >= (other.speedup or 0.0)
        )


def by_grade(plan: Plan) -> dict[str, Data]:
    """The layers of a plan that are above the lowest grade; `kept` are those in float32."""
    grades = {"kept": Grade.FLOAT32, "weights_int8": Grade.WEIGHTS_INT8, "weights_fp16": Grade.WEIGHTS_FP16}
    layers = {key: [layer for layer, own in plan.items() if own is grade] for key, grade in grades.items()}
    return {key: [*names] for key, names in layers.items() if names or key == "kept"}


@dataclass(frozen=True)
class Tried:
    """What a search learnt: each layer's signal-to-noise ratio when it alone is low, by grade, and the candidates."""

    alone: Mapping[Grade, Mapping[str, float]] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()

    def to_json(self) -> dict[str, Data]:
        """Nothing, where nothing was searched."""
        if not self.candidates:
            return {}
        learnt: dict[str, Data] = {"alone_snr_db": {}}
        for grade, ratios in self.alone.items():
            key = "alone_weights_snr_db" if grade is Grade.WEIGHTS_INT8 else "alone_snr_db"
            ranked = sorted(ratios.items(), key=lambda layer: layer[1])
            learnt[key] = {name: round(value, 2) for name, value in ranked}
        learnt["front"] = [candidate.to_json() for candidate in front(self.candidates)]
        if any(candidate.speedup is not None for candidate in self.candidates):
            cpu = machine.cpu()
            about: dict[str, Data] = {"model": cpu["model"], "cores": cpu["cores"], "abilities": cpu["abilities"]}
            learnt["timed_on"] = {**about, "threads": 1}
        return learnt


def choose(
    order: Order,
    plan: Plan,
    ladder: Sequence[Grade],
    make: Make,
    speed: Callable[[Plan], float] | None = None,
) -> tuple[Plan, Tried]:
    """The grade of each layer, and what was tried to find them; `plan` has those that the settings ask for.

    `speed` measures what is told of the candidates where the settings ask for it. It never chooses: the same input has
    to give the same bytes.

    Raises:
        ModelError: every layer would have to be in float32.
    """
    if not order.settings.search:
        return plan, Tried()
    plan, tried = _search(order, plan, ladder, make)
    if order.settings.timed and speed is not None:
        doing("timing the candidates")
        timed = tuple(replace(candidate, speedup=speed(candidate.plan)) for candidate in tried.candidates)
        tried = replace(tried, candidates=timed)
    return plan, tried


def _search(order: Order, plan: Plan, ladder: Sequence[Grade], make: Make) -> tuple[Plan, Tried]:
    wanted = (order.budget.min_snr_db or 0.0) + HEADROOM
    first = make(plan)
    if first.holds(wanted):
        return plan, Tried({}, (first,))
    low = [layer for layer, grade in plan.items() if grade is not Grade.FLOAT32]
    in_float32 = dict.fromkeys(plan, Grade.FLOAT32)
    alone: dict[Grade, dict[str, Candidate]] = {}
    for grade in ladder:
        if grade not in (Grade.FLOAT32, Grade.WEIGHTS_FP16):
            alone[grade] = {}
            for number, layer in enumerate(low, start=1):
                doing(f"writing {layer} alone as {grade} ({number} of {len(low)})")
                alone[grade][layer] = make({**in_float32, layer: grade}, _RANKED_BY)
    candidates = [first]
    # By price, the layers that save most come last. Where one of these is too noisy in any grade, every layer would be
    # in float32 before it; by noise it is the first.
    steps = list(_steps({layer: plan[layer] for layer in low}, ladder, alone, per_byte=True))
    count = _fewest(plan, steps, make, wanted, candidates)
    if count == len(steps):
        steps = list(_steps({layer: plan[layer] for layer in low}, ladder, alone, per_byte=False))
        count = _fewest(plan, steps, make, wanted, candidates)
    if count == len(steps):
        raise _nothing_holds(order, alone[ladder[0]])
    ratios = {grade: {layer: candidate.snr_db for layer, candidate in own.items()} for grade, own in alone.items()}
    return _after(plan, steps[:count]), Tried(ratios, tuple(candidates))


def _nothing_holds(order: Order, alone: Mapping[str, Candidate]) -> ModelError:
    """Name the layer that costs most, where nothing but float32 throughout keeps the budget."""
    layer = min(alone, key=lambda name: (alone[name].snr_db, name))
    noise = alone[layer].noise
    output = max(noise, key=lambda name: (noise[name], name))
    return ModelError(
        f"no layer can be below float32 and every output keep {order.budget.min_snr_db or 0:g} dB with {HEADROOM:g} to "
        f"spare: {layer}, which costs most, alone leaves {alone[layer].snr_db:.1f} dB of '{output}'",
        where=order.model,
        hint="ask for less `min_snr_db`, calibrate with more of the real inputs, or leave this precision out",
    )


class _Step(NamedTuple):
    """A layer rises to a grade."""

    layer: str
    grade: Grade


def _after(plan: Plan, steps: Sequence[_Step]) -> Plan:
    return {**plan, **{step.layer: step.grade for step in steps}}


class _Costs:
    """What a layer costs in a grade, by what was measured of it alone: bytes, and by output its share of noise."""

    def __init__(self, ladder: Sequence[Grade], alone: Mapping[Grade, Mapping[str, Candidate]]) -> None:
        self._alone, self._lowest = alone, alone[ladder[0]]
        self.whole = max((candidate.size for own in alone.values() for candidate in own.values()), default=0)
        self.outputs = sorted({name for candidate in self._lowest.values() for name in candidate.noise})

    def size(self, layer: str, grade: Grade) -> float:
        """The bytes of the file with this layer alone in the grade; two thirds of 8 bits' gain for 16 bits."""
        if grade is Grade.FLOAT32:
            return self.whole
        if grade is Grade.WEIGHTS_FP16:
            return self.whole - (self.whole - self._lowest[layer].size) * 2 / 3
        return self._alone[grade][layer].size

    def noise(self, layer: str, grade: Grade, output: str) -> float:
        """The share of noise that this layer alone gives an output."""
        measured = self._alone.get(grade)
        return min(measured[layer].noise[output], _MOST_NOISE) if measured else 0.0


def _steps(
    grades: dict[str, Grade],
    ladder: Sequence[Grade],
    alone: Mapping[Grade, Mapping[str, Candidate]],
    *,
    per_byte: bool,
) -> Iterator[_Step]:
    """The steps up to float32 everywhere, first the one that takes most noise off the worst output, or most for a byte.

    Noise of layers adds up; the output that has most of it by then is the worst.
    """
    costs = _Costs(ladder, alone)
    loudest = {layer: max(costs.noise(layer, ladder[0], output) for output in costs.outputs) for layer in grades}
    left = {output: sum(costs.noise(layer, grades[layer], output) for layer in grades) for output in costs.outputs}
    while grades:
        worst = max(costs.outputs, key=lambda output: left[output])

        def price(step: _Step, worst: str = worst) -> float:
            now = grades[step.layer]
            gain = costs.noise(step.layer, now, worst) - costs.noise(step.layer, step.grade, worst)
            more = costs.size(step.layer, step.grade) - costs.size(step.layer, now)
            return gain / (max(more, 0.0) + _OVERHEAD) if per_byte else gain

        higher = [_Step(layer, grade) for layer, own in grades.items() for grade in ladder[ladder.index(own) + 1 :]]
        # Of equal price, as where no noise is left that was measured: the loudest layer, by the smallest step.
        best = max(higher, key=lambda step: (price(step), loudest[step.layer], -ladder.index(step.grade)))
        for output in costs.outputs:
            gain = costs.noise(best.layer, grades[best.layer], output) - costs.noise(best.layer, best.grade, output)
            left[output] -= gain
        grades[best.layer] = best.grade
        if best.grade is ladder[-1]:
            del grades[best.layer]
        yield best


def _fewest(
    plan: Plan,
    steps: Sequence[_Step],
    make: Make,
    wanted: float,
    candidates: list[Candidate],
) -> int:
    """How many of these steps it takes, the first of them, so that the budget holds; all are enough."""
    low, high, step = 0, len(steps), 1  # after `low` steps the noise is too much; `high` are enough, or all there are
    while high - low > 1:
        count = min(low + step, high - 1)
        doing(f"taking {count} of {len(steps)} steps towards float32")
        candidates.append(make(_after(plan, steps[:count])))
        if candidates[-1].holds(wanted):
            high, step = count, max(1, (count - low) // 2)
        else:
            low, step = count, step * 2
    return high


def front(candidates: Collection[Candidate]) -> list[Candidate]:
    """Those that no other beats, the smallest first."""
    best = [candidate for candidate in candidates if not any(other.beats(candidate) for other in candidates)]
    return sorted(best, key=lambda candidate: candidate.size)
