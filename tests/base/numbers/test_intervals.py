"""The intervals of a loss."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.base.numbers.intervals import DRAWS, bootstrap, of_mean, paired
from exporter.base.numbers.rule import wilson


def test_rows_are_drawn_anew_two_thousand_times_and_always_the_same() -> None:
    values = np.arange(12.0) ** 2
    drawn: list[np.ndarray] = []

    def loss(index: np.ndarray) -> float:
        drawn.append(index)
        return float(values[index].mean())

    low, high = bootstrap(loss, 12)
    assert len(drawn) == DRAWS == 2000 and {index.shape for index in drawn} == {(12,)}
    assert {int(number) for index in drawn for number in index} == set(range(12))
    means = sorted(float(values[index].mean()) for index in drawn)
    assert (low, high) == (pytest.approx(np.quantile(means, 0.025)), pytest.approx(np.quantile(means, 0.975)))
    assert (low, high) == (pytest.approx(20.416666666666668), pytest.approx(64.41875)), "by the same seed everywhere"
    again = list(drawn)
    drawn.clear()
    assert bootstrap(loss, 12) == (low, high)
    assert all(np.array_equal(first, second) for first, second in zip(again, drawn, strict=True))


def test_a_mean_of_hits_has_the_interval_of_a_share_and_any_other_that_of_a_mean() -> None:
    assert of_mean(np.arange(10) < 3) == wilson(3, 10)
    assert of_mean([1.0] * 5) == wilson(5, 5) and of_mean([1.0] * 5)[0] < 1, "no miss is no proof of none"
    scores = np.array([1.0, 2.0, 4.0, 5.0])
    half = 1.959964 * np.sqrt(10 / 3) / 2
    assert of_mean(scores) == pytest.approx((3 - half, 3 + half))
    assert of_mean([0.5]) == (-np.inf, np.inf)
    assert of_mean([0.5, 0.7]) == pytest.approx((0.6 - 1.959964 * 0.1, 0.6 + 1.959964 * 0.1)), "two are enough"
    narrow = np.array([1e8, 1e8 + 8, 1e8 + 24], "float32")
    assert of_mean(narrow) == of_mean(narrow.astype("float64")), "float32 adds no such numbers"


def test_of_pairs_the_bounds_of_both_shares_are_taken_together() -> None:
    lost, won = np.arange(10) < 3, np.arange(10) == 9
    losses, wins = wilson(3, 10), wilson(1, 10)
    assert paired(lost, won) == (losses[0] - wins[1], losses[1] - wins[0])
    assert paired(won, lost) == (wins[0] - losses[1], wins[1] - losses[0])
