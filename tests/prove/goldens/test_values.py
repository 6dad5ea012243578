"""Variations of a case that may reach other branches."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.values import draw, trials
from exporter.spec.model import Spec


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
