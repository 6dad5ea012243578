"""Jobs: what crosses to a child and back is of the type that was agreed on, and is checked on both sides."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import ChildCrashed, ChildFailed
from exporter.process.job import NotOfType, from_json, job, job_at, to_json
from exporter.process.workers import call
from tests.command import ROOT


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    names: tuple[str, ...] = ()
    at: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    path: Path
    inner: Inner
    colour: Colour = Colour.RED
    count: int = 0
    note: str | None = None


@dataclass(frozen=True)
class Answer:
    folder: str
    total: float


@job
def summed(request: Request) -> Answer:
    return Answer(request.path.name, sum(request.inner.at.values()) + request.count)


@job
def wrong(request: Request) -> Answer:
    return {"folder": request.path.name}  # type: ignore[return-value]  # as a careless job would


@job(reuse="nothing of {path}")
def silent(request: Request) -> None:
    """Answer nothing."""


@pytest.fixture(autouse=True)
def where_children_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_a_request_and_its_answer_cross_to_a_child_as_what_they_are() -> None:
    assert call(summed, Request(Path("a/b"), Inner(("x",), {"x": 1.5}), count=2)) == Answer("b", 3.5)
    assert call(silent, Request(Path("a"), Inner())) is None
    assert silent.reuse == "nothing of {path}" and not summed.reuse


def test_an_answer_of_another_type_is_the_child_s_fault() -> None:
    with pytest.raises((ChildFailed, ChildCrashed), match=r"cannot be sent as JSON"):
        call(wrong, Request(Path("a"), Inner()))


@given(
    st.builds(
        Request,
        st.sampled_from([Path("a"), Path("/b/c")]),
        st.builds(Inner, st.lists(st.text()).map(tuple), st.dictionaries(st.text(), st.floats())),
        count=st.integers(),
        note=st.none() | st.text(),
    )
)
def test_what_is_sent_arrives_as_it_was(request: Request) -> None:
    arrived = from_json(Request, to_json(Request, request))
    assert repr(arrived) == repr(request), "NaN is not equal to itself"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"more": 1}, "more"),
        ({"count": "1"}, "count"),
        ({"count": True}, "count"),
        ({"inner": {"names": ["x"]}}, "inner.at"),
        ({"inner": {"names": ["x"], "at": {"y": "2"}}}, "inner.at.y"),
        ({"colour": "blue"}, "colour"),
        ({"path": 1}, "path"),
    ],
)
def test_what_the_type_would_not_send_is_refused_with_its_place(change: dict[str, Any], place: str) -> None:
    whole = to_json(Request, Request(Path("a"), Inner(("x",), {"y": math.inf})))
    with pytest.raises(NotOfType, match=re.escape(place)):
        from_json(Request, {**whole, **change})


@pytest.mark.parametrize("name", ["path", "inner", "colour", "note"])
def test_a_key_that_is_missing_is_no_default(name: str) -> None:
    """Both sides are of one version, and what the type would send holds each of its keys."""
    whole = to_json(Request, Request(Path("a"), Inner()))
    with pytest.raises(NotOfType, match=name):
        from_json(Request, {key: value for key, value in whole.items() if key != name})


@dataclass(frozen=True)
class Anything:
    inner: Mapping[str, Any]


@pytest.mark.parametrize("value", [math.nan, math.inf, [math.nan], {"x": (1, -math.inf)}, object()])
def test_what_no_json_has_is_refused_and_does_not_become_null(value: object) -> None:
    with pytest.raises(NotOfType, match="cannot be sent as JSON"):
        to_json(Anything, Anything({"a": value}))
    assert to_json(Anything, Anything({"a": None, "b": [1.5, None]})) == {"inner": {"a": None, "b": [1.5, None]}}


def test_only_a_job_can_be_run_in_a_child() -> None:
    assert job_at(summed.address) is summed
    with pytest.raises(LookupError, match="is no job"):
        job_at("exporter.base.errors:printable")
