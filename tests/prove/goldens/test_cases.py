from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.prove.goldens.cases import (
    MASKS,
    WHOLE,
    batch_dim,
    declared_range,
    kinds_of,
    odd_size,
    pairwise,
    plan_cases,
    promised,
)
from exporter.prove.goldens.values import content, draw
from exporter.spec.inputs import Dim, Input
from exporter.spec.model import Spec
from exporter.spec.read import validate


@st.composite
def dims(draw_: Any, most: int = 12, steps: tuple[int, ...] = (1, 1, 2, 32)) -> Dim:
    step = draw_(st.sampled_from(steps))
    low, typical, high = sorted(draw_(st.integers(1, most)) * step for _ in range(3))
    return Dim(min=low, typical=typical, max=high, multiple_of=step)


def spec(named: dict[str, Dim], **inputs: Any) -> Spec:
    shape = list(named)
    described = inputs or {"x": {"dtype": "float32", "shape": [*shape, 3]}}
    return validate(
        {
            "name": "n",
            "model": "a:b",
            "weights": "factory",
            "inputs": described,
            "dims": {name: dim.model_dump() for name, dim in named.items()},
        },
        "test",
    )


DIMS = st.dictionaries(st.sampled_from(["batch", "seq", "width", "depth"]), dims(), max_size=4)


@given(DIMS)
def test_every_promised_size_is_a_case(named: dict[str, Dim]) -> None:
    cases = plan_cases(spec(named))
    plain = [case for case in cases if not case.kind]
    assert len({case.name for case in cases}) == len(cases), "a case is known by its name"
    for name, dim in named.items():
        assert {case.dims[name] for case in plain} >= {dim.min, dim.typical, dim.max, odd_size(dim)}
        for case in cases:
            assert dim.min <= case.dims[name] <= dim.max and case.dims[name] % dim.multiple_of == 0
    typical = {name: dim.typical for name, dim in named.items()}
    twice = [case for case in plain if case.dims == typical]
    assert len(twice) == 2 and twice[0].seed != twice[1].seed, "each output needs a stranger of its own shape"
    assert len({case.seed for case in plain}) == len(plain), "no two plain cases hold the same numbers"


@given(DIMS)
def test_every_size_of_each_dim_meets_every_size_of_each_other(named: dict[str, Dim]) -> None:
    points = pairwise(named)
    sizes = {name: {dim.min, dim.typical, dim.max, odd_size(dim)} for name, dim in named.items()}
    for one, other in combinations(named, 2):
        met = {(point[one], point[other]) for point in points}
        assert met >= {(a, b) for a in sizes[one] for b in sizes[other]}


@given(dims())
def test_an_odd_size_is_odd_where_there_is_one(dim: Dim) -> None:
    size = odd_size(dim)
    assert dim.min <= size <= dim.max and size % dim.multiple_of == 0
    factors = range(dim.min // dim.multiple_of, dim.max // dim.multiple_of + 1)
    if any(factor % 2 for factor in factors) and len(factors) > 2:
        assert size // dim.multiple_of % 2


@pytest.mark.parametrize(
    ("shapes", "batch"),
    [
        ([["batch", 3]], "batch"),
        ([["batch", 3], ["batch"]], "batch"),
        ([[], ["batch", 3], [4, 3]], "batch"),
        ([[]], None),
        ([["batch", "batch"]], None),
        ([["batch", 3], [3, "batch"]], None),
        ([["batch", 3], ["rows", 3]], None),
        ([[3, "batch"]], None),
        ([[3]], None),
        ([["past+1", 3]], None),
    ],
)
def test_the_dim_that_counts_rows(shapes: list[list[Any]], batch: str | None) -> None:
    used = {dim.partition("+")[0] for shape in shapes for dim in shape if isinstance(dim, str)}
    inputs = {f"x{at}": {"dtype": "float32", "shape": shape} for at, shape in enumerate(shapes)}
    assert batch_dim(spec({name: Dim(min=1, typical=2, max=3) for name in used}, **inputs)) == batch


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from(["batch", "seq"]), dims(4, (1, 2))), st.integers(0, 1000))
def test_what_is_drawn_fits_the_spec_and_is_drawn_again(named: dict[str, Dim], seed: int) -> None:
    first = next(iter(named), None)
    shape = list(named)
    wanted = spec(
        named,
        x={"dtype": "float32", "shape": [*shape, 3]},
        u={"dtype": "float64", "shape": shape, "values": "uniform(-2,5)"},
        i={"dtype": "int32", "shape": shape, "values": f"integers(0,{first or 7})"},
        f={"dtype": "bool", "shape": [4], "values": "integers(0,2)"},
    ).model_copy(update={"seed": seed})
    for case in plan_cases(wanted):
        drawn = draw(wanted, case, None)
        for name, one in wanted.inputs.items():
            sizes = tuple(case.dims[dim] if isinstance(dim, str) else dim for dim in one.shape)
            assert drawn[name].shape == sizes and drawn[name].dtype.name == one.dtype
            assert drawn[name].flags.c_contiguous and np.isfinite(drawn[name]).all()
        assert drawn["i"].min() >= 0 and drawn["i"].max() < (wanted.dims[first].max if first else 7)
        if not case.kind:
            assert drawn["u"].min() >= -2 and drawn["u"].max() <= 5
        again = draw(wanted, case, None)
        assert all(np.array_equal(drawn[name], again[name]) for name in drawn)


def test_related_cases_are_what_they_say() -> None:
    wanted = spec({"batch": Dim(min=1, typical=4, max=6)})
    drawn = {case.name: draw(wanted, case, None)["x"] for case in plan_cases(wanted)}
    base = drawn["batch=4"]
    assert np.array_equal(drawn["batch=4:reversed"], base[::-1])
    assert np.array_equal(drawn["batch=4:equal_rows"], np.repeat(base[:1], 4, axis=0))
    assert np.array_equal(drawn["batch=4:one_row"], base[:1])
    assert not drawn["batch=4:zeros"].any() and np.array_equal(drawn["batch=4:large"], base * 16)
    assert not np.array_equal(drawn["batch=4#2"], base)


def ids(**inputs: Any) -> Spec:
    named = {"batch": Dim(min=1, typical=3, max=6), "seq": Dim(min=2, typical=6, max=9)}
    used = str(list(inputs.values()))
    named = {name: dim for name, dim in named.items() if name in used}
    described = {
        name: {"dtype": dtype, "shape": shape, "values": values} for name, (dtype, shape, values) in inputs.items()
    }
    return spec(named, **described)


IDS = ("int64", ["batch", "seq"], "integers(0,40)")
FLAGS = ("float32", ["batch", "seq"], "integers(0,2)")
LENGTHS = ("int32", ["batch"], "integers(1,seq)")
REAL = ("float32", ["batch", 3], "normal")


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from([IDS, FLAGS, LENGTHS, REAL]), max_size=3),
    st.integers(0, 99),
)
def test_no_probing_case_repeats_another_and_every_value_is_declared(inputs: dict[str, Any], seed: int) -> None:
    wanted = ids(**inputs, ids=IDS).model_copy(update={"seed": seed})
    seen: dict[str, str] = {}
    for case in plan_cases(wanted):
        drawn = draw(wanted, case, None)
        same = seen.setdefault(content(drawn), case.name)
        assert same == case.name
        for name, one in wanted.inputs.items():
            if one.values.startswith("integers"):
                low, high = declared_range(one, case.dims) or (0, 0)
                assert low <= drawn[name].min() and drawn[name].max() < high and drawn[name].dtype.name == one.dtype


def test_strange_ids_lengths_and_masks_are_what_they_say() -> None:
    wanted = ids(ids=IDS, mask=FLAGS, lengths=LENGTHS)
    cases = {case.kind: case for case in plan_cases(wanted) if case.kind}
    base = draw(wanted, plan_cases(wanted)[0], None)
    drawn = {kind: draw(wanted, case, None) for kind, case in cases.items()}
    rows_of = {"rows_of_ids", "rows_of_ids-2", "rows_of_mask", "rows_of_mask-2", "rows_of_lengths"}
    assert set(drawn) == {*WHOLE, *MASKS, "padded", "equal_rows", "reversed", "one_row", *rows_of}
    assert (drawn["smallest"]["ids"] == 0).all() and (drawn["smallest"]["lengths"] == 1).all()
    assert (drawn["largest"]["ids"] == 39).all() and (drawn["largest"]["lengths"] == 5).all()
    assert all(len(set(row)) == 6 for row in drawn["distinct"]["ids"].tolist())
    assert np.array_equal(drawn["sorted"]["ids"], np.sort(base["ids"], -1))
    assert np.array_equal(drawn["sorted"]["mask"], -np.sort(-base["mask"], -1)), "a mask has its ones first"
    repeated = drawn["repeated"]["ids"]
    assert np.array_equal(repeated[:, 1::2], repeated[:, ::2])
    assert (drawn["all_ones"]["mask"] == 1).all()
    assert (drawn["all_but_one"]["mask"][:, :-1] == 1).all() and not drawn["all_but_one"]["mask"][:, -1].any()
    for kind in ("smallest", "largest", "distinct", "repeated"):
        assert np.array_equal(drawn[kind]["mask"], base["mask"])
    assert not drawn["all_zeros"]["mask"].any()
    for kind in ("all_ones", "all_but_one", "all_zeros"):
        assert np.array_equal(drawn[kind]["ids"], base["ids"])


def test_whole_numbers_have_no_cases_of_real_ones() -> None:
    kinds = {case.kind for case in plan_cases(ids(ids=IDS))}
    assert not kinds & {"zeros", "large", "tiny", "one_hot", "all_ones", "all_but_one", "all_zeros"}
    single = ids(size=("float32", ["batch", 2], "integers(160,161)"))
    assert {case.kind for case in plan_cases(single)} <= {"", "equal_rows", "reversed", "one_row"}
    both = {case.kind for case in plan_cases(ids(ids=IDS, x=REAL))}
    assert {"zeros", "large", "smallest", "distinct"} <= both


def test_ids_of_a_file_have_no_declared_range() -> None:
    wanted = ids(ids=("int64", ["batch", "seq"], "ids.npy"))
    assert {case.kind for case in plan_cases(wanted)} == {"", "padded", "equal_rows", "reversed", "one_row"}


class TestFiles:
    def drawn(self, path: Path, dtype: str = "float32") -> np.ndarray[Any, Any]:
        wanted = spec(
            {"batch": Dim(min=1, typical=2, max=3)},
            x={"dtype": dtype, "shape": ["batch", 2], "values": str(path)},
        )
        return next(draw(wanted, case, None)["x"] for case in plan_cases(wanted) if case.dims["batch"] == 3)

    def test_rows_come_from_the_file(self, tmp_path: Path) -> None:
        values = np.arange(40, dtype="float32").reshape(20, 2)
        np.save(tmp_path / "x.npy", values)
        rows = self.drawn(tmp_path / "x.npy")
        assert any(np.array_equal(rows, values[at : at + 3]) for at in range(18))

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\x93NUMPY\x01\x00",
            b"PK\x03\x04 a pickle or a zip",
            np.arange(4.0).tobytes(),
        ],
    )
    def test_what_is_no_npy_file_is_said(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "x.npy").write_bytes(content)
        with pytest.raises(UsageError, match=r"not a readable \.npy file") as caught:
            self.drawn(tmp_path / "x.npy")
        assert caught.value.where == str(tmp_path / "x.npy")

    def test_a_missing_file_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="No such file"):
            self.drawn(tmp_path / "x.npy")

    def test_a_truncated_file_is_said(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.zeros((20, 2), "float32"))
        content = (tmp_path / "x.npy").read_bytes()
        (tmp_path / "x.npy").write_bytes(content[:-10])
        with pytest.raises(UsageError):
            self.drawn(tmp_path / "x.npy")

    def test_no_pickle_is_loaded(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.array([print], dtype=object), allow_pickle=True)
        with pytest.raises(UsageError, match="not a readable"):
            self.drawn(tmp_path / "x.npy")

    @pytest.mark.parametrize("shape", [(2, 2), (20,), (20, 3), (20, 2, 1)])
    def test_values_that_do_not_fit_are_said(self, tmp_path: Path, shape: tuple[int, ...]) -> None:
        np.save(tmp_path / "x.npy", np.zeros(shape, "float32"))
        with pytest.raises(UsageError, match="the case needs"):
            self.drawn(tmp_path / "x.npy")

    def test_another_dtype_is_said(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.zeros((20, 2), "float64"))
        with pytest.raises(UsageError, match="the values are float64"):
            self.drawn(tmp_path / "x.npy")


def names(**bounds: int) -> list[tuple[str, int]]:
    dim = Dim(min=bounds["min"], typical=bounds["typical"], max=bounds["max"])
    return [(case.name, case.seed) for case in plan_cases(spec({"batch": dim}))]


def test_the_typical_point_comes_first_and_again_with_a_seed_of_its_own() -> None:
    """Then min, max and an odd size; then the probing cases, with the seed of the typical one."""
    plain = [("batch=4", 0), ("batch=4#2", 4), ("batch=1", 1), ("batch=10", 2), ("batch=5", 3)]
    probing = ("zeros", "large", "tiny", "one_hot", "equal_rows", "reversed", "one_row")
    assert names(min=1, typical=4, max=10) == [*plain, *((f"batch=4:{kind}", 0) for kind in probing)]


def test_one_row_is_a_case_where_one_is_promised_and_the_typical_case_has_more() -> None:
    assert "batch=4:one_row" not in dict(names(min=2, typical=4, max=6))
    assert "batch=4:reversed" in dict(names(min=2, typical=4, max=6))
    assert not {name for name, _ in names(min=1, typical=1, max=6)} & {"batch=1:reversed", "batch=1:one_row"}
    assert {"batch=2:reversed", "batch=2:one_row"} <= {name for name, _ in names(min=1, typical=2, max=6)}
    alone = plan_cases(spec({"batch": Dim(min=1, typical=4, max=6)}))[-1]
    assert (alone.kind, dict(alone.dims)) == ("one_row", {"batch": 1})


def test_padding_is_a_case_where_another_dim_than_the_rows_is_named() -> None:
    seq = Dim(min=2, typical=3, max=4)
    assert "padded" in {case.kind for case in plan_cases(spec({"batch": seq, "seq": seq}))}
    assert "padded" not in {case.kind for case in plan_cases(spec({"batch": seq}))}


@pytest.mark.parametrize(
    ("bounds", "odd"),
    [
        ((1, 4, 10, 1), 5),
        ((2, 4, 4, 1), 3),
        ((4, 4, 4, 1), 4),
        ((32, 64, 128, 32), 96),
        ((2, 2, 3, 1), 3),
        ((6, 6, 8, 1), 7),
    ],
)
def test_the_odd_size_lies_in_the_middle(bounds: tuple[int, int, int, int], odd: int) -> None:
    low, typical, high, step = bounds
    assert odd_size(Dim(min=low, typical=typical, max=high, multiple_of=step)) == odd


def test_what_is_declared_of_whole_numbers_decides_the_strange_ones() -> None:
    def kinds(values: str, size: int = 4, dtype: str = "int64") -> set[str]:
        described = {"ids": {"dtype": dtype, "shape": ["batch", size], "values": values}}
        return {case.kind for case in plan_cases(spec({"batch": Dim(min=2, typical=4, max=6)}, **described))} - {""}

    rows = {"equal_rows", "reversed", "rows_of_ids"}
    assert kinds("integers(0,2)") == {"all_ones", "all_but_one", "sorted", "all_zeros"} | rows
    assert kinds("integers(0,3)") == set(WHOLE) | rows
    assert kinds("integers(1,3)") == set(WHOLE) | rows
    assert kinds("integers(0,1)") == rows - {"rows_of_ids"}, "one value alone is no range"
    assert kinds("integers(0,9)", size=1) == {"smallest", "largest"} | rows
    assert kinds("integers(0,2)", size=1) == {"all_ones", "all_zeros"} | rows
    assert kinds("integers(0,9)", dtype="float32") == set(WHOLE) | rows


PLANNED = """
4,6,64=7 4,6,64#2=23 4,2,32=8 4,9,128=9 4,5,96=10 1,6,32=11 1,2,64=12 1,9,96=13 1,5,128=14 10,6,128=15 10,2,96=16
10,9,64=17 10,5,32=18 5,6,96=19 5,2,128=20 5,9,32=21 5,5,64=22
"""
PROBING = ("zeros", "large", "tiny", "one_hot", "padded", "equal_rows", "reversed", "one_row")


def test_the_plan_of_a_spec_stays_what_it_is() -> None:
    """A bundle holds the names and the seeds, and `verify` plans them again: another order would call it incomplete."""
    wanted = spec(
        {
            "batch": Dim(min=1, typical=4, max=10),
            "seq": Dim(min=2, typical=6, max=9),
            "width": Dim(min=32, typical=64, max=128, multiple_of=32),
        },
        x={"dtype": "float32", "shape": ["batch", "seq", "width"]},
    ).model_copy(update={"seed": 7})
    plain = [case for case in plan_cases(wanted) if not case.kind]
    said = [f"{','.join(map(str, case.dims.values()))}{'#2' * ('#2' in case.name)}={case.seed}" for case in plain]
    assert said == PLANNED.split()
    assert [case.name for case in plain][1:3] == ["batch=4,seq=6,width=64#2", "batch=4,seq=2,width=32"]
    probing = [case for case in plan_cases(wanted) if case.kind]
    typical = {"batch": 4, "seq": 6, "width": 64}
    assert [(case.name, case.seed, case.kind) for case in probing] == [
        (f"batch=4,seq=6,width=64:{kind}", 7, kind) for kind in PROBING
    ]
    assert [case.dims for case in probing] == [typical] * 7 + [{**typical, "batch": 1}]


def test_without_named_dims_there_is_one_size_drawn_twice() -> None:
    inputs = {"x": {"dtype": "float32", "shape": [3]}, "k": {"dtype": "int64", "shape": [], "values": "integers(0,9)"}}
    assert [(case.name, case.seed) for case in plan_cases(spec({}, **inputs))] == [
        ("fixed", 0),
        ("fixed#2", 1),
        *((f"fixed:{kind}", 0) for kind in ("zeros", "large", "tiny", "one_hot", "smallest", "largest")),
    ]
    assert pairwise({}) == [{}]


@pytest.mark.parametrize(
    ("dim", "sizes"),
    [
        (Dim(min=1, typical=3, max=4), [1, 2, 3, 4]),
        (Dim(min=4, typical=4, max=8, multiple_of=2), [4, 6, 8]),
        (Dim(min=32, typical=64, max=96, multiple_of=32), [32, 64, 96]),
    ],
)
def test_every_size_that_a_dim_may_have(dim: Dim, sizes: list[int]) -> None:
    assert list(promised(dim)) == sizes


def test_points_are_no_more_than_the_two_dims_with_most_sizes_need() -> None:
    two, four = Dim(min=1, typical=1, max=2), Dim(min=1, typical=2, max=4)
    assert [len(pairwise(dims)) for dims in ({"a": two, "b": two, "c": four}, {"a": four, "b": two, "c": four})] == [
        8,
        16,
    ]


def test_the_first_pair_not_yet_met_is_met_next() -> None:
    dims = {"a": Dim(min=1, typical=1, max=2), "b": Dim(min=1, typical=1, max=1), "c": Dim(min=1, typical=2, max=3)}
    points = [tuple(point.values()) for point in pairwise(dims)]
    assert points == [(1, 1, 2), (2, 1, 1), (1, 1, 1), (1, 1, 3), (2, 1, 2), (2, 1, 3)]


def test_one_dim_takes_each_size_once() -> None:
    sizes = [point["batch"] for point in pairwise({"batch": Dim(min=1, typical=4, max=10)})]
    assert sizes == [4, 1, 10, 5]


def test_the_last_dim_says_how_many_stand_in_a_row() -> None:
    sizes = {"batch": 3, "seq": 1, "long": 5}

    def kinds(shape: list[Any], values: str = "integers(0,9)", dtype: str = "int64", **more: bool) -> tuple[str, ...]:
        return kinds_of(Input.model_validate({"dtype": dtype, "shape": shape, "values": values, **more}), sizes)

    assert kinds(["long", "seq"]) == kinds(["long", 1]) == kinds([]) == ("smallest", "largest")
    assert kinds(["seq", "long"]) == kinds(["seq", 2]) == WHOLE
    assert kinds(["long"], "integers(0,seq)") == (), "one value alone is no range"
    assert kinds(["long"], "integers(seq,batch)") == WHOLE and kinds(["long"], "integers(0,2)") == MASKS
    assert kinds(["long"], "integers(0,2)", empty_rows=False) == MASKS[:-1] and MASKS[-1] == "all_zeros"
    assert kinds(["long"], "normal", "float64") == ("zeros", "large", "tiny", "one_hot")
    assert kinds(["long"], "ids.npy") == ()


def sequences() -> Spec:
    """Rows of a dataset whose length is a named dim."""
    content = {
        "name": "n",
        "model": "a:b",
        "recipe": "a:recipe",
        "inputs": {"ids": {"dtype": "int64", "shape": ["batch", "seq", 2], "values": "dataset"}},
        "dims": {"batch": {"min": 1, "typical": 2, "max": 4}, "seq": {"min": 2, "typical": 4, "max": 6}},
    }
    return validate(content, "test")


def long_rows(length: int) -> Any:
    def rows(names: tuple[str, ...], count: int, seed: int) -> dict[str, Any]:
        return {name: np.arange(count * length * 2).reshape(count, length, 2) for name in names}

    return rows


def test_rows_of_a_dataset_are_cropped_behind_to_the_sizes_of_the_case() -> None:
    asked = sequences()
    for case in plan_cases(asked):
        drawn = draw(asked, case, long_rows(9))["ids"]
        if not case.kind:
            whole = long_rows(9)(("ids",), case.dims["batch"], 0)["ids"]
            assert drawn.shape == (case.dims["batch"], case.dims["seq"], 2)
            assert (drawn == whole[:, : case.dims["seq"]]).all()


def test_rows_that_are_shorter_than_a_case_are_refused_with_the_size_that_they_have() -> None:
    asked = sequences()
    longest = next(case for case in plan_cases(asked) if case.dims["seq"] == 6)
    with pytest.raises(UsageError) as caught:
        draw(asked, longest, long_rows(5))
    assert caught.value.what == "the dataset's rows have 5 along 'seq', the case needs 6"
    assert caught.value.where == "inputs.ids.values: dataset" and "dims.seq no size over 5" in caught.value.hint


def test_a_fixed_axis_of_a_dataset_is_not_cropped() -> None:
    asked = sequences()
    with pytest.raises(UsageError, match=r"the values are int64\[2, 4, 3\]"):
        draw(asked, plan_cases(asked)[0], lambda names, count, seed: {"ids": np.zeros((count, 9, 3), "int64")})


def test_a_length_may_be_that_of_the_whole_row() -> None:
    asked = spec(
        {"batch": Dim(min=64, typical=64, max=64), "seq": Dim(min=1, typical=3, max=5)},
        x={"dtype": "float32", "shape": ["batch", "seq"]},
        lengths={"dtype": "int64", "shape": ["batch"], "values": "integers(1,seq+1)"},
    )
    for case in plan_cases(asked):
        if not case.kind:
            lengths = draw(asked, case, None)["lengths"]
            assert (lengths.min(), lengths.max()) == (1, case.dims["seq"]), case.name
