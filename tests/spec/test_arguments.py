from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.base.tensors import DTYPES
from exporter.spec.arguments import parse_dim, parse_input, spec_from_arguments
from exporter.spec.inputs import Dim

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)


@given(NAMES, st.sampled_from(DTYPES), st.lists(NAMES | st.integers(1, 10**6), max_size=4), st.booleans())
def test_what_is_written_as_an_input_is_read_as_one(
    name: str, dtype: str, shape: list[str | int], spaced: bool
) -> None:
    text = f"{name}={dtype}[{(', ' if spaced else ',').join(map(str, shape))}]"
    assert parse_input(text) == (name, {"dtype": dtype, "shape": shape})


@given(st.text(max_size=30) | st.from_regex(r"\w+=\w*\[[^]]*\]?", fullmatch=True))
def test_whatever_is_given_as_an_input_only_a_usage_error_comes(text: str) -> None:
    try:
        name, described = parse_input(text)
        spec_from_arguments("a:b", [text], [], [], {})
    except UsageError as error:
        assert error.what and error.where and error.hint
        return
    assert name.isidentifier() and all(isinstance(one, int) and one > 0 for one in described["shape"])


@given(NAMES, st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 64))
def test_a_dim_s_typical_size_lies_in_its_range(name: str, low: int, more: int, multiple: int) -> None:
    low, high = low * multiple, (low + more) * multiple
    found, sizes = parse_dim(f"{name}={low}..{high}/{multiple}")
    assert found == name and Dim(**sizes).typical in range(low, high + 1)


@given(st.text(max_size=20) | st.from_regex(r"\w+=\d*\.\.\d*(/\d*)?", fullmatch=True))
def test_whatever_is_given_as_a_dim_only_a_usage_error_comes(text: str) -> None:
    try:
        name, _ = parse_dim(text)
        spec_from_arguments("a:b", [f"x=float32[{name}]"], [text], [], {})
    except UsageError as error:
        assert error.what and error.where and error.hint


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"inputs": []}, "a model needs its inputs"),
        ({"inputs": ["x=float32[2]", "x=float32[3]"]}, "'x' is given twice"),
        ({"dims": ["batch=1..2", "batch=1..3"]}, "'batch' is given twice"),
        ({"dims": ["batch=4..1"]}, "min (4) is greater than max (1)"),
        ({"dims": []}, "dim 'batch' is used in inputs but not described"),
        ({"values": ["y=normal"]}, "no input is called 'y'"),
        ({"values": ["x=normal", "x=uniform(0,1)"]}, "'x' is given twice"),
        ({"values": ["x"]}, "none of"),
        ({"inputs": ["x=float33[batch]"]}, "float32"),
        ({"inputs": ["x=float32[batch"]}, "is not name=dtype"),
        ({"inputs": ["x=float32[batch,,3]"]}, ""),
        ({"inputs": ["x=float32[batch,0]"]}, "at least 1"),
        ({"inputs": ["x=float32[batch,²]"]}, ""),
        ({"model": "no reference"}, "model"),
        ({"keys": {"formats": ["tflite"]}}, "none of pir, pdmodel, onnx"),
        ({"overrides": ["dims.batch.max=0"]}, ""),
    ],
)
def test_wrong_arguments_are_said(arguments: dict[str, Any], said: str) -> None:
    given_: dict[str, Any] = {"model": "a:b", "inputs": ["x=float32[batch]"], "dims": ["batch=1..2"], "values": []}
    with pytest.raises(UsageError) as caught:
        spec_from_arguments(**{**given_, "keys": {}, **arguments})
    assert said in caught.value.what and caught.value.where and caught.value.hint


def test_the_command_line_gives_the_same_spec_as_a_file() -> None:
    spec = spec_from_arguments(
        "models.sound:tagger",
        ["ids=int64[batch,seq]", "weight=float32[batch,seq,4]"],
        ["batch=1..4", "seq=2..9"],
        ["ids=integers(0,20)"],
        {"formats": ["onnx"], "opset": 18},
    )
    assert spec.name == "tagger" and spec.formats == ("onnx",) and spec.opset == 18
    assert spec.inputs["ids"].values == "integers(0,20)" and spec.inputs["weight"].values == "normal"
    assert [str(one) for one in spec.input_specs()] == ["ids=int64[batch,seq]", "weight=float32[batch,seq,4]"]


def test_integers_are_filled_though_nobody_says_with_what() -> None:
    spec = spec_from_arguments("a:b", ["flag=bool[3]", "id=int32[3]"], [], [], {})
    assert {one.values for one in spec.inputs.values()} == {"integers(0,2)"}
