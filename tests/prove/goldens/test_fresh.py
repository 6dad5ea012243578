"""Inputs that nobody recorded: in the spec's domain, new, and the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exporter.base.tensors import Array
from exporter.prove.goldens import fresh as code
from exporter.prove.goldens.cases import batch_dim
from exporter.prove.goldens.fresh import BEYOND, DRAWS, SMALL, TIMES, fresh_inputs, is_new, sizes_of
from exporter.spec.inputs import Dim
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


def recorded(batch: int = 9, seq: int = 12, **dtypes: str) -> list[dict[str, Array]]:
    """The typical sizes first, and the largest."""
    sizes = ((4, 6), (4, 6), (batch, seq))
    return [{name: np.zeros(size, dtype) for name, dtype in dtypes.items()} for size in sizes]


def drawn_sizes(of: Spec, before: list[dict[str, Array]], seed: int) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {name: set() for name in of.dims}
    for said in fresh_inputs(of, before, [seed]):
        for part in said.split(","):
            dim, _, size = part.partition("=")
            found[dim].add(int(size))
    return found


def test_what_the_spec_draws_is_drawn_as_it_says_at_every_size() -> None:
    of = spec(dims={**DIMS, "seq": {**DIMS["seq"], "min": 4}}, ids=IDS, x=REAL)
    drawn = fresh_inputs(of, recorded(ids="int64", x="float32"), [1])
    assert next(iter(drawn)) == "batch=4,seq=6" and len(drawn) in (9, 10)
    assert [len(draws) for draws in drawn.values()] == [DRAWS, *[1] * (len(drawn) - 1)]
    assert not np.array_equal(drawn["batch=4,seq=6"][0]["x"], drawn["batch=4,seq=6"][1]["x"])
    for size, draws in drawn.items():
        dims = dict(part.split("=") for part in size.split(","))
        for draw in draws:
            shape = int(dims["batch"]), int(dims["seq"])
            assert {name: (value.dtype.name, value.shape) for name, value in draw.items()} == {
                "ids": ("int64", shape),
                "x": ("float32", shape),
            }
            assert draw["ids"].min() >= 3 and draw["ids"].max() < int(dims["seq"])


@pytest.mark.parametrize("seed", range(4))
def test_every_promised_size_up_to_16_is_drawn_and_some_beyond(seed: int) -> None:
    dims = {
        "batch": {"min": 1, "typical": 4, "max": 64},
        "seq": {"min": 8, "typical": 40, "max": 400, "multiple_of": 8},
        "width": {"min": 3, "typical": 5, "max": 12},
    }
    of = spec(dims, x=("float32", ["batch", "seq"], "normal"), y=("float32", ["batch", "width"], "normal"))
    before = [
        {"x": np.zeros((batch, seq), "float32"), "y": np.zeros((batch, width), "float32")}
        for batch, seq, width in ((4, 40, 5), (4, 40, 5), (64, 400, 12))
    ]
    found = drawn_sizes(of, before, seed)
    assert {*range(1, 17)} <= found["batch"] <= {*range(1, 65)} and len(found["batch"]) == 16 + BEYOND
    assert {8, 16, 40} <= found["seq"] <= {*range(8, 401, 8)} and len(found["seq"] - {8, 16, 40}) in (
        BEYOND - 1,
        BEYOND,
    )
    assert found["width"] == {*range(3, 13)}
    assert len(fresh_inputs(of, before, [seed])) <= 1 + 16 + BEYOND, "as many points as one dim has sizes"
    assert found != drawn_sizes(of, before, seed + 50), "those beyond are as the seed says"


def test_at_another_turn_the_sizes_are_the_same_and_the_numbers_are_not() -> None:
    of, before = spec(x=REAL), recorded(x="float32")
    first, second = (fresh_inputs(of, before, [3], turn) for turn in (0, 1))
    assert [*first] == [*second]
    assert not any(
        np.array_equal(a["x"], b["x"]) for size in first for a, b in zip(first[size], second[size], strict=True)
    )


def test_no_point_has_more_numbers_than_the_largest_case_and_all_have_twelve_times_its() -> None:
    of = spec(x=REAL)
    points = [sizes for sizes in fresh_inputs(of, recorded(9, 6, x="float32"), [1])]
    counts = [
        int(batch.partition("=")[2]) * int(seq.partition("=")[2]) for batch, seq in (one.split(",") for one in points)
    ]
    assert max(counts) <= 54 and sum(counts[1:]) <= TIMES * 54
    assert {seq.partition("seq=")[2] for seq in points} == {"2", "4", "6", "8", "10", "12"}, "with the fewest rows"


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
    wide = {"ids": np.arange(12) * 100 + ids[:, :1], "x": np.tile(real, (3, 2))}
    before.append({"ids": np.tile(wide["ids"], (3, 1))[:9], "x": wide["x"][:9]})
    held = np.concatenate([one["ids"][:, :6] for one in before])
    for size, draws in fresh_inputs(of, before, [5]).items():
        batch, seq = (int(part.partition("=")[2]) for part in size.split(","))
        for draw in draws:
            assert draw["ids"].shape == draw["x"].shape == (batch, seq)
            assert draw["ids"].dtype.name == "int64" and draw["x"].dtype.name == "float32"
            for at in range(min(seq, 6)):
                assert set(draw["ids"][:, at]) <= set(held[:, at])
                assert (draw["x"][:, at] <= 0).all() and draw["x"][:, at].min() >= real[:, at].min()
            for at in range(6, seq):
                assert set(draw["ids"][:, at]) <= set(before[2]["ids"][:, at]), "of the cases that reach so far"
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


def test_how_much_is_drawn_is_as_the_docs_say() -> None:
    assert (DRAWS, SMALL, BEYOND, TIMES) == (2, 16, 3, 12)
    assert (code._TRIES, code._SOURCES, code._SHRUNK) == (8, 4, 0.75)


def test_sizes_beyond_are_others_each_time_and_need_not_be_there() -> None:
    few = Dim(min=17, typical=18, max=20)
    for seed in range(20):
        drawn = sizes_of(few, np.random.default_rng(seed))
        assert len(set(drawn)) == len(drawn) == BEYOND and set(drawn) <= {17, 18, 19, 20}
    assert sorted(sizes_of(Dim(min=1, typical=2, max=3), np.random.default_rng(0))) == [1, 2, 3]


def test_without_dims_the_typical_draw_is_all() -> None:
    (sizes,) = fresh_inputs(spec({}, x=("float32", [3], "normal")), known(x=np.zeros(3, "float32")), [1])
    assert sizes == "fixed"


def test_a_point_that_is_too_large_is_drawn_with_the_fewest_rows() -> None:
    of = spec({"batch": {"min": 2, "typical": 3, "max": 3}, "seq": {"min": 1, "typical": 2, "max": 3}}, x=REAL)
    wide = [{"batch": 3, "seq": 3}]
    assert list(code._affordable(of, wide, [{"x": np.zeros(9)}])) == wide, "just as many"
    assert list(code._affordable(of, wide, [{"x": np.zeros(8)}])) == [{"batch": 2, "seq": 3}]
    assert list(code._affordable(of, wide, [{"x": np.zeros(5)}])) == []
    unbatched = spec({"seq": {"min": 1, "typical": 2, "max": 9}}, x=("float32", [1, "seq"], "normal"))
    assert batch_dim(unbatched) is None
    assert list(code._affordable(unbatched, [{"seq": 9}, {"seq": 4}], [{"x": np.zeros(4)}])) == [{"seq": 4}]


def test_rows_are_mixed_from_half_as_many_cases_as_they_are_and_in_another_order() -> None:
    of = spec({"batch": {"min": 200, "typical": 200, "max": 200}}, x=("int64", ["batch", 1], "x.npy"))
    before = [{"x": 1000 * case + np.arange(200).reshape(200, 1)} for case in range(4)]
    (draws,) = fresh_inputs(of, before, [1]).values()
    for draw in draws:
        column, rows = draw["x"][:, 0], np.arange(200)
        assert set(column // 1000) == {0, 1}, "of the first two"
        kept = column % 1000 == rows
        assert 82 < kept.sum() < 118, "half of the numbers stand where they stood"


def test_sizes_and_numbers_are_drawn_from_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """To numpy [3, 0] is the seed [3], so the numbers of the first turn have another one."""
    seeds: list[list[int]] = []
    stock = np.random.default_rng

    def noted(seed: Any = None) -> np.random.Generator:
        if isinstance(seed, list) and seed[0] == 3:  # not those of the cases
            seeds.append(seed)
        return stock(seed)

    monkeypatch.setattr(np.random, "default_rng", noted)
    of, before = spec({}, x=("float32", [3], "normal")), known(x=np.zeros(3, "float32"))
    first = fresh_inputs(of, before, [3])
    assert seeds == [[3], [3, 1]]
    again = fresh_inputs(of, before, [3], 1)
    assert seeds[2:] == [[3], [3, 2]] and not np.array_equal(first["fixed"][0]["x"], again["fixed"][0]["x"])


def test_what_has_the_size_is_taken_as_it_is() -> None:
    value = np.arange(6).reshape(2, 3)
    assert code._cut(value, (2, 3)) is value
    assert code._cut(value, (2, 5)).tolist() == [[0, 1, 2, 0, 1], [3, 4, 5, 3, 4]]


def test_a_size_only_once() -> None:
    of = spec({"batch": {"min": 1, "typical": 2, "max": 2}}, x=("float32", ["batch", 3], "normal"))
    drawn = fresh_inputs(of, known(x=np.zeros((2, 3), "float32")), [1])
    assert {size: len(draws) for size, draws in drawn.items()} == {"batch=2": DRAWS, "batch=1": 1}


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


def test_all_points_together_hold_twelve_times_the_numbers_of_the_largest_case() -> None:
    dims = {"batch": {"min": 1, "typical": 4, "max": 64}}
    of = spec(dims, x=("float32", ["batch", 3], "normal"), y=("float32", [1000], "normal"))
    before = [{"x": np.zeros((batch, 3), "float32"), "y": np.zeros(1000, "float32")} for batch in (4, 4, 64)]
    drawn = fresh_inputs(of, before, [1])
    total = sum(value.size for draws in drawn.values() for draw in draws for value in draw.values())
    total -= DRAWS * 1012  # those of the typical sizes
    assert 11 * 1192 < total + 1012 <= 12 * 1192


@pytest.mark.parametrize(("least", "always"), [(1, {*range(1, 17)}), (2, {*range(2, 17)})])
def test_only_sizes_up_to_16_are_always_drawn(least: int, always: set[int]) -> None:
    dim = Dim(min=least, typical=4, max=4000)
    found = [{*sizes_of(dim, np.random.default_rng(seed))} for seed in range(9)]
    assert set.intersection(*found) == always and {len(sizes) for sizes in found} == {len(always) + BEYOND}


def test_a_case_that_reaches_along_one_axis_alone_is_no_source() -> None:
    """Its numbers would stand at other places of the other axis."""
    sizes = {"min": 1, "typical": 2, "max": 4}
    of = spec({"a": sizes, "b": sizes}, x=("int64", ["a", "b", 1], "x.npy"), y=("int64", [2], "x.npy"))
    columns = np.array([0, 100])
    before = [
        {"x": (columns + np.zeros((2, 1), "int64"))[..., None], "y": np.arange(2)},
        {"x": np.zeros((4, 1, 1), "int64"), "y": np.arange(2)},
    ]
    for seed in range(5):
        for draw in fresh_inputs(of, before, [seed])["a=2,b=2"]:
            assert (draw["x"][:, 1] == 100).all() and (draw["x"][:, 0] == 0).all()


def test_rows_of_each_of_two_cases_are_mixed_at_any_place() -> None:
    of = spec({"batch": {"min": 1, "typical": 4, "max": 4}}, x=("int64", ["batch"], "x.npy"))
    before = [{"x": np.arange(4) + start} for start in (100, 200)]
    found = [draw["x"] for seed in range(9) for draw in fresh_inputs(of, before, [seed])["batch=4"]]
    for start in (100, 200):
        assert any(((value >= start) & (value < start + 4) & (value != start + np.arange(4))).any() for value in found)
