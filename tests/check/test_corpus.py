"""The labelled corpus: what the static check must find, and where it must stay silent."""

from __future__ import annotations

import pytest

from tests.traps.score import HERE, Case, cases

CASES = [*cases(HERE), *cases(HERE / "own")]


@pytest.mark.parametrize("case", [each for each in CASES if each.truth == "clean"], ids=lambda one: one.name)
def test_no_error_where_export_is_right(case: Case) -> None:
    assert not case.alarmed, [each.message for each in case.findings]


def test_traps_are_found_at_their_line() -> None:
    traps = [each for each in CASES if each.truth != "clean"]
    missed = [each.name for each in traps if not each.found]
    assert len(traps) >= 250
    assert len(missed) <= 0.05 * len(traps), missed
