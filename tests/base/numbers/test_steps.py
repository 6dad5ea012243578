"""The steps of a decoder as numbers: in which groups they are read, which is told of, and what an empty cache gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.norms import ratio
from exporter.base.numbers.rule import MARGIN
from exporter.base.numbers.steps import doubt_of_cache, first_off, grouped_steps, with_cache
from exporter.base.tensors import Array
from tests.prove.compare.goldens import golden


def truth(seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal((4, 5))


def test_steps_are_read_without_their_cache_and_the_last_one_with_it() -> None:
    said = [{"name": name, "outputs": {"y": {"of": name}, "key": {}}} for name in ("0", "1", "1:emptied")]
    plain, ends, emptied = grouped_steps(said, ["key"])
    assert plain == [{"name": name, "outputs": {"y": {"of": name}}} for name in ("0", "1")]
    assert ends == [{"name": "1", "outputs": {"key": {}}}] and emptied == said[2:]
    first, last = (GoldenCase(name, {"n": 4}, {"y": golden(truth(1))}, name) for name in ("0", "1"))
    key = GoldenCase("1", {"n": 4}, {"key": golden(truth(2))}, "1")
    read = with_cache([first, last], key)
    assert read[0] is first and list(read[1].outputs) == ["y", "key"] and read[1].name == "1"


@pytest.mark.parametrize(
    ("outcomes", "first"),
    [
        (["match", "match"], None),
        (["match", "mismatch", "crashed"], 1),
        (["vacuous", "match", "mismatch"], 2),
        (["inconclusive", "vacuous"], 0),
        ([], None),
    ],
)
def test_a_step_that_shows_a_fault_is_told_of_before_one_in_doubt(outcomes: list[str], first: int | None) -> None:
    assert first_off(outcomes) == first


def test_what_an_empty_cache_may_give_ends_where_the_budget_does() -> None:
    last, near = golden(truth(2)), golden(truth(4))
    distance = ratio(last.truth, near.truth, last.unit, last.floor)
    (at, _), (above, _) = (doubt_of_cache(last, near, budget) or (None, "") for budget in (distance, distance / 2))
    assert (at, above) == ("vacuous", "inconclusive")
    tenth = distance / MARGIN
    assert MARGIN * tenth == distance, "as the seed has it, so that the bound itself is met"
    doubt = doubt_of_cache(last, near, tenth)
    assert doubt is not None and doubt[0] == "inconclusive"
    assert doubt_of_cache(last, near, tenth * 0.999) is None
    assert doubt_of_cache(replace(last, gate="no answer"), last, 4.0) is None, "what nothing judges is not doubted"


def sampled(of: GoldenOutput, *places: int) -> GoldenOutput:
    index = np.array(places)
    return replace(of, index=index, truth=of.truth.ravel()[index], eager=of.eager.ravel()[index])


def test_of_samples_the_places_of_both_are_compared() -> None:
    last, other = golden(truth(2)), golden(truth(3))
    like_last = replace(other, truth=np.where(np.arange(20).reshape(4, 5) < 5, last.truth, other.truth))
    assert (
        doubt_of_cache(sampled(last, 1, 2, 7), sampled(like_last, 1, 2, 9), 4.0) is not None
    )  # those of both are alike
    assert doubt_of_cache(sampled(last, 1, 7, 9), sampled(like_last, 1, 7, 8), 4.0) is None
    assert doubt_of_cache(last, sampled(like_last, 1, 2), 4.0) is not None
    assert doubt_of_cache(sampled(last, 7, 8), like_last, 4.0) is None


def test_ids_may_be_those_of_an_empty_cache() -> None:
    ids = golden(np.array([1, 2, 1]))
    assert doubt_of_cache(ids, ids, 4.0) is None
