from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from exporter.base.numbers.metrics.base import Metric
from exporter.base.numbers.norms import FLOOR, SMALLEST_SCALE, energies, error, norms, ratio
from exporter.base.numbers.rule import impostors, nearest
from exporter.base.registry import Registry
from exporter.base.tensors import Array

NUMBERS = arrays.arrays("float64", st.integers(1, 12), elements=st.floats(-1e300, 1e300))
SINGLES = arrays.arrays("float32", 6, elements=st.floats(width=32, allow_nan=False, allow_infinity=False))
METRICS = dict(Registry[Metric]("exporter.base.numbers.metrics", "metric").all())


@given(NUMBERS)
def test_norms_are_the_largest_and_the_root_mean_square_and_never_overflow(value: Array) -> None:
    largest, square = norms(value)
    assert largest == np.abs(value).max() and math.isfinite(square)
    assert largest / math.sqrt(value.size) * 0.999999 <= square <= largest * 1.000001


@given(NUMBERS, st.integers(0, 11), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_ratio_with_a_number_that_is_none_is_within_no_budget(truth: Array, place: int, value: float) -> None:
    candidate = truth.copy()
    candidate[place % truth.size] = value
    assert not ratio(truth, candidate, (1e-7, 1e-7)) <= 1e9


@given(NUMBERS)
def test_what_is_equal_has_no_error_and_zeros_have_the_whole(truth: Array) -> None:
    assert error(truth, truth) == (0.0, 0.0)
    if truth.any():
        assert error(truth, np.zeros_like(truth)) == (1.0, 1.0)


def test_where_the_truth_is_zero_any_difference_is_infinite() -> None:
    assert error(np.zeros(3), np.array([0, 0, 5e-324])) == (math.inf, math.inf)
    assert not ratio(np.zeros(3), np.array([0.0, 0, 1e-30]), (1.0, 1.0)) <= 4


@pytest.mark.parametrize("bad", [(math.nan, 1e-7), (1e-7, math.nan)])
def test_a_reference_error_that_is_no_number_excuses_nothing(bad: tuple[float, float]) -> None:
    assert not ratio(np.ones(3), np.ones(3) * 1.5, bad) <= 4
    assert ratio(np.ones(3), np.ones(3) * (1 + 4e-7), (1e-7, 1e-7)) == pytest.approx(4 * 1e-7 / FLOOR, rel=1e-3)
    assert math.isnan(ratio(np.ones(3), np.ones(3) * (1 + 4e-7), bad)), "the other norm is within the budget"


def test_norms_and_errors_are_computed_in_float64() -> None:
    narrow = np.array([-128, 127], "int8")
    assert norms(narrow) == norms(narrow.astype("float64")) and norms(narrow)[0] == 128
    third = np.array([1.0, 1 / 3], "float16")
    assert norms(third) == norms(third.astype("float64"))
    assert error(np.array([2], "uint8"), np.array([1], "uint8")) == (0.5, 0.5)
    assert error(np.array([1e308]), np.array([-1e308]))[0] == math.inf
    assert energies(np.array([3], "uint8"), np.array([1], "uint8")) == (9.0, 4.0)
    assert SMALLEST_SCALE == 2.0**-102


def test_no_reference_error_is_smaller_than_the_floor() -> None:
    assert ratio(np.ones(4), np.ones(4) + FLOOR, (0.0, 0.0)) == pytest.approx(1.0)


def test_beside_a_real_error_zero_over_zero_does_not_count() -> None:
    truth, candidate = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.5])
    assert METRICS["max_rel"](truth, candidate) == 0.25
    assert ratio(truth, candidate, (1e-7, 1e-7)) > 1e5


@given(arrays.arrays("float64", (3, 4), elements=st.floats(-1e6, 1e6)))
def test_no_impostor_equals_the_truth_unless_the_output_says_nothing(truth: Array) -> None:
    for name, impostor in impostors(truth, None, batched=True):
        assert impostor.shape == truth.shape
        if np.array_equal(impostor, truth):
            assert name in ("zeros", "the mean") and np.ptp(truth) == 0, "only a constant is its own mean"


def test_the_nearest_impostor_is_named() -> None:
    truth = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-9]])
    assert nearest(truth, None, False, (1e-7, 1e-7)) == ("the mean", pytest.approx(0.0, abs=0.1))
    name, distance = nearest(np.array([[1.0], [2.0], [3.0]]), np.array([[2.0], [2.0], [3.0]]), True, (1e-7, 1e-7))
    assert name == "another case's output" and distance > 1e5


def test_equal_rows_that_float64_rounded_apart_are_no_impostor_of_themselves() -> None:
    rows = np.array([[1.0, 2.0, 4.0], [1.0, 2.0, np.nextafter(4.0, 5.0)]])
    assert "the rows reversed" in [name for name, _ in impostors(rows, None, batched=True)]
    assert nearest(rows, None, True, (1e-7, 1e-7))[0] == "the mean"
    unlike = np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 4.000001]])
    assert nearest(unlike, None, True, (1e-7, 1e-7)) == ("the rows reversed", pytest.approx(1.05, abs=0.05))


@pytest.mark.parametrize("name", sorted(METRICS))
class TestEveryMetric:
    @given(SINGLES)
    def test_it_knows_what_is_equal(self, name: str, value: Array) -> None:
        assert METRICS[name](value, value) == pytest.approx(1.0 if name == "cosine" else 0.0, abs=1e-12)

    @given(SINGLES, SINGLES)
    def test_it_sees_what_differs(self, name: str, one: Array, other: Array) -> None:
        found = METRICS[name](one, other)
        assert isinstance(found, float) and not math.isnan(found)
        if name != "cosine":
            assert (found > 0) == (not np.array_equal(one, other))
        else:
            assert -1.000001 <= found <= 1.000001

    def test_it_takes_whatever_an_output_can_be(self, name: str) -> None:
        for dtype in ("float16", "float32", "float64", "int8", "int64", "uint8", "bool"):
            for shape in ((), (1,), (2, 3)):
                one = np.ones(shape, dtype)
                assert METRICS[name](one, np.zeros(shape, dtype)) >= (0 if name == "cosine" else 1)


def test_ulps_are_counted_across_zero() -> None:
    tiny = np.nextafter(np.float32(0), np.float32(1))
    assert METRICS["max_ulp"](np.array([-tiny]), np.array([tiny])) == 2
    one = np.array([1.0], "float32")
    assert METRICS["max_ulp"](one, np.nextafter(one, np.float32(2))) == 1
