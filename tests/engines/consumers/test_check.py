"""Each kind of limit: what is beyond it is told with its place, and what is within it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from packaging.requirements import Requirement

from exporter.base.errors import UsageError
from exporter.base.tensors import TensorSpec
from exporter.engines.consumers import base, check
from exporter.engines.consumers.base import Consumer, Limit, consumer_of, consumers, name_of, names
from exporter.engines.consumers.check import Finding, LayerRange
from exporter.engines.consumers.program import Place, Program, SizedValue

ADD = Place("add", "%3", "encoder.norm", "net.py:7")
PROGRAM = Program(
    frozenset(("onnx", "pir")),
    (TensorSpec("x", "float32", ("batch", 3, 8)),),
    (TensorSpec("y", "int64", ("batch", 5)),),
    17,
    {"MatMul": [Place("MatMul", "m")], "Loop": [Place("Loop", "l"), Place("Loop", "k")]},
    (SizedValue(ADD, (2, 3, 40)),),
    1000,
)
BARE = replace(PROGRAM, values=())


def limit(kind: str, **more: Any) -> Limit:
    source = {"says": "so", "source": "https://example.org/1", "date": "2026-01-31", "level": "error"}
    return Limit.model_validate({"kind": kind, **source, **more})


def told(program: Program, *limits: Limit, ranges: tuple[LayerRange, ...] = ()) -> list[tuple[str, Place | None]]:
    consumer = Consumer(about="a test", formats=("onnx",), limits=limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "consumer_of", lambda _target: consumer)
        return [(finding.what, finding.place) for finding in check.check(program, ["test"], ranges)]


@pytest.mark.parametrize(
    ("within", "beyond", "what", "place"),
    [
        (
            limit("opset", least=12, most=17),
            limit("opset", least=18, most=20),
            "opset 17; asked for are 18 to 20",
            None,
        ),
        (limit("opset", least=17), limit("opset", most=16), "asked for are at most 16", None),
        (limit("opset", most=17), limit("opset", least=18), "asked for are 18 or later", None),
        (
            limit("operator", operators=["If"]),
            limit("operator", operators=["If", "Loop"]),
            "2 × Loop",
            Place("Loop", "l"),
        ),
        (limit("rank", most=3), limit("rank", most=2), "3 dimensions, [2, 3, 40]", ADD),
        (limit("rank", most=2, operators=["pool"]), limit("rank", most=2, operators=["add"]), "3 dimensions", ADD),
        (limit("size", most=40), limit("size", most=39), "a width of 40, over 39", ADD),
        (limit("bytes", most=1000), limit("bytes", most=999), "the file has 1,000 bytes", None),
        (limit("dynamic", allowed="batch"), limit("dynamic"), "input x varies in size: batch", None),
        (limit("dtype", dtypes=["bool"]), limit("dtype", dtypes=["int64"]), "y is int64", None),
    ],
)
def test_what_is_beyond_a_limit_is_told(within: Limit, beyond: Limit, what: str, place: Place | None) -> None:
    assert told(PROGRAM, within) == []
    (found, *_) = told(PROGRAM, beyond)
    assert what in found[0] and found[1] == place


def test_of_a_program_whose_values_are_not_known_inputs_and_outputs_speak() -> None:
    assert told(BARE, limit("size", most=7)) == [("x has a width of 8, over 7", None)]
    assert told(BARE, limit("size", most=8)) == []
    assert told(BARE, limit("rank", most=2)) == [("input x has 3 dimensions", None)]
    assert told(BARE, limit("rank", most=2, operators=["add"])) == []
    assert told(replace(BARE, opset=None), limit("opset", least=99)) == []


def test_what_lies_beside_the_file_and_attention_are_told() -> None:
    kinds = (limit("external"), limit("attention"), limit("format"))
    assert told(PROGRAM, *kinds) == []
    found = told(replace(PROGRAM, external=True, attention=ADD), *kinds)
    assert found == [
        ("weights lie in a file beside the ONNX", None),
        (f"the network has attention: {ADD}", ADD),
    ]
    assert str(ADD) == "add (%3) of encoder.norm, net.py:7" and str(Place("Add", "y")) == "Add (y)"


def test_many_places_of_a_kind_are_counted() -> None:
    many = replace(PROGRAM, values=(SizedValue(ADD, (2, 3, 40)),) * (check._NAMED + 2))
    found = told(many, limit("size", most=39))
    assert len(found) == check._NAMED + 1 and found[-1] == ("2 more values like these", None)


def test_float16_reaches_from_6e_8_to_65504() -> None:
    largest = (65504.0, 65505.0, 6e-8, 5e-8, 0.0, 1.0)
    ranges = tuple(LayerRange(Place("add", str(value)), value, value) for value in largest)
    assert [layer.overflows for layer in ranges] == [False, True, False, False, False, False]
    assert [layer.vanishes for layer in ranges] == [False, False, False, True, False, False]
    found = told(PROGRAM, limit("fp16"), ranges=ranges)
    assert [place.tensor for _, place in found if place] == ["65505.0", "5e-08"]
    assert told(PROGRAM, limit("fp16")) == []


def test_a_limit_of_some_versions_holds_for_targets_of_these() -> None:
    own = limit("attention", versions="==20260113")
    assert own.holds_for(Requirement("ncnn==20260113")) and not own.holds_for(Requirement("ncnn==20250101"))
    assert not own.holds_for(Requirement("ncnn")) and own.holds_for(Requirement("ncnn>=20260101"))
    assert limit("attention").holds_for(Requirement("ncnn"))


def test_a_consumer_of_another_format_and_one_that_is_not_known_are_refused() -> None:
    with pytest.raises(UsageError, match="'rknn' reads onnx, and there is pir"):
        check.check(replace(PROGRAM, formats=frozenset(("pir",))), ["rknn"])
    with pytest.raises(UsageError, match="unknown consumer 'rkn'") as refused:
        consumer_of("rkn==2")
    assert "rknn" in refused.value.hint
    assert name_of(" opencv_dnn>=5") == "opencv-dnn" and check.consumers_in(["paddle==2.6", "rknn==2"]) == ("rknn==2",)


def test_every_limit_has_a_source_and_a_day_and_something_that_it_limits() -> None:
    assert set(names()) == set(consumers()) and len(names()) == 13
    needed = {"opset": ("least", "most"), "operator": ("operators",), "rank": ("most",), "size": ("most",)}
    needed |= {"bytes": ("most",), "dtype": ("dtypes",)}
    for consumer in consumers().values():
        assert consumer.limits and consumer.formats and consumer.about
        for own in consumer.limits:
            assert own.day.year >= 2015
            keys = needed.get(own.kind, ())
            assert not keys or any(getattr(own, key) for key in keys)
    assert set(get_args(base.Kind)) == {*check._CHECKS, "fp16"}


def test_a_finding_says_who_says_so() -> None:
    finding = Finding("rknn", "too wide", limit("size", most=3), ADD)
    assert finding.is_error and not replace(finding, limit=limit("size", level="warning")).is_error
    assert finding.to_json() == {
        **{"target": "rknn", "severity": "error", "kind": "size", "what": "too wide", "operator": "add"},
        **{"tensor": "%3", "layer": "encoder.norm", "line": "net.py:7", "limit": "so"},
        **{"source": "https://example.org/1", "date": "2026-01-31"},
    }
    assert "too wide" in str(finding) and "https://example.org/1" in str(finding)


def test_sizes_that_vary_are_refused_by_the_opencv_that_cannot_take_them_alone() -> None:
    varying = Program(frozenset(("onnx",)), [TensorSpec("ids", "int64", ("batch", "seq"))])
    levels = {
        target: {finding.limit.level for finding in check.check(varying, [target])}
        for target in ("opencv-dnn==4.10", "opencv-dnn==5.0.0", "opencv-dnn")
    }
    assert levels == {
        "opencv-dnn==4.10": {"error", "warning"},
        "opencv-dnn==5.0.0": {"warning"},
        "opencv-dnn": {"warning"},
    }
    batched = Program(frozenset(("onnx",)), [TensorSpec("x", "float32", ("batch", 3))])
    assert check.check(batched, ["opencv-dnn==4.10"]) == ()
