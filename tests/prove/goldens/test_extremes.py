"""Rows that hold the ends of an input's range, NaN and infinities where a spec asks for them, and what is promised."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.base.tensors import Array
from exporter.prove.goldens.cases import mask_cases, plan_cases
from exporter.prove.goldens.extremes import with_a_token
from exporter.prove.goldens.values import draw
from exporter.spec.model import Spec
from exporter.spec.read import validate

SEQ = {"min": 1, "typical": 5, "max": 8}


def spec(shape: list[str | int], values: str, batch: int = 6, dtype: str = "int64", **keys: bool) -> Spec:
    """A spec of one input `x`."""
    dims = {"batch": {"min": 1, "typical": batch, "max": 8}, "seq": SEQ}
    content = {
        "name": "n",
        "model": "a:b",
        "weights": "factory",
        "inputs": {"x": {"dtype": dtype, "shape": shape, "values": values, **keys}},
        "dims": {name: sizes for name, sizes in dims.items() if name in shape},
    }
    return validate(content, "test")


def extremes(of: Spec) -> dict[str, Array]:
    """By kind what the cases hold that have extremes in their rows."""
    kinds = ("rows_of_", "not_finite_in_")
    return {case.kind: draw(of, case, None)["x"] for case in plan_cases(of) if case.kind.startswith(kinds)}


def test_a_mask_has_rows_without_a_token_and_with_one() -> None:
    of = spec(["batch", "seq"], "integers(0,2)")
    (found,) = extremes(of).values()
    drawn = draw(of, plan_cases(of)[0], None)["x"]
    assert found[1:4].tolist() == [[0] * 5, [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    assert np.array_equal(found[[0, 4, 5]], drawn[[0, 4, 5]]), "good rows stand beside them"


@pytest.mark.parametrize("dtype", ["bool", "float32", "int32", "uint8"])
def test_a_mask_may_have_any_dtype(dtype: str) -> None:
    (found,) = extremes(spec(["batch", 1, 1, "seq"], "integers(0,2)", dtype=dtype)).values()
    assert found.dtype == dtype and found.shape == (6, 1, 1, 5)
    assert found[1:4, 0, 0].astype(int).tolist() == [[0] * 5, [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]


def test_ids_have_rows_of_padding_of_one_token_and_of_the_last_id() -> None:
    (found,) = extremes(spec(["batch", "seq"], "integers(0,40)")).values()
    assert found[1:4].tolist() == [[0] * 5, [39, 0, 0, 0, 0], [39] * 5]
    (found,) = extremes(spec(["batch", "seq"], "integers(-7,40)")).values()
    assert found[1:5].tolist() == [[0] * 5, [39, 0, 0, 0, 0], [39] * 5, [-7] * 5]
    (found,) = extremes(spec(["batch", "seq"], "integers(3,40)")).values()
    assert found[1:4].tolist() == [[3] * 5, [39, 3, 3, 3, 3], [39] * 5], "0 is not declared"
    (found,) = extremes(spec(["batch", "seq"], "integers(-5,1)")).values()
    assert found[1:5].tolist() == [[-5] * 5, [0, -5, -5, -5, -5], [-5, -5, -5, -5, 0], [0] * 5], "an added mask"


def test_lengths_are_none_one_and_the_whole() -> None:
    (found,) = extremes(spec(["batch"], "integers(0,9)")).values()
    assert found[1:4].tolist() == [0, 1, 8]
    (found,) = extremes(spec(["batch"], "integers(-3,2)")).values()
    drawn = draw(spec(["batch"], "integers(-3,2)"), plan_cases(spec(["batch"], "integers(-3,2)"))[0], None)["x"]
    assert found[1:4].tolist() == [0, 1, -3] and found[4:].tolist() == drawn[4:].tolist(), "each of them once"
    of = spec(["batch", "seq"], "integers(1,seq+1)")
    assert {*extremes(of)["rows_of_x"][1]} == {1} and {*extremes(of)["rows_of_x"][3]} == {5}
    (found,) = extremes(spec(["batch"], "integers(1,9)")).values()
    assert found[1:3].tolist() == [1, 8], "a length of 0 is not declared"


def test_few_rows_hold_them_in_further_cases() -> None:
    found = extremes(spec(["batch", "seq"], "integers(0,2)", batch=3))
    assert [*found] == ["rows_of_x", "rows_of_x-2"]
    assert found["rows_of_x"][1:].tolist() == [[0] * 5, [1, 0, 0, 0, 0]]
    assert found["rows_of_x-2"][1].tolist() == [0, 0, 0, 0, 1]
    pair = spec(["batch", "seq"], "integers(0,2)", batch=2)
    drawn = draw(pair, plan_cases(pair)[0], None)["x"]
    assert [one[1].tolist() for one in extremes(pair).values()] == [[0] * 5, [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    assert all(np.array_equal(one[0], drawn[0]) for one in extremes(pair).values()), "the first stays as it is drawn"
    alone = extremes(spec(["batch", "seq"], "integers(0,2)", batch=1))
    assert [one.tolist() for one in alone.values()] == [[[0] * 5], [[1, 0, 0, 0, 0]], [[0, 0, 0, 0, 1]]]
    ids = extremes(spec(["batch", "seq"], "integers(0,40)", batch=1))
    assert [one.tolist() for one in ids.values()] == [[[39, 0, 0, 0, 0]]], "all of one are cases of their own"
    of_one_row = extremes(spec(["seq"], "integers(0,2)"))
    assert [one.tolist() for one in of_one_row.values()] == [[0] * 5, [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]


@pytest.mark.parametrize(
    ("shape", "values"),
    [([], "integers(0,9)"), (["batch", "seq"], "integers(4,5)"), (["batch", "seq"], "x.npy")],
)
def test_what_has_no_range_has_no_ends(shape: list[str | int], values: str) -> None:
    assert extremes(spec(shape, values)) == {}


def test_values_without_a_number_get_no_token() -> None:
    declared = spec(["batch", 2], "integers(0,2)", empty_rows=False).inputs["x"]
    assert with_a_token(declared, (0, 1), np.zeros((4, 0))).shape == (4, 0)


def test_two_tokens_have_a_first_and_a_last_and_two_lengths_are_rows() -> None:
    (found,) = extremes(spec(["batch", 2], "integers(0,2)")).values()
    assert found[1:4].tolist() == [[0, 0], [1, 0], [0, 1]]
    pairs = extremes(spec(["batch"], "integers(0,9)", batch=2)).values()
    assert [pair[1] for pair in pairs] == [0, 1, 8]


def test_who_asks_for_what_is_not_finite_gets_it_in_some_rows() -> None:
    assert extremes(spec(["batch", 3], "normal", dtype="float32")) == {}
    (found,) = extremes(spec(["batch", 3], "normal", dtype="float32", finite=False)).values()
    assert np.isfinite(found[[0, 5]]).all() and np.isnan(found[4]).all()
    assert np.isnan(found[1, 0]) and np.isposinf(found[2, 0]) and np.isneginf(found[3, 0])
    assert np.isfinite(found[1:4, 1:]).all()
    masked = extremes(spec(["batch", 3], "integers(0,2)", dtype="float32", finite=False))
    assert [*masked] == ["rows_of_x", "not_finite_in_x"]
    real = spec(["batch", 3], "uniform(0,1)", dtype="float32", finite=False)
    assert [case.kind for case in mask_cases(real, "x")] == ["rows_of_x"], "the other is planned whatever is a mask"


@pytest.mark.parametrize("values", ["integers(0,2)", "integers(-1,2)", "integers(-3,1)", "integers(0,40)"])
def test_rows_that_are_promised_not_to_be_empty_are_in_no_case(values: str) -> None:
    of = spec(["batch", "seq"], values, empty_rows=False)
    for case in plan_cases(of):
        drawn = draw(of, case, None)["x"]
        assert drawn.any(axis=1).all(), case.name
        low, high = (int(part) for part in values[9:-1].split(","))
        assert low <= drawn.min() and drawn.max() < high
    assert extremes(of), "one token is still a case"


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ("integers(0,2)", [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]),
        ("integers(0,40)", [[39, 0, 0, 0, 0], [39] * 5]),
        ("integers(-5,1)", [[-5] * 5, [0, -5, -5, -5, -5], [-5, -5, -5, -5, 0]]),
    ],
)
def test_of_such_rows_only_those_that_are_all_zero_are_left_out(values: str, rows: list[list[int]]) -> None:
    of = spec(["batch", "seq"], values, empty_rows=False)
    (found,) = extremes(of).values()
    drawn = draw(of, plan_cases(of)[0], None)["x"]
    assert found[1:].tolist() == [*rows, *drawn[1 + len(rows) :].tolist()]


@pytest.mark.parametrize(
    ("values", "ends", "token"),
    [
        ("uniform(0,1)", (0.0, 1.0), 1.0),
        ("uniform(0,9)", (0.0, 9.0), 1.0),
        ("uniform(0,1.5)", (0.0, 1.5), 1.0),
        ("uniform(0,0.5)", (0.0, 0.5), 0.5),
        ("uniform(-0.5,0)", (-0.5, 0.0), -0.5),
    ],
)
def test_the_token_of_an_empty_row_is_one_or_an_end_of_the_range(
    values: str, ends: tuple[float, float], token: float
) -> None:
    declared = spec(["batch", "seq"], values, dtype="float32", empty_rows=False).inputs["x"]
    value = np.array([[0, 0], [0, 0.25]], "float32")
    assert with_a_token(declared, ends, value).tolist() == [[token, 0], [0, 0.25]]
    assert not value[0].any(), "the drawn ones stay"
    assert with_a_token(declared, ends, value[:, None]).tolist() == [[[token, 0]], [[0, 0.25]]], "whatever the axes"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"values": "integers(0,2)", "dtype": "int64", "finite": False}, "which int64 has not"),
        ({"values": "x.npy", "dtype": "int64", "empty_rows": False}, "a promise on rows that are drawn"),
        ({"values": "normal", "dtype": "float32", "empty_rows": False}, "a promise on rows that are drawn"),
        ({"values": "integers(0,2)", "dtype": "int64", "empty_rows": False, "shape": []}, "a shape with an axis"),
        ({"values": "normal", "dtype": "float32", "finite": "no"}, "finite"),
    ],
)
def test_a_promise_that_says_nothing_is_refused(keys: dict[str, object], message: str) -> None:
    content = {"name": "n", "model": "a:b", "weights": "factory", "inputs": {"x": {"shape": [4], **keys}}}
    with pytest.raises(UsageError, match=message):
        validate(content, "test")
