"""What is judged again inside a program, and what is not: its outputs were judged by the goldens."""

from __future__ import annotations

import numpy as np
import pytest

from exporter.base.numbers.norms import FLOOR
from exporter.prove.root_cause.align import FreshProgram
from exporter.prove.root_cause.locate import locate, locate_inside
from exporter.prove.root_cause.witness import Witness
from tests.prove.root_cause.test_align import observed, shown

OUTPUT, INSIDE = 4, 2


@pytest.mark.parametrize(
    ("key", "times", "path"), [(OUTPUT, 5.0, None), (OUTPUT, 40.0, "c"), (INSIDE, 5.0, None), (INSIDE, 40.0, "b.x")]
)
def test_an_output_that_was_judged_right_is_judged_as_mildly_as_a_sublayer(
    key: int, times: float, path: str | None
) -> None:
    source = observed()
    truth = source.truth(key)
    moved = truth + times * FLOOR * np.abs(truth).max() * np.sign(truth)
    values = shown(source, **{f"t{key}": moved.astype("float64")})
    values = {name: value.astype("float64") for name, value in values.items()}
    witness = Witness(source, lambda: FreshProgram(why_not="not traced"))
    place = locate_inside(witness, values, 4.0)
    assert (None if place is None else source.calls[place.call].path) == path
    if key == OUTPUT:
        assert locate(witness, values, 4.0)[0] is not None, "a claim that failed is another matter"
