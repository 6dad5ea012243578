"""Few numbers: how far their largest error goes by chance, and how many independent numbers an output holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from exporter.base.numbers.allowance import (
    ENOUGH,
    MOST_RUNS,
    PROBABILITY,
    SHARE,
    allowance,
    chance,
    independent_numbers,
)
from exporter.base.numbers.golden import LARGEST_ALLOWANCE

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


@pytest.mark.parametrize("probability", [0.5, 1e-2, 1e-4, PROBABILITY])
def test_of_one_number_and_one_run_the_chance_is_known(probability: float) -> None:
    """The quotient of two normal numbers is Cauchy's: beyond q lie 2/π · atan(1/q)."""
    assert chance(1, 1, probability) == pytest.approx(1 / math.tan(math.pi * probability / 2), rel=1e-2)


#: The numbers for which the factor is worked out, each with runs that leave it between 1 and its limit.
GRID = [(number, 9) for number in (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)]
GRID += [(number, 1) for number in (48, 64, 96, 128, 192)]


@pytest.mark.parametrize(("number", "runs"), GRID)
def test_what_lies_between_two_of_the_grid_takes_the_lower(number: float, runs: int) -> None:
    factor = chance(number, runs) / 2
    assert SHARE == 2 and 1 < factor < LARGEST_ALLOWANCE
    assert allowance(number, runs) == allowance(number * 1.01, runs) == factor
    if number > 1:
        assert allowance(number * 0.99, runs) > factor


def test_many_numbers_have_no_allowance_and_of_one_run_they_have() -> None:
    assert allowance(256, 2) == allowance(1e9, 2) == 1.0 < allowance(255, 2)
    assert allowance(256, 1) == allowance(1e6, 1) == chance(256, 1) / 2 > 1
    assert allowance(0.0, 9) == allowance(1, 9), "fewer than one are one"


@pytest.mark.parametrize("runs", [2, 3, 5, 9, 17])
def test_more_numbers_and_more_runs_need_less(runs: int) -> None:
    found = [allowance(numbers, runs) for numbers in (1, 2, 4, 8, 16, 64, 10_000)]
    assert found == sorted(found, reverse=True) and found[-1] == 1.0
    assert all(allowance(numbers, runs) >= allowance(numbers, runs + 1) for numbers in (1, 3, 10))


def test_one_number_of_all_runs_is_allowed_less_than_twice() -> None:
    assert (ENOUGH, MOST_RUNS) == (1.3, 17)
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
    assert independent_numbers(np.arange(5.0), [np.array([0.0, np.inf, 0, 0, 0]), np.zeros(5), np.ones(5)]) == 5
    assert independent_numbers(np.arange(5.0), [np.full(5, sign * 1.7e308) for sign in (1, -1, -1)]) == 5
    assert independent_numbers(np.zeros(0), [np.zeros(0)] * 3) == 0


@pytest.mark.parametrize(("size", "most"), [(4096, 7), (4097, 4097)])
def test_distinct_values_are_counted_up_to_a_size(size: int, most: int) -> None:
    """Without errors to look at, what is too large to count counts whole."""
    assert independent_numbers(np.arange(size) % 7.0, [np.zeros(size)] * 3) == most


def test_the_cosines_of_the_errors_say_how_many_there_are() -> None:
    """k runs about their mean have cosines of -1/(k - 1) by chance, which is made up for: (c · (k - 1) + 1) / k."""
    values = np.arange(50.0)
    line = np.zeros((3, 50))
    line[:, 7] = (1.0, 2.0, 6.0)  # about their mean -2, -1 and 3: one cosine of 1, two of -1
    expected = 3 / (1 + 2 * (1 / 3) ** 2)
    for runs in (line, line * 1e200, line * 1e-200, line + 1e3, -line):
        assert independent_numbers(values, list(runs)) == pytest.approx(expected)
    assert independent_numbers(values % 2, list(line)) == 2 < expected, "no more than there are values"
    plane = np.zeros((3, 50))
    plane[:, 3], plane[:, 9] = (2.0, -1.0, -1.0), (0.0, math.sqrt(3), -math.sqrt(3))
    assert independent_numbers(values, list(plane)) == 50, "as unlike as three can be: all values count"
    still = [errors(50), -errors(50), np.zeros(50)]
    for order in (still, still[::-1]):
        assert independent_numbers(values, order) == pytest.approx(9), "one that lies at the mean has no direction"
    assert independent_numbers(values, still[:2]) == 50


def test_float64_runs_that_differ_in_the_last_place_are_told_apart() -> None:
    """The mean of 1, 1 and 1 + eps is rounded to 1, which would leave one error alone, and no pair to compare."""
    value, beyond = np.ones(1), np.full(1, np.nextafter(1.0, 2.0))
    values = np.arange(50.0) + 1
    for runs in ([value, value, beyond], [beyond, value, value], [value, beyond, value, value]):
        assert independent_numbers(value, runs) == 1
    for wide in (values, values * 1e300, values * 1e-300):
        moved = wide.copy()
        moved[7] = np.nextafter(moved[7], np.inf)
        # About their mean -1, -1 and 2 thirds of it: one cosine of 1 and two of -1.
        assert independent_numbers(values, [wide, wide, moved]) == pytest.approx(3 / (1 + 2 * (1 / 3) ** 2))


#: As measured on 2026-11-22; (1, 1) lies within a hundredth of Cauchy's 636,619.8.
FACTORS = {
    (1, 1): 631593.8186267578,
    (1, 3): 93.23005785842236,
    (1, 17): 3.9218726742324517,
    (2.5, 5): 5.313077741694391,
    (4, 9): 3.0190911269666736,
    (12, 3): 3.2074146696005403,
    (32, 2): 2.7940822922271957,
    (256, 1): 2.273235306457687,
}


def test_the_factors_are_the_same_everywhere() -> None:
    """A verdict depends on them: to the step of the bisection, not about."""
    for (numbers, runs), factor in FACTORS.items():
        assert chance(numbers, runs) == pytest.approx(factor, rel=1e-10), (numbers, runs)
