"""Of which outputs a sample is kept, at which places, and what is told of any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.sample import LEAST, SAMPLE, kept_of, other_sample, places_of, sampled, sampled_steps

MANY = SAMPLE + 1000


def described(name: str = "batch=2", shape: tuple[int, ...] = (MANY,), dtype: str = "float32") -> dict[str, Any]:
    return {"name": name, "outputs": {"y": {"shape": shape, "dtype": dtype}}}


def test_the_places_are_sorted_and_follow_from_the_seed_alone() -> None:
    places = places_of(MANY, 7)
    assert places.size == SAMPLE and places.dtype == np.int64
    assert (np.diff(places) > 0).all() and places[0] >= 0 and places[-1] < MANY
    assert np.array_equal(places, places_of(MANY, 7)) and not np.array_equal(places, places_of(MANY, 8))
    left = np.setdiff1d(np.arange(MANY), places)
    assert left.size == 1000 and 0.3 * MANY < left.mean() < 0.7 * MANY, "they lie everywhere"
    assert np.array_equal(places_of(SAMPLE, 7), np.arange(SAMPLE))


def test_the_first_places_of_a_seed_stay_what_they_are() -> None:
    """Bundles hold them, whatever the version of numpy."""
    assert SAMPLE == 65_536
    assert places_of(1 << 20, 0)[:6].tolist() == [0, 10, 15, 20, 30, 60]
    assert [int(places_of(1 << 20, seed).sum()) for seed in (7, 2**31 + 11)] == [34_364_967_893, 34_332_670_465]


def test_of_allowed_places_those_are_taken_and_no_others() -> None:
    allowed = np.arange(0, 4 * MANY, 2)
    places = places_of(4 * MANY, 3, allowed)
    assert places.size == SAMPLE and (places % 2 == 0).all()
    assert np.array_equal(places_of(100, 3, np.array([4, 9])), [4, 9])


def test_the_largest_are_sampled_until_all_fit() -> None:
    sizes = {f"c/eager/{name}": (size, size * 4) for name, size in (("a", MANY), ("b", 2 * MANY), ("few", 10))}
    sizes |= {"c/truth/b": (2 * MANY, 16 * MANY), "c/input/x": (MANY, 1000)}
    whole = sum(held for _, held in sizes.values())
    assert sampled(sizes, whole / 1e6) == []
    assert sampled(sizes, (whole - 1) / 1e6) == ["c/eager/b"]
    saved = (2 * MANY - SAMPLE) * 12
    assert sampled(sizes, (whole - saved) / 1e6) == ["c/eager/b"]
    assert sampled({"c/eager/a": (SAMPLE, SAMPLE * 4)}, 1e-9) == []
    wide = {"c/eager/a": (3 * MANY, 3 * MANY), "c/eager/b": (2 * MANY, 16 * MANY)}
    assert sampled(wide, (19 * MANY - 1) / 1e6) == ["c/eager/b"], "the largest in bytes"
    assert sampled(sizes, (whole - saved - 1) / 1e6) == sampled(sizes, 1e-9) == ["c/eager/b", "c/eager/a"]


def test_of_steps_all_large_outputs_are_sampled_alike_until_all_fit() -> None:
    large = 4 * MANY
    sizes = {f"{step}/eager/{name}": (size, size * 4) for step in "ab" for name, size in (("y", large), ("few", 1030))}
    sizes |= {f"{step}/truth/y": (large, large * 8) for step in "ab"} | {"a/input/x": (large, 1000)}
    whole, keys = sum(held for _, held in sizes.values()), ["a/eager/y", "b/eager/y"]
    assert sampled_steps(sizes, whole / 1e6) == ([], SAMPLE)
    assert sampled_steps(sizes, (whole - 1) / 1e6) == (keys, SAMPLE)
    for most in (SAMPLE, 32_768, 2048):
        due = 1000 + 2 * 1030 * 4 + 2 * (4 + 8 + 8) * (most + 1)
        assert sampled_steps(sizes, due / 1e6) == (keys, most)
        assert sampled_steps(sizes, (due - 1) / 1e6)[1] == most // 2
    exact = {"a/eager/y": (2048, 2048 * 4), "a/eager/label": (40_960, 40_960 * 8), "a/eager/few": (2200, 2200 * 4)}
    due = 2048 * 4 + 2049 * (8 + 8 + 4 + 8)
    assert sampled_steps(exact, due / 1e6) == (["a/eager/few", "a/eager/label"], 2048)
    assert sampled_steps(exact, (due - 1) / 1e6) == (["a/eager/few", "a/eager/label", "a/eager/y"], 1024)
    all_keys = [f"{step}/eager/{name}" for step in "ab" for name in ("few", "y")]
    assert sampled_steps(sizes, 1e-9) == (all_keys, LEAST) and LEAST == 1024


def test_of_steps_a_sample_is_as_large_as_all_leave_room_for() -> None:
    cases = [described(f"step={at}") for at in range(4)]
    kept = {f"step={at}/eager/y": places_of(MANY, 5, most=16_384) for at in range(4)}
    assert kept["step=0/eager/y"].size == 16_384
    megabytes = 4 * 20 * 20_000 / 1e6
    assert other_sample(0, kept, cases, megabytes, 5, steps=True) == ""
    assert other_sample(0, kept, cases, megabytes, 5).endswith(f"not the {SAMPLE} that a release takes")
    other = {**kept, "step=1/eager/y": places_of(MANY, 5)}
    assert other_sample(0, other, cases, megabytes, 5, steps=True).endswith("not the 16384 that a release takes")
    more = {"step=1/eager/y": np.sort(np.concatenate([kept["step=1/eager/y"], np.array([1, 2, 3])]))}
    assert other_sample(0, more, cases, megabytes, 5, steps=True)


def test_a_sample_that_a_release_keeps_is_none_of_another() -> None:
    kept = {"batch=2/eager/y": places_of(MANY, 5)}
    assert other_sample(0, kept, [described()], 1e-9, 5) == other_sample(0, {}, [described()], 1e-9, 5) == ""
    said = f"of 'batch=2/eager/y' {SAMPLE} of {MANY} elements are kept"
    assert other_sample(0, kept, [described()], 64.0, 5) == f"{said}, and a release keeps all of them"
    for inputs, due in ((64_000_000, True), (1000, False)):
        assert bool(other_sample(inputs, kept, [described()], 64.0, 5)) is not due
    assert other_sample(0, kept, [described()], 1e-9, 6) == f"{said}, not the {SAMPLE} that a release takes"


@pytest.mark.parametrize(("others", "fits"), [([0], True), ([0, 1], False)])
def test_one_place_more_may_be_kept_for_the_largest_error(others: list[int], fits: bool) -> None:
    places = places_of(MANY, 5)
    left = np.setdiff1d(np.arange(MANY), places)[others]
    kept = {"batch=2/eager/y": np.union1d(places, left)}
    assert (other_sample(0, kept, [described()], 1e-9, 5) == "") is fits
    without = {"batch=2/eager/y": np.union1d(places[1:], left[:1])}
    assert other_sample(0, without, [described()], 1e-9, 5), "in the place of another it is none"


@pytest.mark.parametrize("places", [[3], [], [3, 3], [5, 4]])
def test_any_other_places_are_told(places: list[int]) -> None:
    said = other_sample(0, {"batch=2/eager/y": np.array(places, "int64")}, [described()], 1e-9, 0)
    assert said.startswith(f"of 'batch=2/eager/y' {len(places)} of {MANY} elements are kept, not")
    unknown = other_sample(0, {"batch=9/eager/y": np.arange(3)}, [described()], 1e-9, 0)
    assert unknown.startswith("of 'batch=9/eager/y' 3 of 0 elements are kept")


@pytest.mark.parametrize(
    ("places", "fits"), [([3, 9], True), ([3], True), ([9, 3], False), ([3, 9, 5], False), ([3, 3], False), ([], False)]
)
def test_of_rows_without_an_answer_any_places_may_be_kept(places: list[int], fits: bool) -> None:
    case = described("batch=2:rows_of_mask")
    kept = {"batch=2:rows_of_mask/eager/y": np.array(places, "int64")}
    assert (other_sample(0, kept, [case], 1e-9, 0) == "") is fits


def test_a_truth_of_floats_counts_and_of_whole_numbers_there_is_none() -> None:
    kept, most = {"batch=2/eager/y": places_of(MANY, 0)}, MANY * 12 / 1e6
    assert other_sample(0, kept, [described()], most - 1e-6, 0) == ""
    assert "keeps all" in other_sample(0, kept, [described()], most, 0)
    assert "keeps all" in other_sample(0, kept, [described(dtype="int64")], most - 1e-6, 0)


def test_of_goldens_the_bytes_of_inputs_and_the_places_of_samples_are_found() -> None:
    held: dict[str, Any] = {
        "batch=2/input/x": np.zeros((2, 3), "float32"),
        "batch=2/input/ids": np.zeros(5, "int64"),
        "batch=2/eager/y": np.zeros(4, "float32"),
        "batch=2/index/y": np.array([1, 5, 7]),
    }
    inputs, places = kept_of(held)
    assert inputs == 2 * 3 * 4 + 5 * 8
    assert list(places) == ["batch=2/eager/y"] and places["batch=2/eager/y"].tolist() == [1, 5, 7]
