"""The labelled corpus: what the static check must find, and where it must stay silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.traps import corpus, golden
from evals.traps.measure import KEPT, in_fork
from evals.traps.score import HERE, cases, labels

FOLDERS = (HERE, HERE / "own")
CLEAN = [(at, name) for at in FOLDERS for name, label in labels(at).items() if label.truth == "clean"]


@pytest.mark.parametrize(("folder", "name"), CLEAN, ids=[name for _, name in CLEAN])
def test_no_error_where_export_is_right(folder: Path, name: str) -> None:
    (case,) = cases(folder, names=frozenset([name]))
    assert not case.alarmed, [each.message for each in case.findings]


def test_traps_are_found_at_their_line() -> None:
    """Those that the exporter exports rightly all the same need no more than a note."""
    kept = {at: {*(at / KEPT).read_text().split()} for at in FOLDERS}
    wanted = {
        at: frozenset(name for name, label in labels(at).items() if label.truth != "clean" and name not in kept[at])
        for at in FOLDERS
    }
    traps = [case for at, names in wanted.items() for case in cases(at, names=names)]
    missed = [each.name for each in traps if not each.found]
    assert len(traps) >= 250
    assert len(missed) <= 0.05 * len(traps), missed


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_what_needs_no_more_than_a_note_is_exported_rightly(folder: Path) -> None:
    """A sample; `python -m evals.traps.measure FOLDER --ours --write` measures all."""
    held, kept = labels(folder), (folder / KEPT).read_text().split()
    assert {*kept} <= {name for name, label in held.items() if label.truth != "clean"}
    for name in kept[:: max(1, len(kept) // 4)]:
        assert in_fork(corpus.laid_out(folder, held[name]), 60, ours=True)["truth"] == "clean", name


def test_every_finding_is_as_recorded() -> None:
    """`python -m evals.traps.golden --write` renews it; then the commit says which lines change, and why."""
    assert [*golden.lines()] == golden.FILE.read_text().splitlines(keepends=True)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_files_of_the_corpus_are_as_they_would_be_written(folder: Path, tmp_path: Path) -> None:
    held = corpus.read(folder)
    corpus.write(tmp_path, held.values())
    assert {path.name: path.read_text() for path in tmp_path.glob("*.md")} == {
        path.name: path.read_text() for path in folder.glob("*.md") if path.name != "README.md"
    }


def test_a_file_that_holds_something_else_than_cases_is_refused(tmp_path: Path) -> None:
    case = next(iter(corpus.read(HERE).values()))
    corpus.write(tmp_path, [case])
    (path,) = tmp_path.glob("*.md")
    path.write_text(path.read_text().replace("- truth:", "truth:"))
    with pytest.raises(ValueError, match="no case"):
        corpus.read(tmp_path)


def test_what_is_left_out_moves_no_line(tmp_path: Path) -> None:
    case = corpus.Case(
        "one",
        "clean",
        "x",
        None,
        "w",
        "class Net: ...\n",
        "x float32[None, 2] (added before the cast), seed 3, rows and shifts (2, 2.0), (1, -2.0)",
    )
    whole, bare = (corpus.laid_out(tmp_path, case, out).read_text() for out in ((), (corpus.SPECS, corpus.FACTORY)))
    assert "SPECS" in whole and "make" in whole and "inputs" in bare
    assert "SPECS" not in bare and "make" not in bare and whole.count("\n") == bare.count("\n")
