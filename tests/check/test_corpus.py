"""The labelled corpus: what the static check must find, and where it must stay silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.score import HERE, cases, labels

FOLDERS = (HERE, HERE / "own")
CLEAN = [(at, name) for at in FOLDERS for name, label in labels(at).items() if label["truth"] == "clean"]


@pytest.mark.parametrize(("folder", "name"), CLEAN, ids=[name for _, name in CLEAN])
def test_no_error_where_export_is_right(folder: Path, name: str) -> None:
    (case,) = cases(folder, names=frozenset([name]))
    assert not case.alarmed, [each.message for each in case.findings]


def test_traps_are_found_at_their_line() -> None:
    wanted = {at: frozenset(name for name, label in labels(at).items() if label["truth"] != "clean") for at in FOLDERS}
    traps = [case for at, names in wanted.items() for case in cases(at, names=names)]
    missed = [each.name for each in traps if not each.found]
    assert len(traps) >= 250
    assert len(missed) <= 0.05 * len(traps), missed
