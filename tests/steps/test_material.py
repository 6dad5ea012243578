"""The file of the samples: what it keeps, what it drops, and what is no such file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exporter.base import tensors
from exporter.base.errors import BundleError
from exporter.steps.base import VALUE
from exporter.steps.material import Material, behind_model, below

ZEROS, ONES, TWOS = np.zeros(4), np.ones(4), np.full(4, 2.0)


def filled(steps: int = 2) -> Material:
    """Three samples of 32 bytes each, and so many steps of training with 100 bytes each behind them, on both sides."""
    material = Material.of({"a": ZEROS, "b": ONES, "c": ONES})
    for number in material.numbers:
        for step in range(1, steps + 1):
            material.keep("before", "training", step, number, {VALUE: np.full(100, step, "uint8")})
        material.keep("after", "training", 1, number, {VALUE: np.full(100, 7, "uint8")})
        material.keep("after", "deployment", 4, number, {VALUE: np.full(100, 8, "uint8")})
    return material


def kept(material: Material, side: str, number: int, length: int = 3, chain: str = "training") -> list[bool]:
    return [bool(state) for state in material.states(side, chain, number, length)[1:]]


def test_samples_have_numbers_and_states(tmp_path: Path) -> None:
    material = filled()
    material.outputs = ("y", "x")
    material.tensors["outputs/1/x"] = ZEROS
    material.tensors["outputs/1/y"] = TWOS
    material.write(tmp_path / "m.safetensors")
    again = Material.read(tmp_path / "m.safetensors")
    assert (again.samples, again.outputs, list(again.numbers)) == (("a", "b", "c"), ("y", "x"), [0, 1, 2])
    states = again.states("before", "training", 1, 2)
    assert [state[VALUE].tolist() for state in states] == [ONES.tolist(), [1] * 100, [2] * 100]
    behind = again.start("after", 1)
    assert {name: value.tolist() for name, value in behind.items()} == {
        VALUE: TWOS.tolist(),
        "x": ZEROS.tolist(),
        "y": TWOS.tolist(),
    }
    assert again.start("after", 0) == {}
    assert Material(("a",)).tensors == {} and Material(("a",)).outputs == ()


def test_the_first_of_the_outputs_is_handed_on() -> None:
    outputs = {"x": ZEROS, "y": ONES}
    assert behind_model(outputs, ("y", "x")) == {VALUE: ONES, **outputs}
    assert behind_model(outputs, ()) == behind_model(outputs, ("z", "x")) == {}


def test_a_prefix_ends_at_a_slash() -> None:
    assert below({"raw/1": 1, "raw/10": 2, "raw/1/a": 3, "b": 4}, "raw/1") == {"a": 3}  # type: ignore[dict-item]


def test_there_is_room_for_all() -> None:
    whole = 3 * 32 + 3 * 500
    material = filled(3)
    assert list(material.thinned(whole)) == []
    assert kept(material, "before", 2) == [True] * 3
    assert list(material.thinned(whole - 1)) == ["c"]


def test_what_lies_between_the_last_samples_steps_is_dropped_first() -> None:
    material = filled(3)
    whole = 3 * 32 + 3 * 500
    assert list(material.thinned(whole - 200)) == ["c"]
    assert kept(material, "before", 2) == [False, False, True]
    assert kept(material, "before", 1) == kept(material, "before", 0) == [True] * 3
    assert kept(material, "after", 2, 1) == [True], "it is the last of its side"
    assert kept(material, "after", 2, 4, "deployment") == [False, False, False, True]


def test_the_first_sample_keeps_all() -> None:
    material = filled(3)
    assert list(material.thinned(0)) == ["c", "b"]
    assert kept(material, "before", 0) == [True] * 3
    assert kept(material, "before", 1) == kept(material, "before", 2) == [False, False, True]


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({}, "it lacks a sample that it names"),
        ({"samples": "7"}, "its samples have no names"),
        ({"samples": "["}, "its samples have no names"),
        ({"samples": '["a"]'}, "it lacks a sample that it names"),
        ({"samples": '["a", "b"]'}, "it lacks a sample that it names"),
    ],
)
def test_a_hostile_file_of_samples_is_damage(about: dict[str, str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    tensors.save(path, {"raw/1": np.zeros(2)}, about)
    with pytest.raises(BundleError, match=said):
        Material.read(path)
