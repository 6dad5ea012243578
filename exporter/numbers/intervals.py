"""Confidence intervals for small samples: a share (Wilson), and the loss of a metric on paired rows (bootstrap)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

#: The 97.5 % quantile of the normal distribution: two-sided intervals of 95 %.
Z = 1.959964
#: How often rows are drawn anew, with a fixed seed, so that the interval repeats.
DRAWS = 2000


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson's score: it stays within 0 and 1, also for few trials and no miss."""
    share, square = hits / trials, Z * Z
    centre = share + square / (2 * trials)
    half = Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    whole = 1 + square / trials
    low, high = (centre - half) / whole, (centre + half) / whole
    return (low if hits else 0.0), (high if hits < trials else 1.0)  # the ends are exact, and rounding misses them


def bootstrap(loss: Callable[[Any], float], rows: int) -> tuple[float, float]:
    """The 95 % interval of a loss: `loss(index)` computes it on the rows drawn, the same for both sides of a pair."""
    import numpy as np

    generator = np.random.default_rng(0)
    drawn = np.array([loss(generator.integers(0, rows, rows)) for _ in range(DRAWS)])
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def paired(lost: Any, won: Any) -> tuple[float, float]:
    """The 95 % interval of a loss of share, from which rows were lost and which won.

    Wilson's bounds of both, taken together: wider than need be, and never of width zero where no row differs.
    """
    losses, wins = wilson(int(lost.sum()), len(lost)), wilson(int(won.sum()), len(won))
    return losses[0] - wins[1], losses[1] - wins[0]
