from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import UsageError
from exporter.spec.recipe.base import Recipe, Samples
from exporter.spec.recipe.load import load_data, load_recipe, rows_of

ROWS = 7
ARRAYS = {"x": np.arange(ROWS * 2.0).reshape(ROWS, 2), "y": np.arange(ROWS)}


def recipe() -> Recipe:
    def nothing(*_: object) -> float:
        return 0.0

    samples = Samples(ARRAYS, ARRAYS)
    return Recipe(nothing, lambda: samples, ("x",), ("y",), nothing, nothing, "error", nothing, 1, 1)


@given(st.integers(1, 30), st.integers(0, 2**32))
def test_held_out_samples_are_real_rows_each_once_before_any_comes_again(count: int, seed: int) -> None:
    found = rows_of(Samples(ARRAYS, ARRAYS), "held_out", ("x", "y"), count, seed)
    assert found["x"].shape == (count, 2)
    assert np.array_equal(found["x"], ARRAYS["x"][found["y"]]), "the arrays are of one choice of rows"
    times = np.bincount(found["y"], minlength=ROWS)
    assert times.max() - times.min() <= 1
    again = rows_of(Samples(ARRAYS, ARRAYS), "held_out", ("x", "y"), count, seed)
    assert np.array_equal(again["y"], found["y"])


def test_held_out_samples_depend_on_the_seed() -> None:
    choices = {tuple(rows_of(Samples(ARRAYS, ARRAYS), "held_out", ("y",), ROWS, seed)["y"]) for seed in range(5)}
    assert len(choices) > 1


def test_held_out_samples_names_what_the_data_lacks() -> None:
    with pytest.raises(UsageError, match="no array 'z'") as caught:
        rows_of(Samples(ARRAYS, ARRAYS), "held_out", ("z",), 1, 0)
    assert caught.value.hint == "one of: x, y"


def test_the_parts_must_be_of_one_kind() -> None:
    other = {**ARRAYS, "x": ARRAYS["x"].astype(np.float32)}
    with pytest.raises(UsageError, match=r"'x' is float64\[2\] in train and float32\[2\] in held_out"):
        load_data(replace(recipe(), data=lambda: Samples(ARRAYS, other)), "here")


def test_digits_keep_a_fixed_fifth_apart() -> None:
    digits = load_recipe("recipes.digits:recipe")
    data = load_data(digits, "recipes.digits:recipe")
    assert data.train["image"].shape == (1437, 1, 8, 8)
    assert data.held_out["image"].shape == (360, 1, 8, 8)
    assert data.held_out["image"].dtype == np.float32
    assert (data.train["image"].min(), data.train["image"].max()) == (0, 1)
    assert data.held_out["label"][:12].tolist() == [2, 7, 2, 6, 8, 5, 4, 4, 8, 0, 9, 0]
