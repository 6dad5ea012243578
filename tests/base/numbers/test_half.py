"""float16 is measured beyond the rounding of the answer itself: sound answers pass, and what is a step off does not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import FLOOR, FLOOR_16, error, ratio, unrounded
from exporter.base.numbers.pooled import Pooled, draws
from exporter.base.numbers.rule import judge_output, nearest
from exporter.base.tensors import Array
from tests.prove.compare.goldens import golden

RNG = np.random.default_rng(5)
#: What float16 holds exactly, as `h * 2` of a float16 input; and what it rounds, as `exp`.
TRUTHS = {
    "exact": [RNG.normal(size=(rows, 4)).astype("float16").astype("float64") * 2 for rows in (3, 2, 2, 1, 4)],
    "near the end of a binade": [RNG.uniform(1.99, 2, (2, 4)).astype("float16").astype("float64") for _ in range(4)],
    "rounded": [np.exp(RNG.normal(size=(rows, 4))) for rows in (3, 2, 2, 1, 4)],
}
SOUND: dict[str, Callable[[Array], Array]] = {
    "rounded once": lambda truth: truth.astype("float16"),
    "computed in float32": lambda truth: (truth * (1 + 1e-7 * RNG.normal(size=truth.shape))).astype("float16"),
    "with an error inside of 2⁻¹³": lambda truth: (truth * (1 + 2.0**-13)).astype("float16"),
}
WRONG: dict[str, Callable[[Array], Array]] = {
    "a thousandth more": lambda truth: (truth * 1.001).astype("float16"),
    "a step up": lambda truth: np.nextafter(truth.astype("float16"), np.float16(np.inf)),
    "a step from zero": lambda truth: np.nextafter(
        truth.astype("float16"), (np.sign(truth) * np.inf).astype("float16")
    ),
    "another sign": lambda truth: -truth.astype("float16"),
    "zeros": lambda truth: np.zeros_like(truth, "float16"),
}


def halves(truths: list[Array]) -> list[GoldenOutput]:
    return [golden(truth, eager=truth.astype("float16"), seed=at) for at, truth in enumerate(truths)]


def outcomes(truths: list[Array], made: Callable[[Array], Array]) -> set[str]:
    goldens = halves(truths)
    single = [judge_output(one, made(one.truth), 4.0, goldens, {"y": one}) for one in goldens]
    cases = [GoldenCase(str(at), {}, {"y": one}, str(at)) for at, one in enumerate(goldens)]
    together = Pooled(draws(cases))
    for case in cases:
        together.add(case.name, {"y": made(case.outputs["y"].truth)})
    return {one.outcome for one in (*single, *together.judge(4.0).values())}


@pytest.mark.parametrize("of", ["exact", "rounded"])
@pytest.mark.parametrize("made", SOUND)
def test_what_is_sound_passes(of: str, made: str) -> None:
    assert outcomes(TRUTHS[of], SOUND[made]) == {"match"}


@pytest.mark.parametrize("of", TRUTHS)
@pytest.mark.parametrize("made", WRONG)
def test_what_is_wrong_fails(of: str, made: str) -> None:
    assert "mismatch" in outcomes(TRUTHS[of], WRONG[made])


@pytest.mark.parametrize("made", WRONG)
def test_what_is_exact_and_wrong_fails_in_each_case(made: str) -> None:
    goldens = halves(TRUTHS["exact"])
    judged = [judge_output(one, WRONG[made](one.truth), 4.0, goldens, {"y": one}) for one in goldens]
    assert {one.outcome for one in judged} == {"mismatch"}


def test_a_step_off_is_over_the_budget_wherever_a_number_lies_in_its_binade() -> None:
    exact = np.arange(1024, 2048).astype("float16")
    up = np.nextafter(exact, np.float16(np.inf))
    each = [
        ratio(value.astype("float64"), step, (0.0, 0.0))
        for value, step in zip(exact[:, None], up[:, None], strict=True)
    ]
    assert min(each) > 4 and max(each) <= 8


def test_half_a_step_is_nothing_and_a_tie_is_near_to_both() -> None:
    one, next_up = np.float16(1.0), np.nextafter(np.float16(1.0), np.float16(2))
    tie = np.array([(float(one) + float(next_up)) / 2])
    for candidate in (one, next_up):
        assert error(tie, np.array([candidate])) == (0.0, 0.0)
    assert (
        unrounded(np.array([0.0]), np.array([one]))[0] == 1.0 - 2.0**-12
    )  # below a power of two steps are half as wide
    assert unrounded(np.array([2.0]), np.array([one]))[0] == 1.0 + 2.0**-11


def test_the_largest_number_rounds_what_is_beyond_it_and_infinity_is_none() -> None:
    largest = np.array([65504], "float16")
    assert unrounded(np.array([65519.0]), largest)[0] == 65519.0
    assert unrounded(np.array([70000.0]), largest)[0] == 65520.0
    assert np.isnan(error(np.array([70000.0]), np.array([np.inf], "float16"))[0])
    assert np.isnan(error(np.array([1.0]), np.array([np.nan], "float16"))[0])


def test_other_dtypes_are_measured_as_before() -> None:
    value = RNG.normal(size=8)
    assert (unrounded(value, value.astype("float32")) == value.astype("float32")).all()
    assert halves([value])[0].floor == FLOOR_16 and golden(value).floor == FLOOR
    zeros, mean = (nearest(value, None, False, (0.0, 0.0), dtype=dtype)[1] for dtype in ("float64", "float16"))
    assert zeros == pytest.approx(mean * FLOOR_16 / FLOOR, rel=1e-2)


def test_an_infinity_is_none_of_numpys_business() -> None:
    with np.errstate(all="raise"):
        nearest_to = unrounded(np.array([0.0, -1.0, np.inf]), np.array([np.inf, -np.inf, np.inf], "float16"))
    assert not np.isfinite(nearest_to).any()


def test_an_impostor_beyond_float16_is_no_warning() -> None:
    with np.errstate(over="raise"):
        name, distance = nearest(np.array([1.0, 2.0]), np.array([1e6, 1e6]), False, (0.0, 0.0), dtype="float16")
    assert name == "the mean" and np.isfinite(distance)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_candidate_is_looked_at_in_float64(dtype: str) -> None:
    """Of a truth in float32, too, as one output of an engine may be the other's."""
    truth = np.array([1.0, 3.0], "float32")
    near = unrounded(truth, np.array([1 / 3, 3.0], dtype))
    assert near.dtype == np.float64 and np.allclose(near, [1 / 3, 3.0], atol=1e-3)
