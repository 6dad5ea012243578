"""Negative controls: impostors that must fail at the very tolerance that the candidate passed.

A tolerance is evidence only if a wrong tensor would have failed at it. The impostors are zeros, the mean, the rows in
reverse order, and another case's output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from exporter.compare.golden import GoldenCase
from exporter.numbers.norms import FLOOR, ratio
from exporter.tensors import Array

#: An impostor nearer than this many budgets leaves a claim inconclusive (measured: sound networks have 82 and more).
MARGIN = 10.0
#: Rows in reverse order that lie within this error ratio of the truth are the truth: equal rows in float64 differ by
#: its own rounding, which is 1e-9 of eager's noise.
SAME = 1e-4
#: A probing case that amplifies rounding so many times more than what the spec promises does not tell right from wrong.
AMPLIFIED = 16.0
_REVERSED = "the rows reversed"


def impostors(truth: Array, stranger: Array | None, batched: bool) -> Iterator[tuple[str, Array]]:
    """Yield every impostor with its name; those that equal the truth by construction are left out.

    `stranger` is the truth of another case, of whatever shape: it is repeated or cut to fit. `batched` says that the
    first dimension counts rows.
    """
    yield "zeros", np.zeros_like(truth)
    if truth.size > 1 and truth.dtype.kind == "f":
        yield "the mean", np.full_like(truth, truth.mean())
    if batched and truth.ndim and truth.shape[0] > 1 and not np.array_equal(truth, truth[::-1]):
        yield _REVERSED, truth[::-1]
    if stranger is not None and stranger.size:
        yield "another case's output", np.resize(stranger, truth.shape)


def nearest(
    truth: Array, stranger: Array | None, batched: bool, e_ref: tuple[float, float], floor: float = FLOOR
) -> tuple[str, float]:
    """The impostor of a float output with the smallest error ratio, and that ratio.

    Equal rows are no impostor of themselves, else the case that asks for them could never be judged.
    """
    ratios = [(name, ratio(truth, impostor, e_ref, floor)) for name, impostor in impostors(truth, stranger, batched)]
    return min((one for one in ratios if one[0] != _REVERSED or not one[1] <= SAME), key=lambda one: one[1])


def indistinct(truths: list[Array]) -> str:
    """For an exact output: the impostor that would pass in every case, or an empty text.

    One case with one element proves little about integers (zero is a likely label), so all cases are judged together.
    """
    if all(not truth.any() for truth in truths):
        return "zeros"
    first = truths[0]
    if all(np.array_equal(np.resize(first, truth.shape), truth) for truth in truths[1:]) and len(truths) > 1:
        return "another case's output"
    return ""


def amplified(case: GoldenCase, plain: Sequence[GoldenCase]) -> list[str]:
    """Why a probing case tells more of the order of sums than of the artifact: a sentence for each such output.

    An image of zeros makes the maps within a network constant, and a norm divides by no variance: how the mean of equal
    numbers is rounded is then the whole output (measured: OpenVINO 9 times eager's error where e_ref was 32 times that
    of the plain cases, and half of eager's there).
    """
    reasons = []
    for name, output in case.outputs.items():
        usual = [max(one.outputs[name].unit) for one in plain if not one.outputs[name].gate]
        if not output.exact and usual and max(output.unit) > AMPLIFIED * max(usual):
            times = max(output.unit) / max(usual)
            reasons.append(f"it amplifies rounding {times:.3g} times as much as the cases that the spec promises")
    return reasons
