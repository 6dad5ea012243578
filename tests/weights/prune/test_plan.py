"""A plan goes through JSON unchanged, lies in a checkpoint's header, and is refused where it is damaged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.base.tensors import save
from exporter.export.trace.pruned import KEY, Plan, plan_in, read_plan

INDICES = st.sets(st.integers(0, 99), min_size=1).map(lambda found: tuple(sorted(found)))
PLANS = st.builds(
    Plan,
    st.dictionaries(st.text(max_size=9), st.dictionaries(st.integers(0, 4), INDICES, min_size=1)),
    st.dictionaries(st.text(max_size=9), st.dictionaries(st.sampled_from(["_groups", "_num_groups"]), st.integers(1))),
)
GOOD = {"schema": 1, "kept": {"a.weight": {"0": [0, 2]}}, "attributes": {"a": {"_groups": 2}}, "about": {}}


@given(PLANS)
def test_a_plan_goes_through_json(plan: Plan) -> None:
    again = read_plan(json.dumps(plan.to_json()), "")
    assert again == plan and again.digest == plan.digest


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", 2),
        ("kept", []),
        ("kept", {"a": {"0": []}}),
        ("kept", {"a": {"0": [2, 2]}}),
        ("kept", {"a": {"0": [-1, 2]}}),
        ("kept", {"a": {"0": [0.5]}}),
        ("kept", {"a": {"x": [1]}}),
        ("attributes", {"a": {"forward": 1}}),
        ("attributes", {"a": {"_groups": 0}}),
        ("attributes", {"a": {"_groups": True}}),
        ("about", 3),
    ],
)
def test_a_damaged_plan_is_refused(key: str, value: object) -> None:
    assert read_plan(json.dumps(GOOD), "").kept
    with pytest.raises(UsageError, match="damaged"):
        read_plan(json.dumps({**GOOD, key: value}), "here")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 5000])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="damaged"):
        read_plan(text, "here")


def test_a_checkpoint_carries_its_plan(tmp_path: Path) -> None:
    tensors = {"a.weight": np.zeros((2, 3), "float32")}
    save(tmp_path / "plain.safetensors", tensors)
    save(tmp_path / "pruned.safetensors", tensors, {KEY: json.dumps(GOOD)})
    assert plan_in(tmp_path / "plain.safetensors") is None
    assert plan_in(tmp_path / "pruned.safetensors") == read_plan(json.dumps(GOOD), "")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\xff" * 64, b"\x02\0\0\0\0\0\0\0[]"])
def test_a_header_that_is_none_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="safetensors"):
        plan_in(path)
