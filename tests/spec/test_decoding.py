"""What a spec may say of a decoder's steps, and of sizes that are a dim with a number added."""

from __future__ import annotations

from typing import Any

import pytest

from exporter.base.errors import UsageError
from exporter.base.tensors import dims_in, shape_at, size_at, split_size
from exporter.spec.model import Spec
from exporter.spec.read import validate

INPUTS: dict[str, Any] = {
    "ids": {"dtype": "int64", "shape": ["batch", 1], "values": "integers(0,9)"},
    "place": {"dtype": "int64", "shape": ["batch", 1], "values": "integers(past,past+1)"},
    "mask": {"dtype": "int64", "shape": ["batch", "past+1"], "values": "integers(0,2)"},
    "count": {"dtype": "int64", "shape": [1], "values": "integers(3,67)"},
    "key": {"dtype": "float32", "shape": ["batch", "past", 4]},
}
CACHE = {"cache": {"key": "next_key"}}


def spec(decoding: Any, **more: Any) -> Spec:
    content = {
        "name": "n",
        "model": "a:b",
        "weights": "factory",
        "inputs": INPUTS,
        "dims": {"batch": {"min": 1, "typical": 2, "max": 4}, "past": {"min": 1, "typical": 4, "max": 64}},
        "outputs": ["scores", "next_key"],
        "decoding": decoding,
    }
    return validate({**content, **more}, "test")


def test_all_that_is_said_of_a_decoder_is_kept() -> None:
    said = {**CACHE, "steps": 9, "tokens": {"ids": "scores"}, "counts": ["count"], "held": ["mask"]}
    decoding = spec(said).decoding
    assert decoding is not None and decoding.model_dump() == {**said, "counts": ("count",), "held": ("mask",)}
    plain = spec(CACHE).decoding
    assert plain is not None and (plain.steps, plain.tokens, plain.counts, plain.held) == (64, {}, (), ())
    assert spec(None).decoding is None


@pytest.mark.parametrize(
    ("decoding", "said"),
    [
        ({}, "decoding.cache"),
        ({"cache": {}}, "decoding.cache"),
        ({**CACHE, "steps": 1}, "decoding.steps"),
        ({"cache": {"kye": "next_key"}}, "decoding names 'kye', which is no input; did you mean 'key'?"),
        ({**CACHE, "held": ["key"]}, "says twice where input 'key' comes from"),
        ({"cache": {"key": "next_kye"}}, "names 'next_kye', which is no output; did you mean 'next_key'?"),
        ({**CACHE, "tokens": {"ids": "logits"}}, "decoding.tokens.ids names 'logits', which is no output: they are"),
        ({"cache": {"ids": "next_key"}, "tokens": {"key": "scores"}}, "tokens.key are ids, and the input is float32"),
        ({**CACHE, "steps": 65, "counts": ["count"]}, "ends at 66: give it a larger range, or `steps: 64`"),
        ({"cache": {"ids": "scores"}, "counts": ["key"]}, "'key', which needs `values: integers(a,b)` to count from"),
        ({**CACHE, "run": 3}, "unknown key 'decoding.run'"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_to_write(decoding: Any, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        spec(decoding)
    assert said in f"{caught.value.what}; {caught.value.hint}"


def test_outputs_that_nobody_names_are_not_asked_for_yet() -> None:
    assert spec({"cache": {"key": "anything"}}, outputs=None).decoding is not None


def test_a_size_may_be_a_dim_and_a_number() -> None:
    assert spec(CACHE).inputs["mask"].shape == ("batch", "past+1")
    assert [split_size(size) for size in ("past+12", "past", 3)] == [("past", 12), ("past", 0), ("", 3)]
    assert shape_at(["batch", "past+1", 4, -1], {"batch": 2, "past": 7}) == (2, 8, 4, -1)
    assert dims_in([["batch", "past+1"], ["past", 4, "n"]]) == ["batch", "past", "n"]
    with pytest.raises(KeyError):
        size_at("past+1", {"batch": 2})


@pytest.mark.parametrize("size", ["past+0", "past-1", "past + 1", "2*past", "past+", "+1"])
def test_other_sums_are_refused(size: str) -> None:
    inputs = {**INPUTS, "mask": {**INPUTS["mask"], "shape": ["batch", size]}}
    with pytest.raises(UsageError, match=r"inputs\.mask\.shape"):
        spec(CACHE, inputs=inputs)


def test_the_dim_of_a_sum_has_to_be_described() -> None:
    inputs = {**INPUTS, "mask": {**INPUTS["mask"], "shape": ["batch", "pats+1"]}}
    with pytest.raises(UsageError, match="dim 'pats' is used in inputs but not described under dims"):
        spec(CACHE, inputs=inputs)


def test_a_dim_that_only_a_sum_names_is_used() -> None:
    inputs = {"mask": INPUTS["mask"], "state": {"dtype": "float32", "shape": ["batch", 4]}}
    assert spec({"cache": {"state": "next_key"}}, inputs=inputs).inputs["mask"].shape[1] == "past+1"


def test_values_of_no_dim_are_refused() -> None:
    inputs = {**INPUTS, "place": {**INPUTS["place"], "values": "integers(pats,pats+1)"}}
    with pytest.raises(UsageError, match="no dim is called 'pats'; did you mean 'past'"):
        spec(CACHE, inputs=inputs)
