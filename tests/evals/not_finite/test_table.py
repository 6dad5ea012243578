"""The table of what engines do with NaN, infinities and negative ids: a row of the page, measured again."""

from __future__ import annotations

import numpy as np
import pytest

from evals.not_finite.__main__ import BEGIN, ENGINES, alike, measure, shown
from evals.not_finite.operators import OPERATORS
from tests.command import ROOT

PAGE = (ROOT / "docs/not-finite.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wanted", "given", "same"),
    [
        ([1.0, np.nan], [1.0, np.nan], True),
        ([1.0, np.nan], [1.0, np.inf], False),
        ([np.inf, -np.inf], [np.inf, np.inf], False),
        ([1.0, 2.0], [1.0, 2.000001], True),
        ([1.0, 2.0], [1.0, 2.1], False),
    ],
)
def test_an_answer_is_alike_where_it_is_finite_in_the_same_places(
    wanted: list[float], given: list[float], same: bool
) -> None:
    assert alike(np.array(wanted), np.array(given)) is same
    assert not alike(np.array(wanted), np.array(given, "float32")) and not alike(np.array(wanted), "refuses")
    assert alike("refuses (ValueError)", "refuses (RuntimeError)")


def test_the_page_says_what_is_measured_of_relu() -> None:
    relu = next(operator for operator in OPERATORS if operator.code == "F.relu(x)")
    found = measure(relu, relu.draws[0])
    assert tuple(found) == ENGINES
    eager, *others = found.values()
    cells = ["as eager" if alike(eager, other) else shown(other) for other in others]
    assert f"| `F.relu(x)` | x = {shown(relu.draws[0]['x'])} | {shown(eager)} | {' | '.join(cells)} |" in PAGE


def test_every_operator_stands_in_the_page() -> None:
    measured = PAGE.partition(BEGIN)[2]
    assert [operator.code for operator in OPERATORS if f"`{operator.code}`" not in measured] == []
