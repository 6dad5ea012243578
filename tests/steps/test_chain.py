"""Chains are read from plain data, and say which step cannot take what it gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.steps.base import VALUE
from exporter.steps.chain import Declared, Function, data_of, read_chain, replaced, steps_of, with_options
from exporter.steps.settle import settled


def doubled(value: Any, by: int = 2) -> Any:
    value *= by  # in place: the caller's array stays as it is
    return value


def named(value: Any) -> dict[str, Any]:
    return {VALUE: value, "size": np.asarray(value.shape)}


def sized(state: Any) -> Any:
    return state[VALUE] * state["size"][0]


def text(value: Any) -> Any:
    return "no numbers"


HERE = "tests.steps.test_chain"


def test_a_chain_is_names_options_and_functions() -> None:
    data = ["layout", {"crop": {"height": 2, "width": 3}}, f"{HERE}:doubled", {f"{HERE}:doubled": {"by": 3}}]
    chain = read_chain(data)
    assert [type(link) for link in chain] == [Declared, Declared, Function, Function]
    assert data_of(chain) == data and [str(link) for link in chain][:2] == ["layout", "crop"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("lay", "unknown step 'lay'"),
        ({"crop": {"height": 2}}, "crop: width: Field required"),
        ({"crop": {"height": 0, "width": 1}}, "crop: height"),
        ({"crop": {"height": 1, "width": 1, "colour": 1}}, "crop: colour"),
        ({"resize": {"rule": "short", "height": 3}}, "rule `short` takes `size`"),
        ({"normalize": {"std": [0]}}, "normalize: std"),
        ({"normalize": {"scale": "1/0"}}, "divides by zero"),
        ({"a": {}, "b": {}}, "a step is a name"),
        (3, "a step is a name"),
        ("a b:c", "not a reference"),
    ],
    ids=str,
)
def test_what_is_no_step_is_named(entry: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read_chain(["layout", entry], "here")
    assert caught.value.hint


def test_functions_get_copies_and_may_give_several_arrays() -> None:
    value = np.asarray([1.0, 2.0])
    chain = read_chain([f"{HERE}:doubled", {f"{HERE}:doubled": {"by": 5}}, f"{HERE}:named", f"{HERE}:sized"])
    states = [state[VALUE].tolist() for state in steps_of(chain, {VALUE: value})]
    assert states == [[2, 4], [10, 20], [10, 20], [20, 40]] and value.tolist() == [1, 2]


def test_the_step_that_fails_is_named_with_the_line_of_the_users() -> None:
    with pytest.raises(UsageError, match="axes") as caught:
        list(steps_of(read_chain(["sigmoid", "layout"]), {VALUE: np.zeros((2, 2))}, "deployment"))
    assert caught.value.where == "deployment step 2 (layout)"
    with pytest.raises(UsageError, match="IndexError") as caught:
        list(steps_of(read_chain([f"{HERE}:sized"]), {VALUE: np.zeros(2)}, "training"))
    assert caught.value.where.startswith(f"training step 1 ({HERE}:sized): ") and "test_chain.py:" in caught.value.where
    with pytest.raises(UsageError, match="neither numbers nor bytes"):
        list(steps_of(read_chain([f"{HERE}:text"]), {VALUE: np.zeros(2)}))


def test_steps_are_replaced_left_out_and_changed() -> None:
    chain = read_chain(["layout", {"crop": {"height": 2, "width": 3}}])
    assert data_of(replaced(chain, 0)) == [{"crop": {"height": 2, "width": 3}}]
    assert data_of(replaced(chain, 1, *chain)) == ["layout", "layout", {"crop": {"height": 2, "width": 3}}]
    crop = chain[1]
    assert isinstance(crop, Declared)
    assert with_options(crop, place="top_left").data() == {"crop": {"height": 2, "width": 3, "place": "top_left"}}


def test_words_of_a_file_take_its_place(tmp_path: Any) -> None:
    words = tmp_path / "words.txt"
    words.write_text("cat\n\ndog\r\n")
    assert settled([{"labels": {"names": str(words)}}], "after", "here") == [{"labels": {"names": ["cat", "", "dog"]}}]
    with pytest.raises(UsageError, match="which is not there"):
        settled([{"labels": {"names": "no.txt"}}], "after", "here")
