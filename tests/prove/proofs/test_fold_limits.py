"""Where a fold is believed and where it is not: how near, which epsilons, how many parts. By arrays of few numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from exporter.base.tensors import Array, digest
from exporter.prove.proofs.folds import Fold, judge_folds

RNG = np.random.default_rng(2)
#: Three output channels; 1.0 and zeros are exact in float32, and the largest of each channel is not the first.
WEIGHT = np.array([[1.0, 0.0, 2.0, -0.5], [0.25, -4.0, 0.0, 1.0], [0.0, 1.0, 0.5, 8.0]], "float32")
SCALE, SHIFT, MEAN = (RNG.uniform(0.5, 2, 3).astype("float32") for _ in range(3))
VARIANCE = np.array([0.5, 1.0, 2.0], "float32")


def factor(epsilon: float, scale: Array = SCALE, variance: Array = VARIANCE) -> Array:
    return scale.astype("float64") / np.sqrt(variance.astype("float64") + epsilon)


def folded(epsilon: float = 1e-5, weight: Array = WEIGHT) -> Array:
    return (weight * factor(epsilon)[:, None]).astype("float32")


def shifted(epsilon: float = 1e-5) -> Array:
    return (SHIFT - MEAN * factor(epsilon)).astype("float32")


def judged(stored: Mapping[str, Array], parts: Sequence[Array], more: Sequence[Array] = ()) -> dict[str, Fold]:
    trained = {digest(value): value for value in (*parts, *more)}
    return judge_folds(stored, {name: [digest(value) for value in parts] for name in stored}, trained)


def of_weight(stored: Array, *parts: Array) -> Fold:
    return judged({"w": stored}, parts or (WEIGHT, SCALE, VARIANCE))["w"]


def of_bias(stored: Array, *parts: Array) -> Fold:
    return judged({"b": stored}, parts or (SHIFT, MEAN, SCALE, VARIANCE))["b"]


@pytest.mark.parametrize(("steps", "found"), [(0, Fold.PROVEN), (15, Fold.PROVEN), (17, Fold.WRONG), (40, Fold.WRONG)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_weight_may_be_off_by_some_roundings(steps: int, sign: int, found: Fold) -> None:
    """Sixteen units of 2^-24 are 2^-20; the numbers below 1 and -1 lie one such unit apart."""
    ones = np.full(3, 1.0, "float32")  # a factor of 1 with an epsilon of 0
    stored = (WEIGHT * sign).copy()
    stored[0, 0] -= np.float32(sign * steps * 2.0**-24)
    assert of_weight(stored, WEIGHT * sign, ones, ones * 1.0 + 0, np.zeros(3, "float32")) is found


@pytest.mark.parametrize(
    ("epsilon", "found"),
    [(0.0, Fold.PROVEN), (1e-5, Fold.PROVEN), (0.099, Fold.PROVEN), (0.105, Fold.WRONG), (0.5, Fold.WRONG)],
)
def test_an_epsilon_is_found_up_to_a_tenth(epsilon: float, found: Fold) -> None:
    assert of_weight(folded(epsilon)) is found


def test_a_variance_without_epsilon_is_found_however_it_was_rounded() -> None:
    """Then what is found of epsilon may be a little less than nothing, and none is taken in its place."""
    for seed in range(40):
        variance = np.random.default_rng(seed).uniform(0.5, 2, 3).astype("float32")
        stored = (WEIGHT * factor(0.0, SCALE, variance)[:, None]).astype("float32")
        bias = (SHIFT - MEAN * factor(0.0, SCALE, variance)).astype("float32")
        parts = (WEIGHT, SCALE, variance, SHIFT, MEAN)[:5]
        found = judged({"w": stored}, (WEIGHT, SCALE, variance))
        assert found == {"w": Fold.PROVEN}, seed
        trained = {digest(value): value for value in parts}
        both = judge_folds(
            {"w": stored, "b": bias},
            {"w": list(map(digest, (WEIGHT, SCALE, variance))), "b": list(map(digest, (SHIFT, MEAN, SCALE, variance)))},
            trained,
        )
        assert set(both.values()) == {Fold.PROVEN}, seed


def test_an_epsilon_may_lie_on_either_limit() -> None:
    """A tenth; and as much below zero as the rounding of the largest variance is."""
    assert of_weight(WEIGHT * 2, WEIGHT, np.ones(3), np.full(3, 0.15)) is Fold.PROVEN and 0.25 - 0.15 == 0.1
    scale = np.array([1.25, 1.5, 1.25], "float32")
    variance = (scale.astype("float64") ** 2 + np.array([2.25, 0.0, 2.5]) * 2.0**-20).astype("float32")
    assert of_weight(WEIGHT, WEIGHT, scale, variance) is Fold.PROVEN


def test_a_negative_epsilon_is_none() -> None:
    assert of_weight(folded(-0.01)) is Fold.WRONG


@pytest.mark.parametrize("change", [np.roll(WEIGHT, 1, 0), WEIGHT * 1.001, -WEIGHT, WEIGHT * 0])
def test_another_weight_is_wrong(change: Array) -> None:
    stored = folded()
    stored[1] = change[1] * factor(1e-5)[1] if change.any() else 0
    assert of_weight(stored.astype("float32")) is Fold.WRONG


def test_a_channel_that_is_silent_tells_nothing_and_the_others_do() -> None:
    """Its weights are zero, or its scale is."""
    silent = WEIGHT.copy()
    silent[1] = 0
    assert of_weight(folded(1e-5, silent), silent, SCALE, VARIANCE) is Fold.PROVEN
    off = SCALE.copy()
    off[2] = 0
    stored = (WEIGHT * factor(1e-5, off)[:, None]).astype("float32")
    assert of_weight(stored, WEIGHT, off, VARIANCE) is Fold.PROVEN
    wrong = stored.copy()
    wrong[2, 3] = 0.5
    assert of_weight(wrong, WEIGHT, off, VARIANCE) is Fold.WRONG
    nothing = np.zeros(3, "float32")
    assert of_weight(WEIGHT * 0, WEIGHT, nothing, VARIANCE) is Fold.PROVEN, "with any epsilon"
    assert of_weight(WEIGHT * 0, WEIGHT, SCALE, nothing) is Fold.PROVEN, "nobody says which of them is the scale"


def test_one_channel_that_is_off_is_wrong() -> None:
    stored = folded()
    stored[2] = stored[2] * np.float32(1.01)
    assert of_weight(stored) is Fold.WRONG


@pytest.mark.parametrize("axis", [0, 1])
def test_the_channels_lie_along_any_axis_and_a_matrix_may_be_turned(axis: int) -> None:
    stored = folded() if axis == 0 else folded().T.copy()
    assert of_weight(stored, WEIGHT, SCALE, VARIANCE) is Fold.PROVEN, "turned, where it is along the other axis"
    square = RNG.normal(size=(3, 3)).astype("float32")
    along = np.moveaxis(np.moveaxis(square, axis, 0) * factor(1e-5)[:, None], 0, axis).astype("float32")
    assert of_weight(along, square, SCALE, VARIANCE) is Fold.PROVEN
    assert of_weight(along.T.copy(), square, SCALE, VARIANCE) is Fold.PROVEN
    flat = WEIGHT.reshape(3, 2, 2)
    assert of_weight(folded().reshape(3, 4, 1), flat, SCALE, VARIANCE) is Fold.PROVEN, "digests tell no shapes apart"
    assert of_weight(folded(0.5).reshape(3, 4, 1), WEIGHT, SCALE, VARIANCE) is Fold.WRONG, "nothing else to turn"
    assert of_weight(folded().reshape(3, 2, 2).T.copy(), flat, SCALE, VARIANCE) is Fold.WRONG, "only a matrix is turned"


OTHERS = [RNG.uniform(3, 4, 3).astype("float32") for _ in range(5)]


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ((WEIGHT, SCALE, VARIANCE, SHIFT, MEAN), Fold.PROVEN),
        ((WEIGHT, SCALE, VARIANCE, SHIFT, MEAN, OTHERS[0]), Fold.UNKNOWN),
        ((WEIGHT, SCALE), Fold.UNKNOWN),
        ((SCALE, VARIANCE), Fold.UNKNOWN),
        ((WEIGHT, WEIGHT + 1, SCALE, VARIANCE), Fold.UNKNOWN),
        ((WEIGHT, np.ones((2, 3), "float32"), SCALE, VARIANCE), Fold.PROVEN),
        ((WEIGHT, np.ones(12, "float32"), SCALE, VARIANCE), Fold.PROVEN),
        ((WEIGHT, np.ones(4, "float32"), SCALE, VARIANCE), Fold.PROVEN),
        ((WEIGHT, np.float32(2.0).reshape(()), SCALE, VARIANCE), Fold.PROVEN),
    ],
)
def test_one_weight_and_two_to_four_vectors_are_tried(parts: tuple[Array, ...], found: Fold) -> None:
    assert judged({"w": folded()}, parts)["w"] is found


@pytest.mark.parametrize(
    ("epsilon", "found"), [(1e-5, Fold.PROVEN), (1e-3, Fold.PROVEN), (1e-4, Fold.UNKNOWN), (4e-3, Fold.UNKNOWN)]
)
def test_a_bias_alone_is_tried_with_the_usual_epsilons(epsilon: float, found: Fold) -> None:
    variance = np.array([0.002, 0.004, 0.003], "float32")
    stored = (SHIFT - MEAN * factor(epsilon, SCALE, variance)).astype("float32")
    assert of_bias(stored, SHIFT, MEAN, SCALE, variance) is found


@pytest.mark.parametrize("epsilon", [1e-4, 7e-3])
def test_a_bias_is_tried_with_the_epsilon_of_any_weight(epsilon: float) -> None:
    variance = np.array([0.002, 0.004, 0.003], "float32")
    stored = {
        "b": (SHIFT - MEAN * factor(epsilon, SCALE, variance)).astype("float32"),
        "w": (WEIGHT * factor(epsilon, SCALE, variance)[:, None]).astype("float32"),
    }
    parts = {"b": list(map(digest, (SHIFT, MEAN, SCALE, variance))), "w": list(map(digest, (WEIGHT, SCALE, variance)))}
    trained = {digest(value): value for value in (WEIGHT, SHIFT, MEAN, SCALE, variance)}
    assert set(judge_folds(stored, parts, trained).values()) == {Fold.PROVEN}
    wrong = {**stored, "w": stored["w"] * np.float32(1.5)}
    assert set(judge_folds(wrong, parts, trained).values()) == {Fold.WRONG, Fold.UNKNOWN}


BIAS = RNG.normal(size=3).astype("float32")


def test_a_bias_before_or_behind_the_norm_is_added() -> None:
    parts = (SHIFT, MEAN, SCALE, VARIANCE, BIAS)
    before = (SHIFT - MEAN * factor(1e-5) + BIAS * factor(1e-5)).astype("float32")
    behind = (SHIFT - MEAN * factor(1e-5) + BIAS).astype("float32")
    assert of_bias(before, *parts) is Fold.PROVEN and of_bias(behind, *parts) is Fold.PROVEN
    assert of_bias((before + BIAS).astype("float32"), *parts) is Fold.UNKNOWN
    assert of_bias(before, *parts, OTHERS[0]) is Fold.UNKNOWN, "more than a norm has"
    assert of_bias(shifted(), SHIFT, MEAN, SCALE, VARIANCE, np.ones(4, "float32")) is Fold.UNKNOWN


def test_a_vector_is_not_taken_for_a_weight_that_was_scaled() -> None:
    parts = (np.ones((3, 1), "float32"), SCALE, VARIANCE)
    assert judged({"b": OTHERS[0]}, parts) == {"b": Fold.UNKNOWN}


def test_a_matrix_is_not_taken_for_a_sum_of_biases() -> None:
    assert judged({"w": (BIAS + SHIFT).reshape(1, 3)}, (BIAS, SHIFT)) == {"w": Fold.UNKNOWN}


def test_two_biases_add_up() -> None:
    assert of_bias(BIAS + SHIFT, BIAS, SHIFT) is Fold.PROVEN
    assert of_bias(BIAS + BIAS, BIAS) is Fold.PROVEN
    assert of_bias(BIAS - SHIFT, BIAS, SHIFT) is Fold.UNKNOWN


@pytest.mark.parametrize(("share", "found"), [(0.9, Fold.PROVEN), (1.06, Fold.UNKNOWN), (1.9, Fold.UNKNOWN)])
def test_a_sum_may_be_off_by_some_roundings_of_its_parts(share: float, found: Fold) -> None:
    """They may cancel: the sum of 1 and -1 may be 2^-19."""
    first, second = np.array([1.0, 1.0, 1.0], "float32"), np.array([-1.0, 1.0, 0.5], "float32")
    stored = first + second
    stored[0] = share * 2 * 2.0**-20
    assert of_bias(stored, first, second) is found
    zero, one = np.zeros(3, "float32"), np.ones(3, "float32")
    mean = np.array([1.0, 2.0, 4.0], "float32")
    norm = mean - mean * (one / np.sqrt(np.float64(1) + 1e-5))
    norm[0] += share * 2 * 2.0**-20
    assert of_bias(norm.astype("float32"), mean, one) is found
    assert of_bias(zero, zero, zero) is Fold.PROVEN
    shift, mean, bias = (np.array(signs, "float64") for signs in ((1, -1, 1), (1, 1, -1), (-1, 1, 1)))
    three = shift - mean + bias
    three[0] += share * 3 * 2.0**-20
    assert of_bias(three, shift, mean, bias, np.ones(3), np.full(3, 1 - 1e-5)) is found


def test_a_variance_that_no_epsilon_makes_positive_is_none() -> None:
    negative = np.array([-0.5, 1.0, 2.0], "float32")
    assert of_bias(SHIFT, MEAN, negative) is Fold.UNKNOWN
    none = np.array([-1e-5, 1.0, 2.0])
    with np.errstate(divide="ignore"):
        stored = (SHIFT - MEAN * factor(1e-5, SCALE, none)).astype("float32")
    stored[0] = 7.0
    assert of_bias(stored, SHIFT, MEAN, SCALE, none) is Fold.UNKNOWN, "an infinite factor would allow any number"
    assert of_bias(shifted(), SHIFT, MEAN, SCALE, VARIANCE) is Fold.PROVEN


def test_of_a_part_that_is_not_at_hand_nothing_is_computed() -> None:
    stored, parts = {"w": folded(), "b": shifted()}, (WEIGHT, SCALE, VARIANCE, SHIFT, MEAN)
    digests = {"w": list(map(digest, parts[:3])), "b": list(map(digest, parts[1:]))}
    trained = {digest(value): value for value in parts if value is not VARIANCE}
    assert set(judge_folds(stored, digests, trained).values()) == {Fold.UNKNOWN}
    whole = judge_folds(stored, digests, {digest(value): value for value in parts})
    assert whole == {"w": Fold.PROVEN, "b": Fold.PROVEN}
    assert judge_folds({}, {}, trained) == {}
