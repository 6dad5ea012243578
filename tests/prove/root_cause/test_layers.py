"""What a report shows of each call, on the trees of test_align."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from exporter.prove.root_cause.align import Observed, Place, Shown, Trace
from exporter.prove.root_cause.layers import layers_of
from exporter.prove.verdict.blame import CODE
from tests.prove.root_cause.test_align import CHAIN, call, observed, shown

BUDGET = 4.0


def told(source: Observed, values: dict[str, Any], call: int) -> dict[str, Any]:
    place = Place(call, 9.0, 0.5, "net.py:1", own=False)
    return {one.path: one for one in layers_of(source, Shown(source, values), place, BUDGET)}


def test_each_call_tells_its_error_and_from_where_it_reads() -> None:
    source = observed()
    wrong = {"t2": source.values["2/eager"] * 2, "t3": source.values["3/eager"] * 2, "t4": None}
    layers = told(source, shown(source, **wrong), 3)
    assert list(layers) == [".", "a", "b", "b.x", "b.y", "c"]
    assert layers["a"].ratio is not None and layers["a"].ratio <= 1 and layers["a"].size == "2 x 3"
    assert layers["b.x"].blamed and layers["b.x"].ratio == pytest.approx(1e7, rel=2) and layers["b.x"].ratio > 1e5
    assert layers["c"].ratio is not None and layers["c"].ratio > 1e5 and not layers["c"].blamed
    reads = {path: layer.reads for path, layer in layers.items()}
    assert reads == {".": (CODE,), "a": (0,), "b": (1,), "b.x": (2,), "b.y": (3,), "c": (2, 4)}
    assert [layer.parent for layer in layers.values()] == [None, 0, 0, 2, 2, 0]


def test_what_code_has_computed_between_two_calls_is_told() -> None:
    calls = (*CHAIN[:5], call("c", 0, [5], [4]))
    assert told(observed(calls, 6), shown(observed(calls, 6)), 5)["c"].reads == (CODE,)


def test_what_looks_wrong_while_its_reader_is_right_is_not_shown() -> None:
    """A convolution that was folded into its norm: what the norm puts out is nowhere like its own output."""
    source = observed()
    far = source.values["2/eager"] * 2
    assert told(source, shown(source, t2=far, t4=far), 5)["b.x"].ratio is None
    assert told(source, shown(source, t3=far, t4=far), 4)["b.y"].ratio is not None


def test_what_no_value_is_like_is_not_shown_before_the_place_and_infinite_from_it_on() -> None:
    source = observed()
    facts = {**source.facts, **{key: replace(source.facts[key], shape=(7,)) for key in (1, 4)}}
    nothing = {"truth": source.values["0/truth"].ravel()[:5], "eager": source.values["0/eager"].ravel()[:5]}
    values = {**source.values, **{f"{key}/{side}": value for key in (1, 4) for side, value in nothing.items()}}
    hollow = Observed(Trace(source.calls, facts), values)
    layers = told(hollow, {f"t{key}": source.values[f"{key}/eager"] for key in (2, 3)}, 5)
    assert layers["a"].ratio is None and layers["b.x"].ratio is not None
    assert layers["c"].ratio is not None and math.isinf(layers["c"].ratio)
