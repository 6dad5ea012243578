"""The truth by float32 runs: what they err in both norms, and what stands for float64 where it cannot run."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.base.numbers.allowance import allowance, independent_numbers
from exporter.base.numbers.golden import LARGEST_ALLOWANCE, SPREAD
from exporter.base.numbers.norms import error
from exporter.base.tensors import Array
from exporter.prove.goldens.truth import measured, measured_in_part, same_bits, unmoved


def runs(count: int, size: int = 400, spread: float = 1e-6) -> tuple[Array, list[Array]]:
    generator = np.random.default_rng(0)
    truth = generator.standard_normal(size)
    return truth, [(truth + spread * generator.standard_normal(size)).astype("float32") for _ in range(count)]


def test_e_ref_is_the_largest_error_of_any_run_in_each_norm() -> None:
    truth = np.full(8, 2.0)
    peak, broad = truth.astype("float32"), truth.astype("float32")
    peak[0] += np.float32(2**-10)
    broad += np.float32(2**-12)
    found = measured([truth.astype("float32"), peak, broad], truth, "float64")
    assert found.e_ref_max == error(truth, peak)[0] == 2**-11
    assert found.e_ref_l2 == error(truth, peak)[1] > error(truth, broad)[1]
    even = measured([truth.astype("float32"), broad, peak / peak * 2], truth, "float64")
    assert (even.e_ref_max, even.e_ref_l2) == (2**-13, 2**-13)
    assert found.value is truth and found.method == "float64"
    assert len(found.runs) == 2 and found.runs[0] is peak and found.runs[1] is broad


def test_each_norm_takes_its_own_worst_run() -> None:
    truth = np.full(100, 1.0)
    peak, broad = truth.astype("float32"), truth.astype("float32")
    peak[0] += np.float32(2**-10)
    broad += np.float32(2**-12)
    found = measured([broad, peak], truth, "float64")
    assert found.e_ref_max == 2**-10 == error(truth, peak)[0]
    assert found.e_ref_l2 == 2**-12 == error(truth, broad)[1] > error(truth, peak)[1]


def test_without_float64_the_mean_of_the_runs_is_the_truth() -> None:
    _, values = runs(3)
    found = measured(values, None, SPREAD)
    assert found.value.dtype == "float64"
    assert np.array_equal(found.value, np.mean([value.astype("float64") for value in values], axis=0))
    assert found.e_ref_max == max(error(found.value, value)[0] for value in values) > 0


def test_integers_have_no_rounding() -> None:
    labels = np.array([1, 2])
    found = measured([labels, labels + 1], np.array([9.0, 9.0]), "float64")
    assert (found.e_ref_max, found.e_ref_l2, found.method, found.runs) == (0.0, 0.0, "exact", ())
    assert found.value is labels and found.allowance == 1.0


def test_eager_alone_can_be_measured() -> None:
    truth, (value,) = runs(1)
    found = measured([value], truth, "float64")
    assert (found.e_ref_max, found.e_ref_l2) == error(truth, value) and found.runs == ()
    assert measured([np.arange(3)], None, "float64").method == "exact"


def test_few_numbers_are_allowed_more_by_how_many_they_and_the_runs_are() -> None:
    truth, values = runs(3, size=2)
    found = measured(values, truth, "float64")
    numbers = independent_numbers(values[0], [value.astype("float64") for value in values])
    assert found.allowance == allowance(numbers, 3) > 1
    assert measured(runs(3, 4000)[1], runs(3, 4000)[0], "float64").allowance == 1


def test_runs_that_nothing_moved_count_as_one() -> None:
    truth, values = runs(2, size=20)
    assert measured([values[0]] * 3, truth, "float64").allowance == allowance(20, 1) > allowance(20, 3)
    some = [values[0], values[0], values[1]]
    numbers = independent_numbers(values[0], [value.astype("float64") for value in some])
    assert measured(some, truth, "float64").allowance == allowance(numbers, 3)
    assert allowance(1, 1) == LARGEST_ALLOWANCE


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (np.array([1.0, 2.0], "float32"), True),
        (np.array([1.0, 2.0], "float64"), False),
        (np.array([[1.0, 2.0]], "float32"), False),
        (np.array([1.0, 2.5], "float32"), False),
        (np.array([1.0, 2.0], "float32").view("int32"), False),
    ],
)
def test_the_same_bits_are_of_one_dtype_and_shape(other: Array, same: bool) -> None:
    value = np.array([1.0, 2.0], "float32")
    assert same_bits(value, other) is same
    for three in ([value, value, other], [value, other, value], [value, other, other]):
        assert unmoved(three) is same


def test_signed_zeros_are_not_the_same_bits() -> None:
    assert not same_bits(np.zeros(2), -np.zeros(2))


class TestRowsWithoutAnAnswer:
    def values(self) -> tuple[Array, list[Array]]:
        truth, values = runs(3)
        return truth.reshape(20, 20), [value.reshape(20, 20) for value in values]

    def test_where_all_rows_have_one_it_is_measured_as_any_case(self) -> None:
        truth, values = self.values()
        part, whole = (how for how in (measured_in_part(values, truth, "f", "s"), measured(values, truth, "f")))
        assert np.array_equal(part.value, whole.value) and part.method == "f"
        assert (part.e_ref_max, part.e_ref_l2, part.allowance) == (whole.e_ref_max, whole.e_ref_l2, whole.allowance)

    def test_rows_that_are_not_finite_do_not_count(self) -> None:
        truth, values = self.values()
        good = measured([value[1:] for value in values], truth[1:], "f")
        for value in (truth, *values):
            value[0] = np.nan
        part = measured_in_part(values, truth, "f", "s")
        assert (part.e_ref_max, part.e_ref_l2, part.method) == (good.e_ref_max, good.e_ref_l2, "f")
        assert np.isnan(part.value[0]).all() and np.array_equal(part.value[1:], truth[1:])
        assert len(part.runs) == 2 and part.runs[0] is values[1] and part.runs[1] is values[2]

    def test_where_float64_has_no_answer_the_runs_stand_for_it(self) -> None:
        truth, values = self.values()
        truth[0, 0] = np.inf
        part, mean = measured_in_part(values, truth, "f", "s"), measured(values, None, "s")
        assert part.method == "s" and np.allclose(part.value, mean.value, rtol=0, atol=0)
        assert part.e_ref_max == mean.e_ref_max
        assert measured_in_part(values, None, "spread", "s").method == "spread"

    def test_rows_of_rounding_do_not_count_and_keep_their_truth(self) -> None:
        truth, values = self.values()
        for value in values:
            value[3] *= 1.2
        part = measured_in_part(values, truth, "f", "s")
        assert part.e_ref_max < 1e-5 and np.array_equal(part.value, truth)

    def test_which_rows_are_of_rounding_is_seen_in_eager(self) -> None:
        """A run whose weights are moved may be off there, and that is an error."""
        for at, small in ((0, True), (1, False), (2, False)):
            truth, values = self.values()
            values[at][3] *= 1.2
            assert (measured_in_part(values, truth, "f", "s").e_ref_max < 1e-5) is small

    def test_where_nothing_is_finite_nothing_is_measured(self) -> None:
        nothing = [np.full((2, 2), np.nan, "float32")] * 2
        assert not np.isfinite(measured_in_part(nothing, np.full((2, 2), np.nan), "f", "s").e_ref_max)
        labels = np.arange(4)
        assert measured_in_part([labels, labels], None, "f", "s").method == "exact"
        assert measured_in_part([labels], None, "f", "s").method == "exact", "of one run alone"

    def test_one_run_alone_is_measured_by_its_finite_rows(self) -> None:
        value = np.array([[1.0, 2.0], [np.nan, np.nan]], "float32")
        part = measured_in_part([value], value.astype("float64"), "f", "s")
        assert part.e_ref_max == 0.0 and part.value[0].tolist() == [1.0, 2.0] and np.isnan(part.value[1]).all()

    def test_whole_numbers_are_those_of_eager_and_never_a_mean(self) -> None:
        labels = np.array([[1, 2], [3, 4]])
        part = measured_in_part([labels, labels + 1], None, "f", "s")
        assert part.value.dtype == labels.dtype and part.value.tolist() == labels.tolist()

    def test_where_no_number_is_finite_all_of_it_counts(self) -> None:
        nothing = np.full((2, 2), np.nan, "float32")
        part, all_of_it = (
            how([nothing, nothing], nothing.astype("float64"), *rest)
            for how, rest in ((measured_in_part, ("f", "s")), (measured, ("f",)))
        )
        assert part.method == all_of_it.method == "f" and part.value.shape == all_of_it.value.shape
        assert measured_in_part([nothing], np.ones((2, 2)), "f", "s").value.tolist() == [[1.0, 1.0]] * 2
