"""What counts as rounding, and what as a fault."""

from __future__ import annotations

import math

import numpy as np
import pytest

from exporter.prove.root_cause.operators.boundary import BOUNDS, POINTS, RECORDED, moved, points
from exporter.prove.root_cause.operators.compare import distance, sensitivity

X = np.linspace(-3, 3, 41).astype("float32")


def test_the_rounding_of_the_last_place_is_no_distance_and_a_percent_is() -> None:
    exact = np.exp(X.astype("float64"))
    right = exact.astype("float32")
    near, far = np.nextafter(right, np.float32(np.inf)), right * np.float32(1.01)
    assert distance(right, exact, near) is not None and distance(right, exact, near) <= 4.0  # type: ignore[operator]
    assert distance(right, exact, far) > 1000  # type: ignore[operator]
    assert distance(right, None, near) <= 4.0 and distance(right, None, far) > 1000  # type: ignore[operator]


@pytest.mark.parametrize(
    "other", [X.astype("float64"), X[:-1], np.where(X > 2.9, np.float32(np.nan), X)], ids=["dtype", "shape", "nan"]
)
def test_what_cannot_be_compared_is_beyond_measure(other: np.ndarray) -> None:
    assert distance(X, X.astype("float64"), other) == math.inf


def test_what_is_not_finite_in_paddle_itself_tells_nothing() -> None:
    nothing = np.full(3, np.nan, "float32")
    assert distance(nothing, nothing.astype("float64"), np.zeros(3, "float32")) is None
    partly = np.array([1.0, np.inf, 2.0], "float32")
    assert distance(partly, partly.astype("float64"), np.array([1.0, 5.0, 2.0], "float32")) == 0.0


def test_integers_are_equal_or_hang_on_rounding() -> None:
    ours, exact = np.array([1, 2, 3]), np.array([1, 2, 4])
    assert distance(ours, exact, np.array([1, 2, 9])) == 0.0
    assert distance(ours, exact, np.array([1, 0, 3])) == math.inf
    assert distance(ours, exact[::-1] + 9, np.array([7, 7, 7])) is None


def test_a_sum_that_cancels_is_allowed_what_its_rounding_is_and_a_tie_is_not() -> None:
    terms = np.concatenate([X * 1e4, -X * 1e4, [1.0]]).astype("float64") / 3
    once, often = (moved(terms, 0, ulps).sum() for ulps in (1, 16))
    assert sensitivity(terms.sum(), once, often)[0] > 1e-4
    ties = np.array([0.5, 1.5, 2.5])
    jumped = [np.round(moved(ties, 0, ulps)) for ulps in (1, 16)]
    assert not np.array_equal(jumped[0], np.round(ties))
    assert sensitivity(np.round(ties), *jumped) == (0.0, 0.0)


def test_points_replace_floats_alone_and_hold_zeros_ties_and_signs() -> None:
    inputs = {3: X.reshape(1, -1), 5: np.arange(4)}
    found = dict(points(inputs))
    assert list(found) == list(POINTS) and found[RECORDED][3] is inputs[3]
    assert all(point[5] is inputs[5] and point[3].shape == (1, 41) for point in found.values())
    assert {point[3].dtype.name for point in found.values()} == {"float32"}
    assert np.signbit(found["negative zero"][3]).all() and not np.signbit(found["zero"][3]).any()
    assert {-2.5, -1.5, 0.5, 1.5, 2.5} <= set(found["halves"][3].ravel().tolist())
    assert list(dict(points({5: np.arange(4)}, [20.0]))) == [RECORDED]


def test_points_lie_at_an_operators_own_constants_and_beside_them() -> None:
    one_at_a_time = [point[3].item() for name, point in points({3: X[:1]}, [20.0, 20.0]) if name == BOUNDS]
    assert one_at_a_time == [20.0, 20.15625, 19.84375, -20.0], "no more turns than these, for one element"
    (point,) = [point[3] for name, point in points({3: X}, [20.0, 0.5]) if name == BOUNDS]
    assert {20.0, -20.0, 20.15625, 0.5, -0.5, 40.0, 1 / 40} <= {round(number, 5) for number in point.tolist()}
