"""Which inputs are tried beside the planned cases, in which order, and what a search may cost."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from exporter.base.tensors import Array
from exporter.prove.goldens.cases import Case, plan_cases
from exporter.prove.goldens.coverage import SIZE, VALUE, Unreached
from exporter.prove.goldens.explore import PATIENCE, RECORDING, TRIALS, TRYING, Allowance, attempts
from exporter.prove.goldens.values import draw
from exporter.spec.model import Spec
from exporter.spec.read import validate

Attempt = tuple[Case, dict[str, Array], int]
ROWS = np.zeros((9, 2), "float32")
FEW = {"min": 1, "typical": 4, "max": 9}


def described(**dims: dict[str, int]) -> Spec:
    inputs = {"x": {"dtype": "float32", "shape": [*dims, 2]}}
    return validate({"name": "n", "model": "m:f", "weights": "factory", "dims": dims, "inputs": inputs}, "test")


def tried(spec: Spec, *missing: Unreached, rows: Any = None) -> list[Attempt]:
    first = plan_cases(spec)[0]
    inputs = {"x": np.zeros([first.dims.get(str(size), 2) for size in spec.inputs["x"].shape], "float32")}
    return list(attempts(spec, first, inputs, rows, missing))


def unreached(by: int, *numbers: int) -> Unreached:
    return Unreached("net.py", 1, "", by, numbers)


def of_size(spec: Spec, *numbers: int, dim: str = "batch") -> list[int]:
    """The sizes of a dim that are tried for a branch which sizes decide, in order."""
    return [case.dims[dim] for case, _, _ in tried(spec, unreached(SIZE, *numbers))]


def test_every_promised_size_that_no_case_has_is_tried_once() -> None:
    assert sorted(of_size(described(batch=FEW))) == [2, 3, 6, 7, 8]  # the cases have 1, 4, 9, and 5, the odd one
    assert sorted(of_size(described(batch={"min": 1, "typical": 4, "max": TRIALS}))) == sorted(
        {*range(1, TRIALS + 1)} - {1, 4, 31, TRIALS}
    )


def test_sizes_near_the_numbers_of_a_condition_are_tried_first() -> None:
    spec = described(batch={"min": 8, "typical": 64, "max": 4096, "multiple_of": 8})
    tries = of_size(spec, 1000, 203)
    assert tries[:6] == [200, 208, 192, 1000, 1008, 992]
    assert len(tries) == len(set(tries)) and all(size % 8 == 0 and 8 < size < 4096 for size in tries)
    assert len(tries) > TRIALS / 2
    assert of_size(spec, 64, 8, 5000)[:4] == [16, 72, 56, *of_size(spec)[:1]]  # neither what is recorded nor beyond


def test_values_at_other_sizes_are_not_those_of_a_planned_case() -> None:
    spec = described(batch=FEW)
    found = tried(spec, unreached(SIZE))
    assert len({case.seed for case, _, _ in found}) == len(found)
    assert not {case.seed for case, _, _ in found} & {case.seed for case in plan_cases(spec)}
    for case, inputs, by in found:
        assert by == SIZE and inputs["x"].shape == (case.dims["batch"], 2)
        assert np.array_equal(inputs["x"], draw(spec, Case("", case.dims, case.seed), None)["x"])
        assert case.kind == "search" and case.name.startswith(f"batch={case.dims['batch']}:search-")
    assert of_size(spec) == of_size(spec)  # the same spec gives the same cases


def test_dims_are_changed_by_turns_and_every_third_time_together() -> None:
    wide = {"min": 1, "typical": 4, "max": 500}
    found = [case.dims for case, _, _ in tried(described(batch=wide, width=wide), unreached(SIZE, 100))]
    changed = [tuple(name for name, size in dims.items() if size != 4) for dims in found]
    assert changed[:9] == [
        ("batch",),
        ("width",),
        ("batch", "width"),
        ("width",),
        ("batch",),
        ("batch", "width"),
        ("batch",),
        ("width",),
        ("batch", "width"),
    ]
    assert (found[0]["batch"], found[1]["width"]) == (100, 100)
    together = {(dims["batch"], dims["width"]) for dims in found if 4 not in dims.values()}
    assert len(together) == TRIALS // 3


def test_of_a_dim_with_one_size_there_is_nothing_to_try() -> None:
    fixed = {"min": 4, "typical": 4, "max": 4}
    assert tried(described(batch=fixed), unreached(SIZE, 4)) == []
    assert {case.dims["width"] for case, _, _ in tried(described(batch=FEW, width=fixed), unreached(SIZE))} == {4}


def test_samples_that_have_one_size_are_not_tried_at_others() -> None:
    inputs = {"x": {"dtype": "float32", "shape": ["batch", "width"], "values": "dataset"}}
    dims = {"batch": FEW, "width": {"min": 1, "typical": 2, "max": 9}}
    spec = validate({"name": "n", "model": "m:f", "recipe": "m:r", "dims": dims, "inputs": inputs}, "test")
    found = tried(spec, unreached(SIZE), rows=lambda names, count, _seed: {name: ROWS[:count] for name in names})
    assert found
    assert {case.dims["width"] for case, _, _ in found} == {2}


@pytest.mark.parametrize(
    ("missing", "first"),
    [
        ([unreached(VALUE)], [VALUE] * 4),
        ([unreached(SIZE)], [SIZE] * 4),
        ([unreached(VALUE), unreached(SIZE)], [SIZE, VALUE, SIZE, VALUE]),
    ],
)
def test_what_is_missing_says_what_is_tried_by_turns(missing: list[Unreached], first: list[int]) -> None:
    found = tried(described(batch=FEW), *missing)
    assert [by for _, _, by in islice(found, 4)] == first
    assert sum(by == VALUE for _, _, by in found) == (TRIALS if VALUE in first else 0)
    assert sum(by == SIZE for _, _, by in found) == (5 if SIZE in first else 0)
    assert len({case.name for case, _, _ in found}) == len(found)


def test_numbers_count_only_where_sizes_decide() -> None:
    spec = described(batch={"min": 1, "typical": 4, "max": 4000})
    both = tried(spec, unreached(VALUE, 1234), unreached(SIZE))
    assert 1234 not in {case.dims["batch"] for case, _, _ in both}


def test_a_search_costs_what_the_recording_took_by_the_elements_of_its_inputs() -> None:
    typical, large = {"x": np.zeros((4, 2)), "y": np.zeros(2)}, {"x": np.zeros((8, 2)), "y": np.zeros(4)}
    allowance = Allowance.of([typical, large])
    assert allowance.forwards == RECORDING * 3
    assert allowance.take(large, RECORDING) and allowance.forwards == RECORDING
    assert not allowance.take(large, RECORDING) and allowance.forwards == RECORDING  # a smaller one still fits
    assert allowance.take(typical, RECORDING) and allowance.forwards == 0
    assert not allowance.take({"x": np.zeros(1), "y": np.zeros(0)}, 1)


def test_inputs_without_elements_cost_something() -> None:
    assert Allowance.of([{"x": np.zeros(1)}, {"x": np.zeros(2)}]).forwards == RECORDING * 3
    empty = {"x": np.zeros((0, 2))}
    allowance = Allowance.of([empty])
    assert allowance.forwards == RECORDING
    assert not allowance.take(empty, RECORDING + 1) and allowance.take(empty, RECORDING)


def test_a_little_more_than_is_left_is_too_much() -> None:
    allowance = Allowance.of([{"x": np.zeros(20)}])
    assert not allowance.take({"x": np.zeros(21)}, RECORDING) and allowance.take({"x": np.zeros(20)}, RECORDING)


def test_the_limits_are_those_that_every_release_had() -> None:
    """Other ones would try other inputs, and give other goldens."""
    assert (TRIALS, RECORDING, TRYING, PATIENCE) == (60, 6, 2, 20)
