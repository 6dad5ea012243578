"""All cases of an output taken together: an error in one direction adds up, rounding does not.

One case cannot tell an error below its budget from rounding. Many can: n independent errors of size e sum to about
e·√n, a systematic one to e·n. So the errors of all independent draws (rows that no case had before) are summed, each
in units of its case's e_ref, and the sum is divided by √n: it stays about 1 for a sound engine, however many draws
there are, and grows with √n for one that errs always the same way.

Two directions are looked into: each feature of the output by itself (a bias that is off), in both norms, and the truth
(a scale that is off). Eager's own errors are summed likewise; where they are no sum of independent ones, their sum is
the unit. It is √n at most, since no error of eager exceeds e_ref, so an error as large as a case allows fails always.
Where the middle of float32 runs stands for the truth, nobody knows what they all err alike: it is √n there (measured:
ONNX Runtime differs from MKL's AVX2 kernels in one direction by 1.4 e_ref in an attention of 25 steps).

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import above, norms, unrounded
from exporter.base.numbers.rule import Judged

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: The share of the budget that the sum may take (measured: docs/parity.md).
SHARE = 0.75
#: Rows that differ by less, relative to the size of the output, are one draw: what is computed from almost the same
#: numbers is rounded, and approximated, alike (measured on a network that hardly answers to its inputs).
ALIKE = 1e-3


class Summed(NamedTuple):
    """The errors of one case: summed over its draws by feature, in the units of both norms, and along the truth."""

    features: tuple[Array, Array] | None
    gain: float


@dataclass(frozen=True)
class Draws:
    """One output in the cases of distinct draws.

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
    def eager_sums(self) -> dict[str, Summed]:
        """The sum of each case of eager itself, and so of every engine that gives the same."""
        return {case: self.sum(case, expected.eager) for case, expected in self.outputs.items()}

    @cached_property
    def of_eager(self) -> float:
        """The combined ratio of eager itself; the largest that it can be where nobody knows it."""
        if any(expected.central for expected in self.outputs.values()):
            return math.sqrt(self.count)
        return self.ratio(list(self.eager_sums.values()))

    def sum(self, case: str, candidate: Array) -> Summed:
        """Sum the errors of one case; a candidate has the shape of what was recorded."""
        expected, fresh = self.outputs[case], self.rows[case]
        truth = np.asarray(expected.truth, dtype="float64")
        with np.errstate(invalid="ignore", over="ignore"):
            off = unrounded(truth, candidate) - truth
            if 0 in self.varying and expected.index is None:
                truth, off = truth[fresh], off[fresh]
            units = [expected.scale[norm] * max(expected.e_ref[norm], expected.floor) for norm in (0, 1)]
            draws = int(fresh.sum())
            gain = draws * float(np.sum((off / units[1]) * (truth / expected.scale[1]))) / max(truth.size, 1)
            if expected.index is not None:  # its features are not complete
                return Summed(None, gain)
            # Rows are summed; other dimensions that vary (the length of a sequence) are averaged: they may depend.
            shape = [size for axis, size in enumerate(off.shape) if axis not in self.varying]
            summed = off.mean(axis=self.varying) * draws if draws else np.zeros(shape)
            return Summed((summed / units[0], summed / units[1]), gain)

    def ratio(self, sums: Sequence[Summed]) -> float:
        """The larger of both directions; NaN where an error is."""
        root = math.sqrt(self.count)
        parts = [abs(sum(one.gain for one in sums)) / root]
        for norm in (0, 1):
            features = [one.features[norm] for one in sums if one.features is not None]
            if len(features) == len(sums):
                parts.append(norms(np.sum(features, axis=0))[norm] / root)
        return math.nan if any(math.isnan(part) for part in parts) else max(parts)


class Pooled:
    """The sums of one run, case by case."""

    def __init__(self, drawn: Mapping[str, Draws]) -> None:
        self._draws = drawn
        self._sums: dict[str, dict[str, Summed]] = {name: {} for name in self._draws}

    def add(self, case: str, got: Mapping[str, Array]) -> None:
        """Add the results of one case; what does not have its shape and dtype is not counted."""
        for name, drawn in self._draws.items():
            expected, value = drawn.outputs.get(case), got.get(name)
            if expected is None or value is None or (value.shape, value.dtype.name) != (expected.shape, expected.dtype):
                continue
            kept = expected.kept(value)
            eager = np.array_equal(kept, expected.eager)
            self._sums[name][case] = drawn.eager_sums[case] if eager else drawn.sum(case, kept)

    def judge(self, budget: float) -> dict[str, Judged]:
        """Return the judgement of each output over all its cases, by the output's name."""
        return {
            name: self._judge(drawn, list(self._sums[name].values()), budget) for name, drawn in self._draws.items()
        }

    def _judge(self, drawn: Draws, sums: Sequence[Summed], budget: float) -> Judged:
        if len(sums) < len(drawn.outputs):
            said = f"only {len(sums)} of the {len(drawn.outputs)} cases gave values to be taken together"
            return Judged("missing", said)
        ratio, outcome, reason = drawn.ratio(sums) / max(1.0, drawn.of_eager), "match", ""
        if not ratio <= SHARE * budget:  # so that NaN fails
            far, outcome = above(ratio, SHARE * budget), "mismatch"
            reason = f"{drawn.count} results err in one direction: taken together {far}, over {SHARE * budget:g}"
        elements = sum(expected.eager.size for expected in drawn.outputs.values())
        return Judged(outcome, reason, elements, {"combined_ratio": ratio})


def draws(cases: Sequence[GoldenCase]) -> dict[str, Draws]:
    """The independent draws of each float output that has two of them, among the cases that can be judged.

    Cases of one draw have related values and so related errors: of each draw the first counts.
    """
    found = {}
    for name, output in cases[0].outputs.items():
        first: dict[str, GoldenCase] = {}
        for case in cases:
            if not case.outputs[name].gate and case.outputs[name].eager.size and any(case.outputs[name].scale):
                first.setdefault(case.outputs[name].draw, case)
        outputs = {case.name: case.outputs[name] for case in first.values()}
        shapes = [one.shape for one in outputs.values()]
        if output.exact or len({len(shape) for shape in shapes}) != 1:
            continue
        varying = tuple(axis for axis in range(len(shapes[0])) if len({shape[axis] for shape in shapes}) > 1)
        candidate = Draws(outputs, _fresh(outputs, 0 in varying), varying)
        if candidate.count > 1:
            found[name] = candidate
    return found


def _fresh(outputs: Mapping[str, GoldenOutput], by_row: bool) -> dict[str, Array]:
    """Of each case, which rows no case had before: in none of those before lies every element within a unit."""
    seen: list[Array] = []
    found = {}
    for case, output in outputs.items():
        scaled = np.asarray(output.truth, dtype="float64") / (output.scale[0] * ALIKE)
        fresh = []
        for row in scaled if by_row and output.index is None else [scaled]:
            alike = (known for known in seen if known.shape == row.shape)
            fresh.append(not any(np.max(np.abs(row - known)) < 1 for known in alike))
            seen += [row] if fresh[-1] else []
        found[case] = np.array(fresh)
    return found
