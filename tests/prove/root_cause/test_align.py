"""The search by content and the descent, on trees written down by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exporter.prove.root_cause.align import (
    Observed,
    Place,
    Shown,
    SublayerCall,
    TensorFact,
    Trace,
    descend,
    loudest,
    visible,
    worst,
)

E_REF = (1e-7, 1e-7)


def call(path: str, parent: int | None, inputs: list[int], outputs: list[int]) -> SublayerCall:
    return SublayerCall(path, "Layer", f"net.py:{len(path)}", parent, tuple(inputs), tuple(outputs))


#: root( a, b( b.x, b.y ), c ): 0 -> a -> 1 -> b.x -> 2 -> b.y -> 3 -> c -> 4
CHAIN = (
    call("", None, [0], [4]),
    call("a", 0, [0], [1]),
    call("b", 0, [1], [3]),
    call("b.x", 2, [1], [2]),
    call("b.y", 2, [2], [3]),
    call("c", 0, [3], [4]),
)


def observed(calls: tuple[SublayerCall, ...] = CHAIN, keys: int = 5) -> Observed:
    generator = np.random.default_rng(0)
    values: dict[str, Any] = {}
    facts = {}
    for key in range(keys):
        truth = generator.standard_normal((2, 3))
        values[f"{key}/truth"], values[f"{key}/eager"] = truth, truth.astype("float32")
        facts[key] = TensorFact((2, 3), "float32", finite=True, e_ref=E_REF)
    return Observed(Trace(calls, facts), values)


def shown(source: Observed, **changed: Any) -> dict[str, Any]:
    """What a program shows: each value under a name of its own, some changed, those that are None left out."""
    values = {f"t{key}": source.values[f"{key}/eager"] for key in range(1, len(source.facts))}
    return {name: one for name, one in (values | changed).items() if one is not None}


def find(source: Observed, values: dict[str, Any], threshold: float = 16.0) -> Place:
    return descend(source, Shown(source, values), threshold)


def blamed(source: Observed, place: Place) -> str:
    return source.calls[place.call].path


@pytest.mark.parametrize(("first_wrong", "path"), [(1, "a"), (2, "b.x"), (3, "b.y"), (4, "c")])
def test_the_first_sublayer_after_which_all_is_wrong_is_blamed(first_wrong: int, path: str) -> None:
    source = observed()
    wrong = {f"t{key}": source.values[f"{key}/eager"] + np.float32(0.01) for key in range(first_wrong, 5)}
    place = find(source, shown(source, **wrong))
    assert blamed(source, place) == path and not place.own
    assert place.error_ratio > 1e4 and place.inputs_ratio < 4


def test_names_play_no_part() -> None:
    source = observed()
    values = shown(source, t4=source.values["4/eager"] * np.float32(1.01))
    renamed = dict(zip("vwxyz", reversed(values.values()), strict=False))
    assert blamed(source, find(source, renamed)) == "c"


def test_code_between_two_sublayers_is_the_parents_own() -> None:
    calls = (call("", None, [0], [3]), call("a", 0, [0], [1]), call("cc", 0, [2], [3]))
    source = observed(calls, keys=4)
    wrong = {f"t{key}": source.values[f"{key}/eager"] * np.float32(1.5) for key in (2, 3)}
    place = find(source, shown(source, **wrong))
    assert (blamed(source, place), place.own, place.line) == ("", True, "net.py:2")


def test_code_after_the_last_sublayer_is_the_parents_own() -> None:
    calls = (call("", None, [0], [2]), call("a", 0, [0], [1]))
    source = observed(calls, keys=3)
    place = find(source, shown(source, t2=source.values["2/eager"] * np.float32(1.5)))
    assert (blamed(source, place), place.own) == ("", True)


def test_a_value_that_is_fused_away_blames_nobody() -> None:
    source = observed()
    values = shown(source, t1=None, t4=source.values["4/eager"] * np.float32(1.01))
    assert blamed(source, find(source, values)) == "c", "b read it and came out right"


def test_values_that_a_sound_program_does_not_show_cannot_be_missed() -> None:
    source = observed()
    seen = visible(source, shown(source, t3=None), 16.0)
    assert seen == {0, 1, 2, 4}
    assert visible(source, {}, 16.0) == {0}, "inputs are always seen"


def test_not_a_number_is_as_wrong_as_can_be() -> None:
    source = observed()
    values = shown(source, t4=np.full((2, 3), np.nan, "float32"))
    place = find(source, values)
    assert blamed(source, place) == "c" and place.error_ratio > 1e5, "the nearest of other values"


def test_what_is_not_finite_in_the_source_cannot_be_judged() -> None:
    source = observed()
    facts = {**source.facts, 1: replace(source.facts[1], finite=False)}
    unsure = Observed(Trace(source.calls, facts), source.values)
    assert Shown(unsure, {})(1) is None
    assert Shown(unsure, {})(99) is None, "nor what was not recorded"
    assert worst(Shown(unsure, {}), [1]) == 0.0


def test_integers_are_equal_or_wrong() -> None:
    source = observed()
    facts = {**source.facts, 1: TensorFact((3,), "int64", finite=True, e_ref=(0.0, 0.0))}
    values = {**source.values, "1/truth": np.array([1, 2, 3]), "1/eager": np.array([1, 2, 3])}
    whole = Observed(Trace(source.calls, facts), values)
    assert Shown(whole, {"n": np.array([1, 2, 3], "int32")})(1) == 0.0
    assert Shown(whole, {"n": np.array([1, 2, 4])})(1) > 1e5
    assert Shown(whole, {"n": np.array([1.0, 2.0, 3.0])})(1) == math.inf


def test_near_the_budget_the_loudest_sublayer_is_found() -> None:
    source = observed()
    quiet = source.values["2/eager"] * np.float32(1 + 2e-5)
    place = loudest(source, Shown(source, shown(source, t2=quiet)), 16.0)
    assert place is not None and blamed(source, place) == "b.x"
    assert loudest(source, Shown(source, shown(source)), 16.0) is None
    another = source.values["2/eager"] * np.float32(3)
    unshown = Shown(source, shown(source, t2=another))
    assert loudest(source, unshown, 16.0, folded=True) is None, "folded into what reads it"
    assert loudest(source, unshown, 16.0) is not None
