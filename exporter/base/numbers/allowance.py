"""How far few numbers may err by chance: the allowance by which the tolerance of a small output is wider.

e_ref is an estimate, the largest error of some float32 runs. Of many numbers the largest error hardly varies from run
to run; of one number it does: the largest of three runs may be a tenth of what the fourth errs. The model is that the
errors of all runs, and of a sound engine, are independent normal numbers of one spread. :func:`chance` is the factor
that such an engine exceeds with a probability of one in a million. Half of the usual budget of 4 is left to chance and
half to what makes an engine noisier than eager (clean engines with many numbers reach 2.3), so the allowance is
`chance / 2`, and never below 1.

How many independent numbers an output has is not how many elements it has: rows may be equal, and a hundred scores may
depend on one number. How the runs differ says it: independent vectors of n numbers have a squared cosine of 1/n on the
average. They are taken about their mean, since part of the rounding is the same in all runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from exporter.base.numbers.golden import LARGEST_ALLOWANCE
from exporter.base.tensors import Array

#: How often a sound engine may exceed the factor by chance, for one claim.
PROBABILITY = 1e-6
#: What of the budget is left to chance.
SHARE = 2.0
#: Runs are added until the allowance is at most so much, or there are so many.
ENOUGH, MOST_RUNS = 1.3, 17
#: Distinct values are counted in outputs up to this size; larger ones are judged by the cosines alone.
_COUNTED = 4096
#: The numbers for which the factor is worked out; what lies between takes the next lower one.
_GRID = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256)


def allowance(numbers: float, runs: int) -> float:
    """The factor on the tolerance of an output of so many independent numbers, whose e_ref is of so many runs."""
    if numbers >= _GRID[-1] and runs > 1:
        return 1.0
    lower = max(number for number in _GRID if number <= max(numbers, 1))
    return min(max(1.0, chance(lower, runs) / SHARE), LARGEST_ALLOWANCE)


@cache
def chance(numbers: float, runs: int, probability: float = PROBABILITY) -> float:
    """The factor q with P(largest error of one more run > q · largest error of all `runs`) = `probability`.

    With F the distribution of the largest of `numbers` absolute normal values, P = ∫ (1 − F(q·x)) d F(x)^runs.
    """
    edges = np.geomspace(1e-8, 12, 4000)
    inside = np.array([math.erf(edge / math.sqrt(2)) for edge in edges])
    weights, middles = np.diff(inside ** (numbers * runs)), np.sqrt(edges[1:] * edges[:-1])
    used = weights > probability * 1e-6
    weights, middles = weights[used], middles[used]

    def exceeded(factor: float) -> float:
        beyond = np.array([math.erfc(factor * middle / math.sqrt(2)) for middle in middles])
        return float(np.sum(weights * -np.expm1(numbers * np.log1p(-beyond))))

    low, high = -5.0, math.log(1e8)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeded(math.exp(middle)) > probability else (low, middle)
    return math.exp(high)


def independent_numbers(eager: Array, runs: Sequence[Array]) -> float:
    """How many independent numbers the errors of one output hold; at most how many distinct values it has.

    `runs` are float64. k of them about their mean have cosines of −1/(k − 1) on the average, which is made up for.
    """
    most = float(np.unique(eager).size if eager.size <= _COUNTED else eager.size)
    flat = np.stack([np.ravel(run) for run in runs])
    if not np.isfinite(flat).all():
        return most
    with np.errstate(over="ignore"):
        flat = flat - flat[0]  # exact between runs that are close, where the mean of float64 runs would be rounded
    scale = float(np.abs(flat).max(initial=0.0))
    if not 0.0 < scale < math.inf:
        return most
    flat = flat / scale
    flat = flat * len(flat) - flat.sum(axis=0)  # about their mean, so many times: the cosines are the same
    products = flat @ flat.T
    lengths = np.sqrt(np.diag(products))
    first, second = np.triu_indices(len(flat), 1)
    whole = (lengths[first] > 0) & (lengths[second] > 0)  # of two runs at least: about the mean they add up to zero
    first, second = first[whole], second[whole]
    cosines = products[first, second] / (lengths[first] * lengths[second])
    square = float(np.mean(np.square((cosines * (len(flat) - 1) + 1) / len(flat))))
    return most if most * square <= 1.0 else 1.0 / square
