"""Programs that Paddle wrote, with one thing wrong in each: told by the operator, and never run."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from exporter.base.errors import BundleError
from exporter.base.readers import read
from tests.export.sources.networks import saved

_Json: TypeAlias = Any
_Change: TypeAlias = Callable[[list[_Json]], object]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, _Json]:
    """By name of the network: one that decides and loops, and one with parameters."""
    written = {}
    for name in ("deciding", "picture"):
        folder = tmp_path_factory.mktemp(name)
        saved(name, folder)
        written[name] = json.loads((folder / "inference.json").read_text())
    return written


def _first(operators: list[_Json], name: str) -> _Json:
    return next(operator for operator in operators if operator["#"] == name)


def _held(operators: list[_Json], name: str, attribute: str) -> _Json:
    return next(one["AT"] for one in _first(operators, name)["A"] if one["N"] == attribute)


def _inner(operators: list[_Json], name: str, region: int = 0) -> _Json:
    return _first(operators, name)["regions"][region]["blocks"][0]


def _reads(name: str, at: int, number: object) -> _Change:
    return lambda operators: _first(operators, name)["I"][at].update({"%": number})


def _holds(name: str, attribute: str, kind: str, value: object) -> _Change:
    return lambda operators: _held(operators, name, attribute).update({"#": kind, "D": value})


def _gives(name: str, kind: dict[str, object]) -> _Change:
    return lambda operators: _first(operators, name)["O"][0]["TT"].update(kind)


def _again(name: str) -> _Change:
    """Put an operator there twice; the second gives a value of its own."""

    def change(operators: list[_Json]) -> None:
        another = copy.deepcopy(_first(operators, name))
        given = another["O"] if isinstance(another["O"], dict) else another["O"][0]
        given["%"] = 900
        operators.insert(operators.index(_first(operators, name)) + 1, another)

    return change


def _last(name: str) -> _Change:
    def change(operators: list[_Json]) -> None:
        operator = _first(operators, name)
        operators.remove(operator)
        operators.insert(-1, operator)

    return change


_DECIDING: dict[str, tuple[_Change, str]] = {
    "a value that nothing gives": (_reads("1.greater_than", 1, 99), "operator 4, greater_than, reads the value 99"),
    "a value that is given later": (
        _last("1.full"),
        "operator 3, greater_than, reads the value 4, which nothing before",
    ),
    "a value of a block, outside": (
        _reads("1.fetch", 0, 18),
        "fetch, reads the value 18, which nothing before it gives",
    ),
    "a value given twice": (
        lambda operators: _first(operators, "1.full")["O"][0].update({"%": 3}),
        "operator 3, full, gives the value 3, which was given before",
    ),
    "an input twice": (_again("1.data"), "two of its inputs are called 'x', the second by operator 1, data"),
    "an output twice": (_again("1.fetch"), "two of its outputs have the place 0, the second by"),
    "no argument of a block": (
        lambda operators: _inner(operators, "1.while")["args"].pop(),
        "while: its block takes 1 arguments, not 2",
    ),
    "too little handed in": (
        lambda operators: _first(operators, "1.while")["I"].pop(),
        "while: its block takes 2 arguments, not 1",
    ),
    "no yield": (lambda operators: _inner(operators, "1.if")["ops"].pop(), "if: its block ends without a yield"),
    "a yield of too few": (
        lambda operators: _inner(operators, "1.while")["ops"][-1]["I"].pop(),
        "while: its block yields 2 values, and 3 are due",
    ),
    "an `if` without `else`": (lambda operators: _first(operators, "1.if")["regions"].pop(), "if, has 1 blocks, not 2"),
    "an `if` without blocks": (lambda operators: _first(operators, "1.if").pop("regions"), "if, has 0 blocks, not 2"),
    "a condition that is none": (_reads("1.if", 0, 3), "if, decides by the value 3, which is no bool"),
    "a type that there is not": (_gives("1.mean", {"#": "0.t_f128"}), "operator 2, mean, gives a value of the type"),
    "an element that there is not": (
        _gives("1.mean", {"D": [{"#": "0.t_f128"}, [], "NCHW", [], 0]}),
        "a value of the type '0.t_f128', which there is not",
    ),
    "a kind of attribute that there is not": (
        _holds("1.mean", "keepdim", "0.a_what", False),
        "mean: its attribute 'keepdim' is of the kind '0.a_what', which there is not",
    ),
    "an attribute of another kind": (
        _holds("1.full", "value", "0.a_f64", "two"),
        "operator 3, full: its attribute 'value' is of the kind 'a_f64' and holds 'two'",
    ),
    "sizes that are none": (
        _holds("1.full", "shape", "1.a_intarray", [1, "x"]),
        "its attribute 'shape' is of the kind",
    ),
    "a dtype that there is not": (
        _holds("1.full", "dtype", "1.a_dtype", "float99"),
        "full: its attribute 'dtype' is of the kind 'a_dtype' and holds 'float99'",
    ),
    "sizes of a value that are none": (
        _gives("1.mean", {"D": [{"#": "0.t_f32"}, [-1, "x"], "NCHW", [], 0]}),
        "operator 2, mean, gives a tensor of the sizes [-1, 'x'], which are none",
    ),
    "text where a value is due": (_reads("1.mean", 0, "x"), "operator 2, mean, reads the value x, which nothing"),
    "an output without a place": (
        _holds("1.fetch", "col", "0.a_i32", "a"),
        "its attribute 'col' is of the kind 'a_i32'",
    ),
    "no result": (
        lambda operators: _first(operators, "1.mean")["O"].clear(),
        "reads the value 3, which nothing before",
    ),
}
_PICTURE: dict[str, tuple[_Change, str]] = {
    "a parameter twice": (_again("p"), "two of its parameters are called"),
    "text in a list of numbers": (
        _holds("1.conv2d", "strides", "0.a_array", "x"),
        "is of the kind 'a_array' and holds 'x'",
    ),
    "a number of another kind in a list": (
        _holds("1.conv2d", "strides", "0.a_array", [{"#": "0.a_i32", "D": 0.5}] * 2),
        "conv2d: its attribute 'strides' is of the kind 'a_i32' and holds '0.5'",
    ),
}


@pytest.mark.parametrize("kind", [*_DECIDING, *_PICTURE])
def test_what_does_not_hold_together_is_told_by_its_operator(
    kind: str, programs: dict[str, _Json], tmp_path: Path
) -> None:
    change, said = {**_DECIDING, **_PICTURE}[kind]
    program = copy.deepcopy(programs["deciding" if kind in _DECIDING else "picture"])
    file = tmp_path / "model.json"
    file.write_text(json.dumps(program))
    assert read(file).format == "pir"
    change(program["program"]["regions"][0]["blocks"][0]["ops"])
    file.write_text(json.dumps(program))
    with pytest.raises(BundleError) as error:
        read(file)
    assert said in error.value.what and error.value.where == str(file)
    assert "save the model again" in error.value.hint


def test_a_program_has_one_block(programs: dict[str, _Json], tmp_path: Path) -> None:
    program = copy.deepcopy(programs["deciding"])
    program["program"]["regions"][0]["blocks"].append({"#": "block_9", "args": [], "ops": []})
    (tmp_path / "model.json").write_text(json.dumps(program))
    with pytest.raises(BundleError, match="the program has 2 blocks, not one"):
        read(tmp_path / "model.json")
