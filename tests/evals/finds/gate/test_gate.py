"""The gate finds real defects of stock engines and converters, and blames the sublayer in which they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evals.finds.gate.catalogue import FINDS
from evals.finds.gate.show import bundle_of, verified
from tests.sampling import slow

#: Each stands for a kind: a mistake of a converter, a network that proves nothing.
#: The others are slow.
IN_CI = ("lstm", "overflow")
STOCK = [name for name, find in FINDS.items() if find.stock]


@pytest.mark.parametrize("name", [name if name in IN_CI else slow(name) for name in FINDS])
def test_it_is_found_and_blamed(name: str, tmp_path: Path) -> None:
    find = FINDS[name]
    done = verified(bundle_of(find, tmp_path / name), find, as_json=True)
    told = done.json()
    assert (told["verdict"], done.code) == (find.verdict, find.code), done.err
    (blame,) = told["blame"]
    assert (blame["path"], blame["stage"]) == (find.path, find.stage), blame
    assert "evals/finds/gate/networks.py:" in blame["line"]
    assert set(find.notes) <= set(told["notes"])
    wrong = [one for one in told["checks"] if one["engine"] == find.engine and one["kind"] == "outputs"]
    assert wrong and {one["outcome"] for one in wrong} <= {"match", "mismatch", "inconclusive"}


@pytest.mark.parametrize("name", [name if name == "bilstm" else slow(name) for name in STOCK])
def test_what_the_converter_gets_wrong_we_write_right(name: str, tmp_path: Path) -> None:
    find = replace(FINDS[name], stock=False)
    done = verified(bundle_of(find, tmp_path / name), find, as_json=True)
    told = done.json()
    assert (told["verdict"], done.code) == ("partial", 0), done.err  # only one engine was asked for
    assert told["counts"]["match"] == told["planned"] > 0
