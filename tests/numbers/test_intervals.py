"""The intervals of a loss."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.numbers.intervals import DRAWS, bootstrap, paired
from exporter.numbers.rule import wilson


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


def test_of_pairs_the_bounds_of_both_shares_are_taken_together() -> None:
    lost, won = np.arange(10) < 3, np.arange(10) == 9
    losses, wins = wilson(3, 10), wilson(1, 10)
    assert paired(lost, won) == (losses[0] - wins[1], losses[1] - wins[0])
    assert paired(won, lost) == (wins[0] - losses[1], wins[1] - losses[0])
