"""Each metric by numbers that can be worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.metrics.base import Metric
from exporter.base.numbers.norms import above, decibel, energies, error, norms
from exporter.base.registry import Registry

METRICS = dict(Registry[Metric]("exporter.base.numbers.metrics", "metric").all())


@pytest.mark.parametrize(
    ("name", "reference", "candidate", "expected"),
    [
        ("cosine", [3.0, 4.0], [4.0, 3.0], 24 / 25),
        ("cosine", [3.0, 4.0], [-30.0, -40.0], -1.0),
        ("cosine", [1.0, 0.0], [1.0, 1.0], math.sqrt(0.5)),
        ("cosine", [1.0, 1.0], [1.0, 0.0], math.sqrt(0.5)),
        ("cosine", [3e300, 4e300], [4e-300, 3e-300], 24 / 25),
        ("cosine", [0.0, 0.0], [0.0, 0.0], 1.0),
        ("cosine", [0.0, 0.0], [1.0, 0.0], 0.0),
        ("cosine", [1.0, 0.0], [0.0, 0.0], 0.0),
        ("cosine", [], [], 1.0),
        ("max_abs", [1.0, -5.0], [1.25, -5.125], 0.25),
        ("max_abs", [1.0, -5.0], [2.0, 3.0], 8.0),
        ("max_abs", [], [], 0.0),
        ("max_rel", [2.0, -4.0, 0.0], [1.5, -4.5, 0.0], 0.25),
        ("max_rel", [2.0, 0.0], [2.0, 1e-30], math.inf),
        ("max_rel", [], [], 0.0),
        ("max_ulp", [1.0, -1.0], [1.0 + 2.0**-51, -1.0], 2.0),
        ("max_ulp", [], [], 0.0),
    ],
)
def test_it_is_what_it_is_called(name: str, reference: list[float], candidate: list[float], expected: float) -> None:
    assert METRICS[name](np.array(reference), np.array(candidate)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("dtype", "epsilon"), [("float16", 2.0**-10), ("float32", 2.0**-23), ("float64", 2.0**-52)])
def test_units_in_the_last_place_are_those_of_the_candidate(dtype: str, epsilon: float) -> None:
    one = np.array([1.0, -1.0], dtype)
    assert METRICS["max_ulp"](one, one + np.array([3 * epsilon, 0], dtype)) == 3
    assert METRICS["max_ulp"](one, one - np.array([0, 2 * epsilon], dtype)) == 2
    assert METRICS["max_ulp"](one.astype("float64"), one) == 0
    across = np.array([0.0], dtype)
    tiny = np.nextafter(across, np.ones(1, dtype))
    assert METRICS["max_ulp"](-tiny, tiny * 2) == 3 and METRICS["max_ulp"](across, -across) == 0


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool"])
def test_whole_numbers_differ_by_their_difference(dtype: str) -> None:
    ones, zeros = np.ones(2, dtype), np.zeros(2, dtype)
    assert METRICS["max_ulp"](ones, zeros) == METRICS["max_abs"](zeros, ones) == 1.0
    assert METRICS["max_ulp"](ones, ones) == 0.0


def test_whole_numbers_are_not_taken_for_the_bits_of_floats() -> None:
    assert METRICS["max_ulp"](np.array([200], "uint8"), np.array([100], "uint8")) == 100.0
    assert METRICS["max_ulp"](np.zeros(0, int), np.zeros(0, int)) == 0.0


def test_what_is_wider_is_rounded_to_float64_first() -> None:
    one, off = np.array([1.0]), np.array([1.0], "longdouble") + np.longdouble(2) ** -60
    for name in ("max_abs", "max_rel"):
        assert METRICS[name](one, off) == METRICS[name](off, one) == 0.0


def test_a_cosine_is_computed_in_float64() -> None:
    one = np.array([1.0, 2.0**-10], "float16")
    assert METRICS["cosine"](one, one * np.array([1, -1], "float16")) == pytest.approx(1 - 2.0**-19, abs=1e-11)


def test_numbers_wider_than_float64_differ_by_their_difference() -> None:
    wide = np.array([1.0], "longdouble")
    assert METRICS["max_ulp"](wide, wide + 0.5) == 0.5


@pytest.mark.parametrize(
    ("number", "limit", "said"),
    [
        (4.0012, 4.0, "4.001"),
        (17.26, 4.0, "17.3"),
        (4.000000000000001, 4.0, "4.000000000000001"),
        (0.30000000000000004, 0.3, "0.30000000000000004"),
        (math.nan, 4.0, "nan"),
        (math.inf, 4.0, "inf"),
    ],
)
def test_a_number_over_a_limit_is_told_so_that_it_shows(number: float, limit: float, said: str) -> None:
    assert above(number, limit) == said


@pytest.mark.parametrize(
    ("signal", "noise", "expected"),
    [
        *((100.0, 1.0, 20.0), (1.0, 100.0, -20.0), (1.0, 1e-30, 200.0), (1.0, 0.0, 200.0), (0.0, 0.0, 0.0)),
        *((0.0, 1.0, -200.0), (1e-300, 1e-290, -100.0)),
    ],
)
def test_decibels(signal: float, noise: float, expected: float) -> None:
    assert decibel(signal, noise) == pytest.approx(expected)
    assert math.isnan(decibel(math.nan, noise)) and math.isnan(decibel(signal, math.nan))


def test_an_error_beyond_all_measure_has_a_ratio_too() -> None:
    """The energy of an answer of 1e200 is infinite."""
    assert decibel(1.0, math.inf) == decibel(1e-300, 1e300) == decibel(1.0, 1e30) == -200.0
    assert decibel(1.0, 1e19) == pytest.approx(-190)


def test_energies_are_sums_of_squares_in_float64() -> None:
    assert energies(np.array([3.0, 4.0]), np.array([3.0, 6.0], "float32")) == (25.0, 4.0)
    large: Any = np.full(2, 6e4, "float16")
    assert energies(large, large * 0) == (2 * float(large[0]) ** 2, 2 * float(large[0]) ** 2)


def test_norms_of_nothing_of_zeros_and_of_what_is_not_finite() -> None:
    assert norms(np.zeros(0)) == norms(np.zeros(3)) == (0.0, 0.0)
    assert norms(np.array([1.0, -np.inf])) == (math.inf, math.inf)
    assert all(math.isnan(number) for number in norms(np.array([1.0, np.nan])))
    assert norms(np.array([3, -4, 0, 0])) == (4.0, 2.5)


def test_an_error_is_relative_to_the_whole() -> None:
    largest, square = error(np.array([3.0, -4.0, 0.0, 0.0]), np.array([3.0, -4.0, 2.0, 0.0]))
    assert (largest, square) == (0.5, 0.4)
    assert error(np.zeros(2), np.zeros(2)) == (0.0, 0.0)
    assert error(np.zeros(2), np.array([0.0, 1.0])) == (math.inf, math.inf)
    assert all(map(math.isnan, error(np.array([np.inf, 1.0]), np.array([np.inf, 1.0]))))
