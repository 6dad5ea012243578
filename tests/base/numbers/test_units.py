"""How far a result is off as its reader would say: which outputs have rows whose answers can flip."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers.units import in_human_units
from tests.prove.compare.goldens import golden

SCORES = np.arange(24.0).reshape(2, 3, 4) + 1


def turned(rows: int) -> Any:
    """The scores, of which the last so many rows are turned round."""
    return np.where(np.arange(6).reshape(2, 3, 1) < 6 - rows, SCORES, SCORES[..., ::-1])


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_of_scores_the_best_class_of_each_row_is_an_answer(rows: int) -> None:
    told = in_human_units(golden(SCORES), turned(rows))
    assert (told["rows"], told["agree"]) == (6, 6 - rows)
    assert (told["relative"] > 0) == (rows > 0)


def test_the_share_is_of_the_root_mean_square() -> None:
    truth = np.float64([[3, 4], [0, 5]])
    assert in_human_units(golden(truth), truth + np.float64([[0, 0], [0, 1]]))["relative"] == pytest.approx(
        (1 / 50) ** 0.5
    )


@pytest.mark.parametrize("shape", [(24,), (24, 1), (2, 12, 1)])
def test_without_classes_there_are_no_rows(shape: tuple[int, ...]) -> None:
    truth = SCORES.reshape(shape)
    assert in_human_units(golden(truth), truth) == {"relative": 0}


def test_two_classes_are_enough() -> None:
    truth = SCORES.reshape(12, 2)
    assert in_human_units(golden(truth), truth[:, ::-1]).items() >= {"rows": 12, "agree": 0}.items()


def test_of_a_sample_there_are_no_rows() -> None:
    """Whatever form it has."""
    sampled = replace(golden(SCORES), index=np.arange(24))
    assert in_human_units(sampled, SCORES) == {"relative": 0}


def test_of_whole_numbers_each_is_an_answer() -> None:
    whole = np.int64([[3, 1], [2, 2]])
    assert in_human_units(golden(whole), whole + (whole == 3)) == {"rows": 4, "agree": 3}
