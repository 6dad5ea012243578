"""Few numbers: how far their largest error goes by chance, and how many independent numbers an output holds."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.numbers.allowance import ENOUGH, MOST_RUNS, allowance, chance, independent_numbers
from exporter.numbers.golden import LARGEST_ALLOWANCE

DRAWS = 200_000


@pytest.mark.parametrize(("numbers", "runs"), [(1, 3), (1, 17), (3, 5), (4, 9), (32, 3)])
def test_chance_is_exceeded_as_often_as_it_says(numbers: int, runs: int) -> None:
    """By drawing normal numbers, at a probability that can be drawn."""
    draw = np.random.default_rng(0)
    reference = np.zeros(DRAWS)
    for _ in range(runs):
        reference = np.maximum(reference, np.abs(draw.standard_normal((DRAWS, numbers))).max(1))
    more = np.abs(draw.standard_normal((DRAWS, numbers))).max(1)
    for probability in (0.1, 0.01):
        factor = chance(numbers, runs, probability)
        assert np.mean(more > factor * reference) == pytest.approx(probability, rel=0.1)


@pytest.mark.parametrize("runs", [2, 3, 5, 9, 17])
def test_more_numbers_and_more_runs_need_less(runs: int) -> None:
    found = [allowance(numbers, runs) for numbers in (1, 2, 4, 8, 16, 64, 10_000)]
    assert found == sorted(found, reverse=True) and found[-1] == 1.0
    assert all(allowance(numbers, runs) >= allowance(numbers, runs + 1) for numbers in (1, 3, 10))


def test_one_number_of_all_runs_is_allowed_less_than_twice() -> None:
    assert 1.5 < allowance(1, MOST_RUNS) < 2 < allowance(1, 3) == LARGEST_ALLOWANCE
    assert allowance(4, MOST_RUNS) <= ENOUGH


def errors(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("size", [1, 2, 4, 30, 300])
@pytest.mark.parametrize("common", [0.0, 10.0])
def test_independent_errors_are_counted(size: int, common: float) -> None:
    """As the median of many: each estimate is of three runs, which may have a large part in common."""
    found = []
    for seed in range(200):
        runs = errors(3, size, seed=seed) + common * errors(size, seed=1000 + seed)
        found.append(independent_numbers(np.arange(float(size)), list(runs)))
    assert 0.3 * size <= np.median(found) <= size


@pytest.mark.parametrize("wide", [2, 100, 1000])
def test_what_depends_on_one_number_is_one(wide: int) -> None:
    """A hundred scores of one hidden number; equal rows; a row and its negative, as of two classes."""
    of_one = [weight * errors(wide, seed=7) for weight in errors(MOST_RUNS)]
    assert independent_numbers(np.arange(float(wide)), of_one) < 1.25
    assert independent_numbers(np.arange(float(wide)), of_one[:3]) < 3, "so few that more runs are asked for"
    rows = [np.repeat(error[None], wide, 0) for error in errors(MOST_RUNS, 3)]
    assert independent_numbers(np.arange(3.0 * wide), rows) < 4
    pair = [np.stack([error, -error]) for error in errors(MOST_RUNS, 1)]
    assert independent_numbers(np.array([0.25, 0.75]), pair) < 1.25


def test_repeated_values_count_once() -> None:
    assert independent_numbers(np.repeat([1.0, 2.0], 50), list(errors(3, 100))) == 2


def test_without_any_error_the_values_are_counted() -> None:
    assert independent_numbers(np.arange(5.0), [np.zeros(5)] * 3) == 5
    assert independent_numbers(np.arange(5.0), [np.full(5, np.inf)] * 3) == 5
