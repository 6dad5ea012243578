"""Which values count as equal, and how far two chains of steps agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exporter.steps.base import CLASSES, VALUE, State
from exporter.steps.compare import Agreement, Measure, agreement, allowed
from exporter.steps.replay import Replayed

NAN, INF = np.nan, np.inf


def unlike(wanted: Any, given: Any, tolerance: float = 0.0, **more: Any) -> str:
    return Measure(tolerance=tolerance).unlike({VALUE: np.asarray(wanted)}, {VALUE: np.asarray(given)}, **more)


def floats(*values: float, dtype: str = "float32") -> Any:
    return np.asarray(values, dtype)


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ([], []),
        ([NAN, INF, -INF, 1.0], [NAN, INF, -INF, 1.0 + 2.0**-20]),
        (floats(1, 0), floats(1 + 2.0**-18, 0)),
        (floats(0, -4), floats(4 * 2.0**-18, -4)),
        (floats(1, 0, dtype="float64"), floats(1 + 2.0**-18, 0, dtype="float64")),
        (floats(1, 0, dtype="float16"), floats(1 + 2.0**-9, 0)),
        (floats(1, 0), floats(1 + 2.0**-9, 0, dtype="float16")),
        (np.uint8([[3, 4]]), floats(3, 4 + 2.0**-17).reshape(1, 2)),
        (floats(3, 4 + 2.0**-17), np.uint8([3, 4])),
        (np.int64([2**40, 2]), np.uint64([2**40, 2])),
    ],
)
def test_numbers_within_rounding_are_equal(wanted: Any, given: Any) -> None:
    assert unlike(wanted, given) == ""


@pytest.mark.parametrize(
    ("wanted", "given", "said"),
    [
        (floats(1, 0), floats(1 + 2.0**-18 * 1.0625, 0), "by up to 4.053e-06 in 50.0% of 2 numbers"),
        (floats(1, 0, dtype="float64"), floats(1 + 2.0**-18 * 1.0625, 0, dtype="float64"), "by up to 4.053e-06"),
        (floats(1, 0, dtype="float16"), floats(1 + 1.5 * 2.0**-9, 0, dtype="float16"), "by up to 0.00293"),
        (floats(0, -4, 1, 2), floats(0, -3, 1, 4), "by up to 2 in 50.0% of 4 numbers, the largest of which is 4"),
        ([NAN, 1.0], [1.0, 1.0], "by up to inf in 50.0% of 2 numbers, the largest of which is 1"),
        ([1.0, 1.0], [NAN, 1.0], "by up to inf"),
        ([INF, 1.0], [-INF, 1.0], "by up to inf"),
        ([INF, 1.0], [2.0, 1.0], "by up to inf"),
        ([2.0, 1.0], [INF, 1.0], "by up to inf"),
        ([NAN, NAN], [NAN, 3.0], "by up to inf in 50.0% of 2 numbers, the largest of which is 0"),
        (np.uint8([[9, 7]]), np.uint8([[9, 8]]), "by up to 1 in 50.0% of 2 numbers, the largest of which is 9"),
        ([3, 4], [3, 5], "by up to 1"),
        ([True, True], [True, False], "by up to 1"),
        (floats(0, 1), floats(0, 1).reshape(2, 1), "shape [2, 1], not [2]"),
    ],
)
def test_other_numbers_are_not(wanted: Any, given: Any, said: str) -> None:
    assert unlike(wanted, given).startswith(said)


@pytest.mark.parametrize(
    ("wanted", "given", "said"),
    [
        ({CLASSES: 10}, {CLASSES: 10}, ""),
        ({CLASSES: 10}, {CLASSES: 9}, "9 classes, not 10"),
        ({CLASSES: 10}, {}, ""),
        ({}, {CLASSES: 9}, ""),
        ({CLASSES: 10, VALUE: 1}, {VALUE: 2}, "by up to 1"),
        ({CLASSES: 10, VALUE: 1}, {CLASSES: 10, VALUE: 2}, "by up to 1"),
    ],
)
def test_how_many_classes_there_are_counts_where_both_tell(
    wanted: dict[str, int], given: dict[str, int], said: str
) -> None:
    states = [{name: np.asarray(number) for name, number in state.items()} for state in (wanted, given)]
    assert Measure((CLASSES, VALUE)).unlike(*states).startswith(said)
    assert bool(Measure((CLASSES, VALUE)).unlike(*states)) == bool(said)


def test_whole_numbers_are_compared_exactly_beyond_what_float64_holds() -> None:
    """2**53 and 2**53 + 1 are one float64: hashes that stand for words are as large."""
    assert unlike([2**53, 7], [2**53 + 1, 7]).startswith("by up to 1 in 50.0% of 2 numbers")


@pytest.mark.parametrize(
    ("wanted", "given", "tolerance", "equal"),
    [
        (np.uint8([[0, 255]]), np.uint8([[1, 255]]), 1, True),
        (np.uint8([[0, 255]]), np.uint8([[2, 255]]), 1, False),
        (np.uint8([[100, 151]]), np.uint8([[101, 151]]), 5, True),
        (np.uint8([[100, 151]]), np.uint8([[101, 151]]), 4.99, False),
        (np.uint8([0, 255]), np.uint8([1, 255]), 1, False),
        (np.int32([[0, 255]]), np.int32([[1, 255]]), 1, False),
        (floats(0, 51), floats(0.195, 51), 1, True),
        (floats(0, 51), floats(0.205, 51), 1, False),
        (np.uint8([0, 51]), floats(0.195, 51), 1, True),
        (floats(0, 1), floats(2.0**-19, 1), 1e-9, True),
    ],
)
def test_a_tolerance_is_counted_in_255ths_of_the_range(wanted: Any, given: Any, tolerance: float, equal: bool) -> None:
    """Labels, tokens and texts have no neighbours, so it does not hold for them."""
    assert (unlike(wanted, given, tolerance) == "") is equal


def test_a_dtype_counts_where_it_is_asked_for() -> None:
    wanted, given = np.uint8([1, 2]), floats(1, 2)
    assert unlike(wanted, given) == ""
    assert unlike(wanted, given, dtypes=True) == "dtype float32, not uint8"
    assert unlike(wanted, wanted, dtypes=True) == ""


def test_every_name_is_compared() -> None:
    by = Measure((VALUE, "size"))
    value, size = {VALUE: floats(1)}, {"size": floats(2)}
    assert by.unlike({**value, **size}, {**value, **size}) == by.unlike(value, value) == ""
    assert by.unlike({**value, **size}, value) == "'size': missing"
    assert by.unlike(value, {**value, **size}) == "'size': too much"
    assert by.unlike({**value, **size}, {**value, "size": floats(3)}).startswith("'size': by up to 1 in 100.0%")
    assert by.unlike({}, value) == "too much"
    assert Measure().unlike({**value, **size}, value) == ""


def test_nothing_is_tolerated_that_nobody_asked_for() -> None:
    assert Measure().unlike({VALUE: np.uint8([[0, 255]])}, {VALUE: np.uint8([[1, 255]])})


RAW = 7


def states(*values: Any) -> tuple[State, ...]:
    """The raw state and one after each step; None was not recorded."""
    return tuple({} if value is None else {VALUE: np.asarray(value)} for value in (RAW, *values))


def agreed(training: list[list[Any]], deployment: list[list[Any]], error: str = "") -> tuple[int, int, bool]:
    """How far: steps of deployment, of training, whether as a whole; `error` ended the last sample."""
    ran = [Replayed(states(*values)) for values in deployment]
    ran[-1] = Replayed(ran[-1].states, error)
    reached = agreement([states(*values) for values in training], ran, Measure())
    assert reached == Agreement(reached.deployment, reached.training, reached.whole)
    return reached.deployment, reached.training, reached.whole


@pytest.mark.parametrize(
    ("training", "deployment", "reached"),
    [
        ([[1, 2]], [[1, 2]], (2, 2, True)),
        ([[1, 2]], [[2]], (1, 2, True)),
        ([[2]], [[1, 2]], (2, 1, True)),
        ([[1, 2, 3]], [[1, 5, 6]], (1, 1, False)),
        ([[1, 2, 3]], [[9, 2, 5]], (2, 2, False)),
        ([[1, 2, 3]], [[2, 5, 5]], (1, 2, False)),
        ([[1, 1, 3]], [[1, 5]], (1, 2, False)),
        ([[1, 3]], [[1, 1, 5]], (2, 1, False)),
        ([[1, 2, 3], [None, 2, 3]], [[1, 5], [8, 5]], (1, 1, False)),
        ([[None, 3], [None, 3]], [[1, 5], [1, 5]], (0, 0, False)),
        ([[1, 2], [1, 2]], [[1, 2], [4, 5]], (0, 0, False)),
        ([[1, 2], [1, 2]], [[1, 2], [1, 5]], (1, 1, False)),
        ([[RAW, 2]], [[5, 5]], (0, 0, False)),
        ([[2]], [[RAW, 5]], (0, 0, False)),
    ],
)
def test_chains_agree_up_to_the_last_values_that_both_have(
    training: list[list[Any]], deployment: list[list[Any]], reached: tuple[int, int, bool]
) -> None:
    assert agreed(training, deployment) == reached


def test_where_only_a_dtype_differs_the_dtypes_tell_the_step() -> None:
    small, large = np.float32(2), np.float64(2)
    assert agreed([[1, small, small]], [[1, large, large]]) == (1, 1, False)
    assert agreed([[small]], [[large]]) == (0, 0, False)
    assert agreed([[small, 3]], [[large, 4]]) == (1, 1, False), "the dtype is not what differs"


def test_a_chain_that_cannot_run_to_its_end_does_not_agree() -> None:
    """What its steps gave before is what training ends in."""
    assert agreed([[1, 2], [1, 2]], [[1, 2], [1, 2]], error="too small") == (2, 2, False)
    assert agreed([[1, 2], [1, 2]], [[1, 2], [1]], error="too small") == (1, 1, False)
    assert agreed([[1, 2], [1, 2]], [[1, 2], []], error="too small") == (0, 0, False)
    small, large = np.float32(2), np.float64(2)
    both = agreed([[1, small], [1, small]], [[1, large], [1, large]], error="too small")
    assert both == (2, 2, False), "a dtype between two steps is no difference"


def test_without_a_tolerance_only_rounding_is_allowed() -> None:
    assert allowed(np.float32([0, -4]), np.float32([0, 1])) == 4 * 2.0**-18
    assert allowed(np.int64([0, 4]), np.int64([0, 1])) == 0
