"""All cases of an output taken together: an error in one direction adds up, rounding does not.

One case cannot tell an error below its budget from rounding. Many can: n independent errors of size e sum to about
e·√n, a systematic one to e·n. So the errors of all independent draws (rows that no case had before) are summed, each
in units of its case's e_ref, and the sum is divided by √n: it stays about 1 for a sound engine, however many draws
there are, and grows with √n for one that errs always the same way.

Two directions are looked into: each feature of the output by itself (a bias that is off), in both norms, and the truth
(a scale that is off). Eager's own errors are summed likewise; where they are no sum of independent ones, their sum is
the unit. It is √n at most, since no error of eager exceeds e_ref, so an error as large as a case allows fails always.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exporter.compare.golden import GoldenCase, GoldenOutput
from exporter.numbers.norms import above, norms
from exporter.tensors import Array, TensorMap
from exporter.verdict.claim import Evidence, Outcome

#: The share of the budget that the sum may take (measured: docs/parity.md).
SHARE = 0.75
#: Rows that differ by less, relative to the size of the output, are one draw: what is computed from almost the same
#: numbers is rounded, and approximated, alike (measured on a network that hardly answers to its inputs).
_ALIKE = 1e-3


@dataclass(frozen=True)
class _Sum:
    """The errors of one case: summed over its draws by feature, in the units of both norms, and along the truth."""

    features: tuple[Array, Array] | None
    gain: float


@dataclass(frozen=True)
class Draws:
    """One output in the cases of distinct seeds.

    `rows` says of each case which of its rows no case had before; of an output that has no rows, or of which only a
    sample is kept, it holds the whole. `varying` are the dimensions that are not the same in all cases.
    """

    outputs: dict[str, GoldenOutput]
    rows: dict[str, Array]
    varying: tuple[int, ...]

    @cached_property
    def count(self) -> int:
        """How many there are."""
        return sum(int(fresh.sum()) for fresh in self.rows.values())

    @cached_property
    def of_eager(self) -> float:
        """The combined ratio of eager itself."""
        return self.ratio(list(self.eager_sums.values()))

    @cached_property
    def eager_sums(self) -> dict[str, _Sum]:
        """The sum of each case of eager itself, and so of every engine that gives the same."""
        return {case: self.sum(case, expected.eager) for case, expected in self.outputs.items()}

    def sum(self, case: str, candidate: Array) -> _Sum:
        """Sum the errors of one case; a candidate has the shape of what was recorded."""
        expected, fresh = self.outputs[case], self.rows[case]
        sampled, by_row = expected.index is not None, 0 in self.varying
        truth = np.asarray(expected.truth, dtype="float64")
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.asarray(candidate, dtype="float64") - truth
            if by_row and not sampled:
                truth, off = truth[fresh], off[fresh]
            floor = expected.floor
            units = [scale * max(ref, floor) for scale, ref in zip(expected.scale, expected.e_ref, strict=True)]
            draws = int(fresh.sum())
            gain = draws * float(np.sum((off / units[1]) * (truth / expected.scale[1]))) / max(truth.size, 1)
            if sampled:  # its features are not complete
                return _Sum(None, gain)
            # Rows are summed; other dimensions that vary (the length of a sequence) are averaged: they may depend.
            summed = off.mean(axis=self.varying) * draws if draws else np.zeros(_kept(off.shape, self.varying))
            return _Sum((summed / units[0], summed / units[1]), gain)

    def ratio(self, sums: Sequence[_Sum]) -> float:
        """The larger of both directions; NaN where an error is."""
        root = math.sqrt(self.count)
        parts = [abs(sum(one.gain for one in sums)) / root]
        for norm in (0, 1):
            features = [one.features[norm] for one in sums if one.features is not None]
            if len(features) == len(sums):
                parts.append(norms(np.sum(features, axis=0))[norm] / root)
        return math.nan if any(math.isnan(part) for part in parts) else max(parts)


class Together:
    """The sums of one run, case by case."""

    def __init__(self, drawn: Mapping[str, Draws]) -> None:
        self._draws = drawn
        self._sums: dict[str, dict[str, _Sum]] = {name: {} for name in self._draws}

    def add(self, case: str, got: TensorMap) -> None:
        """Add the results of one case; what does not have its shape and dtype is not counted."""
        for name, one in self._draws.items():
            expected, value = one.outputs.get(case), got.get(name)
            if expected is None or value is None:
                continue
            if value.shape == expected.shape and value.dtype.name == expected.dtype:
                kept = value if expected.index is None else value.ravel()[expected.index]
                eager = np.array_equal(kept, expected.eager)
                self._sums[name][case] = one.eager_sums[case] if eager else one.sum(case, kept)

    def judge(self, budget: float) -> Iterator[tuple[str, Evidence]]:
        """Yield the name of each output with the evidence on all its cases."""
        for name, one in self._draws.items():
            sums, wanted = self._sums[name], len(one.outputs)
            if len(sums) < wanted:
                reason = f"only {len(sums)} of the {wanted} cases gave values to be taken together"
                yield name, Evidence(Outcome.MISSING, reason, stage="run")
                continue
            ratio = one.ratio(list(sums.values())) / max(1.0, one.of_eager)
            elements = sum(expected.eager.size for expected in one.outputs.values())
            outcome, reason = Outcome.MATCH, ""
            if not ratio <= SHARE * budget:  # so that NaN fails
                outcome = Outcome.MISMATCH
                far = above(ratio, SHARE * budget)
                reason = f"{one.count} results err in one direction: taken together {far}, over {SHARE * budget:g}"
            yield name, Evidence(outcome, reason, elements=elements, metrics={"combined_ratio": ratio})


def draws(cases: Sequence[GoldenCase]) -> dict[str, Draws]:
    """The independent draws of each float output that has two of them, among the cases that can be judged.

    Cases of one seed have related values and so related errors: of each seed the first counts.
    """
    found = {}
    for name, one in cases[0].outputs.items():
        first: dict[int, GoldenCase] = {}
        for case in cases:
            if not case.outputs[name].gate and case.outputs[name].eager.size:
                first.setdefault(case.outputs[name].seed, case)
        outputs = {case.name: case.outputs[name] for case in first.values()}
        if one.exact or len({len(other.shape) for other in outputs.values()}) != 1:
            continue
        varying = _varying([other.shape for other in outputs.values()])
        candidate = Draws(outputs, _fresh(outputs, 0 in varying), varying)
        if candidate.count > 1:
            found[name] = candidate
    return found


def _fresh(outputs: dict[str, GoldenOutput], by_row: bool) -> dict[str, Array]:
    """Of each case, which rows no case had before."""
    seen: list[Array] = []
    found = {}
    for case, one in outputs.items():
        whole = one.index is not None or not by_row
        scaled = np.asarray(one.truth, dtype="float64") / (one.scale[0] * _ALIKE)
        fresh = []
        for row in [scaled] if whole else scaled:
            fresh.append(not any(_near(row, other) for other in seen))
            if fresh[-1]:
                seen.append(row)
        found[case] = np.array(fresh)
    return found


def _near(one: Array, other: Array) -> bool:
    """Whether no element differs by a whole unit."""
    return one.shape == other.shape and bool(np.max(np.abs(one - other), initial=0.0) < 1)


def _varying(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The dimensions whose size is not the same in all cases."""
    return tuple(axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1)


def _kept(shape: tuple[int, ...], varying: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for axis, size in enumerate(shape) if axis not in varying)
