"""Finds: each has all parts of a report and was measured; a sample runs; the page is what the measurements make."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from evals.finds.find import CLASSES, PACKAGES, SCRIPTS, finds, read
from evals.finds.report import page, report, store, stored
from evals.finds.run import Measured, measure, outcome
from tests.command import ROOT, environment
from tests.sampling import slow

FINDS = finds()
ROWS = stored()
SHOWN = {row.name: row for row in ROWS if row.shows}
#: Run in CI: a wrong answer without Paddle, one of Paddle, and a process that ends.
IN_CI = ("range_of_large_whole_numbers", "add_a_number", "half_of_a_transpose")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evals.finds", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", [name if name in IN_CI else slow(name) for name in FINDS])
def test_it_shows_here(name: str) -> None:
    """Should this fail, it is mended upstream: note the version with `--measure`."""
    find = FINDS[name]
    row = measure(find)
    if not row.outcome:
        pytest.skip(f"not installed: {set(find.needs) - set(row.packages)}")
    assert row.shows, row.outcome


@pytest.mark.parametrize("name", FINDS)
def test_it_has_all_parts(name: str) -> None:
    find = FINDS[name]
    assert find.tool in PACKAGES and find.kind in CLASSES and find.package in find.needs
    assert re.fullmatch(r"wrong|hangs|SIG[A-Z]+|fails: .+", find.shows)
    assert not re.search(r"\b(exporter|evals|tests)\b", find.script), "it runs with stock packages alone"
    row = SHOWN[name]
    exact = [by for by in row.expected if re.search(r"float64|whole numbers|definition|int64", by)]
    assert exact or len(row.expected) > 1, "right by exact arithmetic, or by two engines"
    assert (find.kind == CLASSES[0]) == bool(row.actual and row.outcome == "wrong")
    text = report(find, row)
    parts = (f"**{find.title}**", "Environment: ", "```python", "Expected:", "Actual: ", f"Cause: {find.cause}")
    assert all(part in text for part in parts) and find.script in text
    assert all(f"{package} {version}" in text for package, version in row.packages.items())


def test_there_are_more_than_twenty_by_exact_arithmetic() -> None:
    assert len(SHOWN) >= 75 and sum(FINDS[name].kind == CLASSES[0] for name in SHOWN) >= 50


def test_the_page_is_what_was_measured() -> None:
    assert (ROOT / "docs/finds.md").read_text(encoding="utf-8") == page(FINDS, ROWS)


def test_every_measurement_is_of_a_find() -> None:
    assert {row.name for row in ROWS} == set(FINDS)


@pytest.mark.parametrize(
    ("code", "err", "ended"),
    [
        (0, "", "right"),
        (1, "Traceback\nAssertionError: the pool is wrong\n", "wrong"),
        (1, "Traceback\nAssertionError: not finite\n", "fails: AssertionError: not finite"),
        (1, "x\nValueError: (InvalidArgument) sizes\n  [Hint: of x]\n", "fails: ValueError: (InvalidArgument) sizes"),
        (1, "ModuleNotFoundError: No module named 'paddle'", "fails: ModuleNotFoundError: No module named 'paddle'"),
        (2, "", "fails: exit 2"),
        (-11, "", "SIGSEGV"),
        (None, "", "hangs"),
    ],
)
def test_how_a_script_ended(code: int | None, err: str, ended: str) -> None:
    assert outcome(code, err) == ended


def test_a_script_without_a_part_is_no_find(tmp_path: Path) -> None:
    script = tmp_path / "lacking.py"
    whole = (SCRIPTS / "add_a_number.py").read_text(encoding="utf-8")
    script.write_text(re.sub(r"^shows: .*\n", "", whole, flags=re.MULTILINE), encoding="utf-8")
    with pytest.raises(ValueError, match=r"lacking\.py: its docstring has a title"):
        read(script)


def test_a_row_takes_the_place_of_that_of_the_same_packages(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    row = Measured("a", "wrong", True, {"paddlepaddle": "1"}, "3.11", "2026-01-01")
    other = Measured("a", "right", False, {"paddlepaddle": "2"}, "3.11", "2026-01-01")
    again = Measured("a", "right", False, {"paddlepaddle": "1"}, "3.11", "2026-01-02")
    store([row, other], file)
    store([again], file)
    assert stored(file) == [again, other]


@pytest.mark.parametrize(
    ("body", "ended", "code"),
    [
        ("assert 1 == 1", "right", 1),
        ('assert 1 == 2, "one is wrong"', "wrong", 0),
        ("import os\nos.abort()", "SIGABRT", 3),
        ("import no_such_package", "fails: ModuleNotFoundError: No module named 'no_such_package'", 3),
    ],
)
def test_what_is_mended_ends_with_1_and_what_cannot_be_tried_with_3(
    tmp_path: Path, body: str, ended: str, code: int
) -> None:
    script = tmp_path / "short.py"
    script.write_text(
        f'"""Short\n\ntool: Paddle\nshows: wrong\nneeds: pytest\ncause: none\n\nNothing.\n"""\n\n{body}\n',
        encoding="utf-8",
    )
    row = measure(read(script))
    assert (row.outcome, row.code) == (ended, code)


def test_a_package_that_is_not_installed_is_no_answer(tmp_path: Path) -> None:
    script = tmp_path / "short.py"
    script.write_text(
        '"""S\n\ntool: Paddle\nshows: wrong\nneeds: no-such\ncause: none\n\nNothing.\n"""\n', encoding="utf-8"
    )
    row = measure(read(script))
    assert (row.outcome, row.shows, row.code) == ("", False, 3)


def test_the_list_and_a_name_that_is_none() -> None:
    listed = run()
    assert listed.returncode == 0 and len(listed.stdout.splitlines()) == len(FINDS)
    assert run("no_such_find").returncode == 2


def test_a_find_is_run_and_reported_by_the_command() -> None:
    done = run("range_of_large_whole_numbers")
    assert done.returncode == 0, done.stderr
    assert "Actual: `[]`" in done.stdout and "1152921504606846976" in done.stdout
