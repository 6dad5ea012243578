"""The gate finds real defects of stock engines and converters, and blames the sublayer in which they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.finds.catalogue import FINDS
from tests.finds.show import bundle_of, verified

#: Each stands for a kind: a kernel of an engine, a converter, a network that proves nothing. The others are slow.
IN_CI = ("convnext", "lstm", "overflow")


@pytest.mark.parametrize("name", [one if one in IN_CI else pytest.param(one, marks=pytest.mark.slow) for one in FINDS])
def test_it_is_found_and_blamed(name: str, tmp_path: Path) -> None:
    find = FINDS[name]
    done = verified(bundle_of(find, tmp_path / name), find, as_json=True)
    told = done.json()
    assert (told["verdict"], done.code) == (find.verdict, find.code), done.err
    (blame,) = told["blame"]
    assert (blame["path"], blame["stage"]) == (find.path, find.stage), blame
    assert "tests/finds/networks.py:" in blame["line"]
    assert set(find.notes) <= set(told["notes"])
    wrong = [one for one in told["checks"] if one["engine"] == find.engine]
    assert wrong and {one["outcome"] for one in wrong} <= {"match", "mismatch", "inconclusive"}
