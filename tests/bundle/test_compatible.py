"""May one bundle take another's place? Every rule, from both sides."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.bundle.compatible import changes
from exporter.bundle.manifest import Manifest, Tensor, Variant

VARIANT = Variant(
    format="onnx",
    precision="fp32",
    files=("onnx/model.onnx",),
    inputs=("x", "y"),
    outputs=("a", "b"),
    native_outputs=("a", "b"),
    details={},
    weights={},
    origins={},
)
BASE: dict[str, Any] = {
    "inputs": (
        Tensor(name="x", dtype="float32", shape=("batch", 8, "seq")),
        Tensor(name="y", dtype="int64", shape=("batch", 4)),
    ),
    "outputs": (Tensor(name="a", dtype="float32", shape=(-1, 3)), Tensor(name="b", dtype="int64", shape=(-1,))),
    "dims": {
        "batch": {"min": 1, "typical": 4, "max": 16, "multiple_of": 1},
        "seq": {"min": 32, "typical": 64, "max": 128, "multiple_of": 32},
    },
    "variants": {"onnx": VARIANT},
}


def manifest(**other: Any) -> Manifest:
    """Only what the rules read; the rest of a manifest does not matter to them."""
    return Manifest.model_construct(**{**BASE, **other})


def verdicts(**other: Any) -> dict[str, bool]:
    return {one.what: one.breaks for one in changes(manifest(), manifest(**other))}


def with_input(**changed: Any) -> tuple[Tensor, ...]:
    return (BASE["inputs"][0].model_copy(update=changed), BASE["inputs"][1])


def with_dim(name: str, **changed: int) -> dict[str, dict[str, int]]:
    return {**BASE["dims"], name: {**BASE["dims"][name], **changed}}


def test_nothing_changed() -> None:
    assert changes(manifest(), manifest()) == []


def test_inputs_and_outputs_by_name_need_no_order_of_inputs() -> None:
    assert verdicts(inputs=BASE["inputs"][::-1]) == {}


@pytest.mark.parametrize(
    ("other", "said", "breaks"),
    [
        ({"inputs": BASE["inputs"][:1]}, "input y is gone", True),
        ({"inputs": (*BASE["inputs"], Tensor(name="z", dtype="bool", shape=()))}, "input z is new", True),
        ({"inputs": with_input(dtype="float64")}, "input x is float64, was float32", True),
        ({"inputs": with_input(shape=("batch", 8))}, "input x is [batch, 8], was [batch, 8, seq]", True),
        ({"inputs": with_input(shape=("batch", 9, "seq"))}, "input x, axis 1: 9, was 8", True),
        ({"inputs": with_input(shape=(4, 8, "seq"))}, "input x, axis 0: 4, was batch (1 to 16)", True),
        ({"inputs": with_input(shape=("batch", "batch", "seq"))}, "input x, axis 1: batch (1 to 16), was 8", False),
        (
            {"inputs": with_input(shape=("batch", "seq", "seq"))},
            "axis 1: seq (32 to 128, multiples of 32), was 8",
            True,
        ),
        ({"inputs": with_input(shape=("batch", "batch", "seq"))}, "dim batch ties what was 8 and batch", True),
        ({"dims": with_dim("batch", max=32)}, "batch (1 to 32), was batch (1 to 16)", False),
        ({"dims": with_dim("batch", max=8)}, "batch (1 to 8), was batch (1 to 16)", True),
        ({"dims": with_dim("batch", min=2)}, "batch (2 to 16), was batch (1 to 16)", True),
        ({"dims": with_dim("seq", multiple_of=16)}, "multiples of 16), was", False),
        ({"dims": with_dim("seq", multiple_of=64, min=64)}, "multiples of 64), was", True),
        ({"outputs": BASE["outputs"][:1]}, "output b is gone", True),
        ({"outputs": (*BASE["outputs"], Tensor(name="c", dtype="bool", shape=()))}, "output c is new", False),
        ({"outputs": BASE["outputs"][::-1]}, "another order: b, a; was a, b", True),
        ({"outputs": (Tensor(name="c", dtype="bool", shape=()), *BASE["outputs"])}, "another order: c, a, b", True),
        ({"outputs": (BASE["outputs"][0].model_copy(update={"shape": (-1, 4)}), BASE["outputs"][1])}, "[-1, 4]", True),
        ({"outputs": (BASE["outputs"][0].model_copy(update={"dtype": "bool"}), BASE["outputs"][1])}, "is bool", True),
        ({"variants": {"pir": VARIANT}}, "variant onnx is gone", True),
        ({"variants": {"onnx": VARIANT, "pir": VARIANT}}, "variant pir is new", False),
        ({"variants": {"onnx": VARIANT.model_copy(update={"inputs": ("x", "why")})}}, "inputs are called", True),
        ({"variants": {"onnx": VARIANT.model_copy(update={"native_outputs": ("b", "a")})}}, "outputs are called", True),
        ({"variants": {"onnx": VARIANT.model_copy(update={"files": ("onnx/m.onnx",)})}}, "files are onnx/m.onnx", True),
    ],
)
def test_each_rule(other: dict[str, Any], said: str, breaks: bool) -> None:
    matched = {now for what, now in verdicts(**other).items() if said in what}
    assert matched == {breaks}, verdicts(**other)


def test_what_breaks_stands_first() -> None:
    found = changes(manifest(), manifest(variants={"pir": VARIANT}, dims=with_dim("batch", max=32)))
    assert [one.breaks for one in found] == sorted((one.breaks for one in found), reverse=True)
    assert {one.breaks for one in found} == {True, False}


SIZES = st.tuples(st.integers(1, 6), st.integers(0, 12), st.integers(1, 4)).map(
    lambda one: {
        "min": one[0] * one[2],
        "typical": one[0] * one[2],
        "max": (one[0] + one[1]) * one[2],
        "multiple_of": one[2],
    }
)


@given(SIZES, SIZES)
def test_a_dim_breaks_exactly_where_a_size_of_the_old_one_cannot_come_any_more(
    old: dict[str, int], new: dict[str, int]
) -> None:
    def sizes(dim: dict[str, int]) -> set[int]:
        return set(range(dim["min"], dim["max"] + 1, dim["multiple_of"]))

    one = (Tensor(name="x", dtype="float32", shape=("n",)),)
    found = changes(manifest(inputs=one, dims={"n": old}), manifest(inputs=one, dims={"n": new}))
    assert any(change.breaks for change in found) == (not sizes(old) <= sizes(new))
