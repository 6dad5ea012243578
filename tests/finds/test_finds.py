"""The gate finds real defects of stock engines and converters, and blames the sublayer in which they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.finds.catalogue import FINDS
from tests.finds.show import bundle_of, verified

#: Each stands for a kind: a mistake of a converter, a network that proves nothing.
#: The others are slow.
IN_CI = ("lstm", "overflow")


def marked(names: list[str], in_ci: tuple[str, ...]) -> list[object]:
    return [one if one in in_ci else pytest.param(one, marks=pytest.mark.slow) for one in names]


@pytest.mark.parametrize("name", marked(list(FINDS), IN_CI))
def test_it_is_found_and_blamed(name: str, tmp_path: Path) -> None:
    find = FINDS[name]
    done = verified(bundle_of(find, tmp_path / name), find, as_json=True)
    told = done.json()
    assert (told["verdict"], done.code) == (find.verdict, find.code), done.err
    (blame,) = told["blame"]
    assert (blame["path"], blame["stage"]) == (find.path, find.stage), blame
    assert "tests/finds/networks.py:" in blame["line"]
    assert set(find.notes) <= set(told["notes"])
    wrong = [one for one in told["checks"] if one["engine"] == find.engine and one["kind"] == "outputs"]
    assert wrong and {one["outcome"] for one in wrong} <= {"match", "mismatch", "inconclusive"}


@pytest.mark.parametrize("name", marked([name for name, find in FINDS.items() if find.stock], ("bilstm",)))
def test_what_the_converter_gets_wrong_we_write_right(name: str, tmp_path: Path) -> None:
    find = replace(FINDS[name], stock=False)
    done = verified(bundle_of(find, tmp_path / name), find, as_json=True)
    told = done.json()
    assert (told["verdict"], done.code) == ("partial", 0), done.err  # only one engine was asked for
    assert told["counts"]["match"] == told["planned"] > 0
