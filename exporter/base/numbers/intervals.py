"""Confidence intervals: of a mean; and for the loss of a metric, on rows drawn anew (bootstrap) or of paired rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exporter.base.numbers.rule import Z, wilson

#: How often rows are drawn anew, with a fixed seed, so that the interval repeats.
DRAWS = 2000


def bootstrap(loss: Callable[[Any], float], rows: int) -> tuple[float, float]:
    """The 95 % interval of a loss: `loss(index)` computes it on the rows drawn, the same for both sides of a pair."""
    import numpy as np

    generator = np.random.default_rng(0)
    drawn = np.array([loss(generator.integers(0, rows, rows)) for _ in range(DRAWS)])
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def of_mean(scores: Any) -> tuple[float, float]:
    """The 95 % interval of a mean: Wilson's where every score is 0 or 1, else by the normal distribution."""
    import numpy as np

    values = np.asarray(scores, dtype="float64")
    if set(np.unique(values)) <= {0.0, 1.0}:
        return wilson(int(values.sum()), values.size)
    half = Z * float(values.std(ddof=1)) / float(np.sqrt(values.size)) if values.size > 1 else float("inf")
    return float(values.mean()) - half, float(values.mean()) + half


def paired(lost: Any, won: Any) -> tuple[float, float]:
    """The 95 % interval of a loss of share, from which rows were lost and which won.

    Wilson's bounds of both, taken together: wider than need be, and never of width zero where no row differs.
    """
    losses, wins = wilson(int(lost.sum()), len(lost)), wilson(int(won.sum()), len(won))
    return losses[0] - wins[1], losses[1] - wins[0]
