"""Variations of a case that may reach other branches."""

from __future__ import annotations

import numpy as np

from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.values import draw, trials
from exporter.spec.model import Spec


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
