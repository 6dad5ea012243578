"""What the inputs of a case hold, and variations of them that may reach other branches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.base.tensors import Array
from exporter.prove.goldens import values
from exporter.prove.goldens.cases import Case, plan_cases
from exporter.prove.goldens.values import content, draw, real_rows, trials
from exporter.spec.model import Spec
from exporter.spec.read import validate
from exporter.spec.recipe.base import Recipe, Samples

ROWS: dict[str, Array] = {"x": np.arange(14, dtype="float32").reshape(7, 2), "y": np.arange(7)}


def nothing(*_: object) -> float:
    return 0.0


RECIPE = Recipe(nothing, lambda: Samples(ROWS, ROWS), ("x",), ("y",), nothing, nothing, "error", nothing, 1, 1)
BATCH = {"batch": {"min": 1, "typical": 3, "max": 5}}


def described(**more: Any) -> Spec:
    plain = {"name": "n", "model": "m:f", "weights": "factory", "dims": BATCH}
    return validate({key: value for key, value in {**plain, **more}.items() if value is not None}, "test")


@pytest.mark.parametrize("seed", range(8))
def test_scalars_have_both_signs_among_the_cases_together_and_apart(seed: int) -> None:
    inputs = {name: {"dtype": "float32", "shape": shape} for name, shape in (("x", ["b"]), ("s", []), ("u", []))}
    dims = {"b": {"min": 1, "typical": 2, "max": 3}}
    described = {"inputs": inputs, "dims": dims, "seed": seed}
    spec = Spec.model_validate({"name": "scalars", "model": "m:f", "weights": "factory", **described})
    rows = [draw(spec, case, None) for case in plan_cases(spec) if not case.kind]
    assert {bool(row["s"] > 0) for row in rows} == {bool(row["u"] > 0) for row in rows} == {False, True}
    assert {bool(row["s"] * row["u"] > 0) for row in rows} == {False, True}


def test_a_scalar_is_varied_as_a_row_is() -> None:
    inputs = {
        "x": {"dtype": "float32", "shape": ["b", 4]},
        "s": {"dtype": "float32", "shape": []},
        "n": {"dtype": "int64", "shape": [], "values": "integers(0,5)"},
    }
    dims = {"b": {"min": 1, "typical": 2, "max": 3}}
    spec = Spec.model_validate(
        {"name": "scalars", "model": "m:f", "weights": "factory", "inputs": inputs, "dims": dims}
    )
    first = plan_cases(spec)[0]
    drawn = draw(spec, first, None)
    varied = [inputs for _, inputs in trials(spec, first, drawn, 40)]
    assert len({float(row["s"]) for row in varied}) > 20
    assert {int(row["n"]) for row in varied} == {*range(5)}
    assert all(row[name].shape == value.shape for row in varied for name, value in drawn.items())
    assert all(np.isfinite(row["x"]).all() for row in varied)


def test_rows_of_a_recipe_are_drawn_where_an_input_asks_for_them() -> None:
    x: dict[str, Any] = {"dtype": "float32", "shape": ["batch", 2]}
    recipe = {"recipe": f"{__name__}:RECIPE", "weights": None}
    both = described(inputs={"x": {**x, "values": "dataset"}, "z": x}, **recipe)
    rows = real_rows(both)
    assert rows is not None
    for case in plan_cases(both)[:2]:
        drawn = draw(both, case, rows)
        assert {tuple(row) for row in drawn["x"]} < {tuple(row) for row in ROWS["x"]}
        assert drawn["x"].shape == drawn["z"].shape == (3, 2)
        assert not {tuple(row) for row in drawn["z"]} & {tuple(row) for row in ROWS["x"]}
    assert real_rows(described(inputs={"x": x}, **recipe)) is None
    assert real_rows(described(inputs={"x": x})) is None


def test_samples_fill_the_input_that_asks_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for at in range(2):
        np.save(tmp_path / f"{at}.npy", np.full((4, 4, 3), at + 40, "uint8"))
    chains = {side: {"training": steps, "deployment": steps} for side, steps in (("preprocess", ["layout"]),)}
    pipeline = {"samples": ["*.npy"], "fold": True, "input": "image", **chains}
    image = {"dtype": "uint8", "shape": ["batch", 4, 4, 3], "values": "samples"}
    other = {"dtype": "uint8", "shape": ["batch", 4, 4, 3], "values": "integers(0,9)"}
    spec = described(inputs={"other": other, "image": image}, pipeline=pipeline)
    drawn = draw(spec, plan_cases(spec)[0], None)
    assert {*drawn["image"].ravel()} == {40, 41} and drawn["image"].shape == (3, 4, 4, 3)
    assert drawn["other"].max() < 9 and [*drawn] == ["other", "image"]


def test_what_varies_keeps_a_pattern() -> None:
    value = np.array([[1.0, -2.0, 3.0], [4.0, -5.0, 6.0]])
    made = [pattern(value, np.random.default_rng(1)) for pattern in values._PATTERNS]
    assert made[0] is value and made[1].tolist() == np.abs(value).tolist() and (made[2] == 1).all()
    assert made[3].shape == (2, 3) and made[3][0].tolist() == made[3][1].tolist() and len({*made[3][0]}) == 3
    assert made[4].tolist() == [[1, -2, 3], [0, 0, 0]]


def test_whole_numbers_are_padded_with_what_is_nearest_to_zero_in_their_range() -> None:
    def padded(dtype: str, declared: str) -> list[float]:
        dims = {**BATCH, "seq": {"min": 2, "typical": 5, "max": 8}}
        spec = described(inputs={"x": {"dtype": dtype, "shape": ["batch", "seq"], "values": declared}}, dims=dims)
        case = next(case for case in plan_cases(spec) if case.kind == "padded")
        drawn = draw(spec, case, None)["x"]
        assert (drawn[:, :3] == draw(spec, plan_cases(spec)[0], None)["x"][:, :3]).all()
        return sorted({*drawn[:, 3:].ravel().tolist()})

    assert padded("int64", "integers(3,9)") == [3] and padded("int64", "integers(-9,-3)") == [-4]
    assert padded("int64", "integers(-2,5)") == [0] and padded("float32", "normal") == [0]


def test_a_fixed_first_axis_counts_no_rows() -> None:
    """Of one that stays the same while others are reversed."""
    inputs = {name: {"dtype": "float32", "shape": [size, 2]} for name, size in (("x", "batch"), ("table", 4))}
    inputs["scalar"] = {"dtype": "float32", "shape": []}
    spec = described(inputs=inputs)
    plain, case = plan_cases(spec)[0], next(case for case in plan_cases(spec) if case.kind == "reversed")
    before, after = draw(spec, plain, None), draw(spec, case, None)
    assert np.array_equal(after["x"], before["x"][::-1]) and np.array_equal(after["table"], before["table"])
    assert after["scalar"] == before["scalar"]
    strange = draw(spec, Case("strange", plain.dims, plain.seed, "strange"), None)
    assert all(np.array_equal(strange[name], before[name]) for name in before)


def test_inputs_are_known_by_name_shape_and_content() -> None:
    x, y = np.arange(6.0), np.arange(6.0, 12.0)
    assert content({"x": x, "y": y}) == content({"x": x.copy(), "y": y})
    others = [{"x": y, "y": x}, {"x": x.reshape(2, 3), "y": y}, {"z": x, "y": y}, {"x": x + 1, "y": y}]
    assert len({content(one) for one in [{"x": x, "y": y}, *others]}) == 5


def test_inputs_that_are_alike_hold_other_numbers_and_so_does_a_further_attempt() -> None:
    spec = described(inputs={name: {"dtype": "float32", "shape": ["batch", 9]} for name in ("x", "z")})
    first, further = (draw(spec, plan_cases(spec)[0], None, attempt) for attempt in (0, 1))
    rows = [one.tobytes() for drawn in (first, further) for one in drawn.values()]
    assert len({*rows}) == 4
    assert all(value.min() < 0 < value.max() for value in (*first.values(), *further.values())), "no sign by turns"


def test_rows_of_a_recipe_that_fit_no_input_are_told_as_they_came() -> None:
    """As many are asked for as the input with the most rows takes."""

    def said(**shapes: list[str | int]) -> str:
        one: dict[str, Any] = {"dtype": "float32", "values": "dataset"}
        inputs: dict[str, Any] = {name: {**one, "shape": shape} for name, shape in shapes.items()}
        inputs["other"] = {"dtype": "float32", "shape": ["batch"]}
        spec = described(inputs=inputs, recipe="r:r", weights=None)
        with pytest.raises(UsageError) as caught:
            draw(spec, plan_cases(spec)[0], lambda names, count, _: dict.fromkeys(names, np.zeros((count,), "float32")))
        return caught.value.what

    assert said(table=[5], x=["batch"]) == "the values are float32[5], the input is float32[3]"
    assert said(s=[]) == "the values are float32[1], the input is float32[]"


def test_a_row_gets_a_token_only_where_the_range_of_the_case_has_one() -> None:
    dims = {**BATCH, "seq": {"min": 1, "typical": 4, "max": 6}}
    ids = {"dtype": "int64", "shape": ["batch", "seq"], "values": "integers(0,seq)", "empty_rows": False}
    spec = described(inputs={"ids": ids}, dims=dims)
    for case in plan_cases(spec):
        drawn = draw(spec, case, None)["ids"]
        assert drawn.max() < max(case.dims["seq"], 4 if case.kind else 0)
        assert case.dims["seq"] == 1 or drawn.any(axis=1).all()


def test_padding_lies_along_a_named_dim() -> None:
    dims = {**BATCH, "seq": {"min": 1, "typical": 4, "max": 6}}
    spec = described(inputs={"x": {"dtype": "float32", "shape": ["batch", 2, "seq"]}}, dims=dims)
    case = next(case for case in plan_cases(spec) if case.kind == "padded")
    drawn = draw(spec, case, None)["x"]
    assert drawn[..., :2].all() and not drawn[..., 2:].any()


def test_real_numbers_of_a_range_reach_both_ends_of_it() -> None:
    spec = described(inputs={"x": {"dtype": "float64", "shape": ["batch", 99], "values": "uniform(-2,5)"}})
    drawn = draw(spec, plan_cases(spec)[0], None)["x"]
    assert -2 <= drawn.min() < -1.5 and 4.5 < drawn.max() < 5
