"""Groups of generated networks are spread over processes: none is lost, and rows come as they end."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pytest

from evals.generated import spread


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_group_is_judged_once(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "alone", lambda numbers: [str(number) for number in numbers])
    groups = [[number, number + 1] for number in range(0, 22, 2)]
    rows = list(itertools.chain(*spread.on_cores(iter(groups), jobs)))
    assert sorted(map(int, rows)) == [*range(22)]


def test_no_group_begins_before_rows_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def judge(numbers: Sequence[int]) -> list[str]:
        begun.extend(numbers)
        return []

    monkeypatch.setattr(spread, "alone", judge)
    rows = spread.on_cores(iter([[number] for number in range(9)]), 2)
    next(rows)
    assert {*begun} <= {0, 1}


@pytest.mark.slow
def test_a_group_in_a_process_of_its_own_has_a_row_for_each_number() -> None:
    rows = [json.loads(line) for line in spread.alone([3, 5])]
    assert [row["seed"] for row in rows] == [3, 5]
