"""Inputs that nobody recorded: in the spec's domain, new, and the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exporter.base.tensors import Array
from exporter.prove.goldens import values
from exporter.prove.goldens.cases import Case
from exporter.prove.goldens.fresh import DRAWS, fresh_inputs, is_new
from exporter.spec.model import Spec
from exporter.spec.read import validate

DIMS = {"batch": {"min": 1, "typical": 4, "max": 9}, "seq": {"min": 2, "typical": 6, "max": 12, "multiple_of": 2}}


def spec(dims: dict[str, Any] | None = None, **inputs: tuple[str, list[str | int], str]) -> Spec:
    given = {name: {"dtype": one[0], "shape": one[1], "values": one[2]} for name, one in inputs.items()}
    content = {
        "name": "n",
        "model": "a:b",
        "weights": "factory",
        "inputs": given,
        "dims": DIMS if dims is None else dims,
    }
    return validate(content | {"recipe": "r:r", "weights": None} if "dataset" in str(given) else content, "test")


IDS = ("int64", ["batch", "seq"], "integers(3,seq)")
REAL = ("float32", ["batch", "seq"], "normal")


def known(**arrays: Array) -> list[dict[str, Array]]:
    return [dict(arrays), {name: value + value.dtype.type(1) for name, value in arrays.items()}]


def test_what_the_spec_draws_is_drawn_as_it_says_at_the_typical_sizes_and_at_others() -> None:
    of = spec(dims={**DIMS, "seq": {**DIMS["seq"], "min": 4}}, ids=IDS, x=REAL)
    before = known(ids=np.zeros((4, 6), "int64"), x=np.zeros((4, 6), "float32"))
    seen = set()
    for seed in range(8):
        drawn = fresh_inputs(of, before, [seed])
        assert next(iter(drawn)) == "batch=4,seq=6" and len(drawn) <= 2
        for size, draws in drawn.items():
            dims = dict(part.split("=") for part in size.split(","))
            assert len(draws) == DRAWS == 2 and not np.array_equal(draws[0]["x"], draws[1]["x"])
            for draw in draws:
                shape = int(dims["batch"]), int(dims["seq"])
                assert {name: (value.dtype.name, value.shape) for name, value in draw.items()} == {
                    "ids": ("int64", shape),
                    "x": ("float32", shape),
                }
                assert draw["ids"].min() >= 3 and draw["ids"].max() < int(dims["seq"])
            seen.add((int(dims["batch"]), int(dims["seq"])))
    assert {seq for _, seq in seen} == {4, 6} and {batch for batch, _ in seen} > {4} and max(seen) == (4, 6)


def test_a_seed_gives_the_same_and_another_one_something_else() -> None:
    of, before = spec(x=REAL), known(x=np.zeros((4, 6), "float32"))

    def first(seed: int) -> bytes:
        return fresh_inputs(of, before, [7, seed])["batch=4,seq=6"][0]["x"].tobytes()

    assert first(1) == first(1) != first(2)


@pytest.mark.parametrize("values", ["dataset", "x.npy"])
def test_what_is_given_is_mixed_from_what_was_recorded_at_the_same_place(values: str) -> None:
    """Each column has a range of its own, and nothing says which."""
    of = spec(ids=("int64", ["batch", "seq"], values), x=("float32", ["batch", "seq"], values))
    columns = np.arange(6) * 100
    ids = columns + np.random.default_rng(1).integers(0, 50, (4, 6))
    real = -np.random.default_rng(2).random((4, 6), dtype="float32")
    real[:, 2] = 0.0
    before = [{"ids": ids, "x": real}, {"ids": ids[::-1] + 3, "x": real[::-1] / 2}]
    for size, draws in fresh_inputs(of, before, [5]).items():
        batch, seq = (int(part.partition("=")[2]) for part in size.split(","))
        for draw in draws:
            assert draw["ids"].shape == draw["x"].shape == (batch, seq)
            assert draw["ids"].dtype.name == "int64" and draw["x"].dtype.name == "float32"
            for at in range(seq):
                assert set(draw["ids"][:, at]) <= {*before[0]["ids"][:, at], *before[1]["ids"][:, at]}
                assert (draw["x"][:, at] <= 0).all() and draw["x"][:, at].min() >= real[:, at].min()
            assert (draw["x"][:, 2:3] == 0).all()
    assert not np.array_equal(fresh_inputs(of, before, [5])["batch=4,seq=6"][0]["ids"], ids)


def test_where_only_what_was_recorded_can_be_it_is_drawn_again() -> None:
    of = spec({}, flag=("int64", [3], "x.npy"))
    same = {"flag": np.array([1, 2, 3])}
    (draws,) = fresh_inputs(of, [same, same], [1]).values()
    assert len(draws) == DRAWS and not any(is_new(draw, [same]) for draw in draws)
    beside = spec({}, flag=("int64", [3], "x.npy"), x=("float32", [3], "normal"))
    both = {**same, "x": np.zeros(3, "float32")}
    (draws,) = fresh_inputs(beside, [both, both], [1]).values()
    assert all(is_new(draw, [both]) for draw in draws), "another input is new"


def test_no_draw_is_one_that_was_recorded_where_others_can_be() -> None:
    """Of four possible inputs two are: of eight draws one is another, but for one seed in 256."""
    of, before = spec({}, flag=("int64", [2], "integers(0,2)")), [{"flag": np.array([at, at])} for at in (0, 1)]
    found = [fresh_inputs(of, before, [seed])["fixed"] for seed in range(40)]
    assert sum(draw["flag"].sum() == 1 for draws in found for draw in draws) >= 78


@pytest.mark.parametrize(("dims", "sizes"), [({}, 1), ({"batch": {"min": 1, "typical": 2, "max": 2}}, 2)])
def test_eight_are_drawn_for_each_and_a_size_only_once(
    dims: dict[str, Any], sizes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    given = values.draw

    def counted(of: Spec, case: Case, data: None) -> dict[str, Array]:
        seen.append(str(case.dims))
        return given(of, case, data)

    monkeypatch.setattr("exporter.prove.goldens.fresh.draw", counted)
    of = spec(dims, x=("float32", [*dims, 3], "normal"))
    drawn = [fresh_inputs(of, known(x=np.zeros(3, "float32")), [seed]) for seed in range(20)]
    assert max(len(one) for one in drawn) == sizes and len(seen) == 8 * DRAWS * sum(map(len, drawn))


def test_a_dim_that_can_be_no_smaller_stays_as_it_is() -> None:
    of = spec({"batch": {"min": 4, "typical": 4, "max": 9}}, x=("float32", ["batch"], "normal"))
    assert list(fresh_inputs(of, known(x=np.zeros(4, "float32")), [1])) == ["batch=4"]


def test_of_one_recorded_case_rows_are_mixed_and_other_places_keep_their_own() -> None:
    of = spec({"batch": {"min": 4, "typical": 4, "max": 9}}, x=("int64", ["batch", 2], "x.npy"))
    one = {"x": np.arange(8).reshape(4, 2)}
    (draws,) = fresh_inputs(of, [one], [1]).values()
    assert all((draw["x"] % 2 == [0, 1]).all() and is_new(draw, [one]) for draw in draws)
    fixed = spec({}, x=("int64", [3], "x.npy"), one=("int64", [], "x.npy"))
    before = [{"x": np.array([1, 2, 3]) * times, "one": np.array(times)} for times in (1, 10, 100)]
    for seed in range(5):
        for draw in fresh_inputs(fixed, before, [seed]).get("fixed", []):
            assert [value in (at, at * 10, at * 100) for at, value in enumerate(draw["x"], 1)] == [True] * 3
            assert draw["one"] in (1, 10, 100)


def test_a_mixed_real_number_is_smaller_by_a_quarter_at_most() -> None:
    of = spec({}, x=("float64", [2000], "x.npy"))
    (draws,) = fresh_inputs(of, [{"x": np.full(2000, -8.0)}], [1]).values()
    for draw in draws:
        assert -8.0 <= draw["x"].min() < -7.9 and -6.1 < draw["x"].max() <= -6.0
