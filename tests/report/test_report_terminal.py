"""Where the report is printed: on a terminal, into a pipe, in a locale without UTF-8."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from exporter.prove.judge.report import Report
from exporter.report.kinds.console import show
from exporter.report.table import Column, table
from tests.command import PATIENCE
from tests.report.stored_reports import FORMS, REPORTS, TERMINAL, TERMINALS, on_terminal, terminal_path

#: The real funnel around a verb that ends as `verify` does, on a report with letters that ASCII has not.
PROGRAM = """
import sys, typer
from dataclasses import replace
from pathlib import Path
from tests.report.stored_reports import REPORTS
from exporter.cli import run
from exporter.cli.outcome import conclude_report

note, form = sys.argv[1].encode().decode("unicode_escape"), sys.argv[2]

def verb(as_json: bool = typer.Option(False, "--json")):
    return conclude_report(replace(REPORTS["failed"](), notes=(note,)), Path("b"), as_json=as_json)

app = typer.Typer()
app.command()(verb)
run.run(app, ["--json"] if form == "json" else [])
"""
NOTE = "Größe − café"


def _print_in_ascii(form: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", PROGRAM, NOTE.encode("unicode_escape").decode(), form]
    return subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE)


def test_a_locale_without_utf8_loses_letters_but_not_the_report() -> None:
    done = _print_in_ascii("text")
    assert done.returncode == 1
    assert done.stderr.startswith(b"  try: ") and done.stderr.count(b"\n") == 1
    assert NOTE.encode("ascii", "backslashreplace") in done.stdout
    assert b"FAILED" in done.stdout


def test_a_locale_without_utf8_still_gets_json_that_can_be_read() -> None:
    done = _print_in_ascii("json")
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout)["notes"] == [NOTE]


def _shown(report: Report, width: int) -> str:
    """What a terminal of so many columns shows."""
    text = StringIO()
    show(report, Console(file=text, width=width, force_terminal=True, color_system="standard", _environ={}))
    return text.getvalue()


def _bare(coloured: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", coloured)


@pytest.mark.parametrize("name", REPORTS)
def test_a_terminal_adds_colour_and_takes_nothing_away(name: str) -> None:
    coloured = _shown(REPORTS[name](), 80)
    assert "\x1b[" in coloured
    assert _bare(coloured).split() == FORMS["console"](REPORTS[name]()).split()


@pytest.mark.parametrize(("name", "width"), TERMINALS)
def test_the_report_on_a_terminal_is_as_agreed(name: str, width: int) -> None:
    expected = terminal_path(name, width).read_text(encoding="utf-8")
    assert on_terminal(REPORTS[name](), width) == expected, "if meant: python -m tests.report.stored_reports, and look"
    assert {path.name for path in TERMINAL.iterdir()} == {terminal_path(*stored).name for stored in TERMINALS}


def _in_a_terminal(columns: int) -> tuple[int, str]:
    """The exit code and all that a terminal of so many columns gets of a report that failed."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[2])}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "note", "text"], env=environment, stdout=theirs, stderr=theirs, stdin=theirs
    ) as process:
        os.close(theirs)
        told = bytearray()
        with contextlib.suppress(OSError):  # the other side is closed
            while part := os.read(ours, 1 << 16):
                told += part
    os.close(ours)
    return process.returncode, told.decode().replace("\r\n", "\n")


def test_a_terminal_of_80_columns_and_a_pipe_get_every_name_whole() -> None:
    code, coloured = _in_a_terminal(80)
    shown = _bare(coloured)
    assert code == 1 and "\x1b[" in coloured
    assert max(map(len, shown.splitlines())) <= 80
    piped = subprocess.run(
        [sys.executable, "-c", PROGRAM, "note", "text"],
        env={**os.environ, "COLUMNS": "80", "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert piped.returncode == 1 and "\x1b" not in piped.stdout
    assert max(map(len, piped.stdout.splitlines())) > 120, "a line of a pipe has no end"
    assert shown.split() == (piped.stdout + piped.stderr).split()
    assert shown.splitlines()[-1].startswith("  try: exporter release SPEC")
    for name in ("pdmodel/paddle_inference", "repro/onnx_onnxruntime_batch=1_logits-8d5b561e"):
        assert name in shown and name in piped.stdout


WORDS = st.text("abcdefgh_", min_size=1, max_size=22)


@given(WORDS, WORDS, st.lists(WORDS, min_size=1, max_size=4), WORDS, st.integers(20, 130))
def test_a_row_goes_on_in_the_next_line_and_no_word_is_broken_or_lost(
    variant: str, engine: str, provider: list[str], case: str, width: int
) -> None:
    columns = [Column("variant/engine", number=False), Column("match"), Column("worst at", number=False, gives=True)]
    columns.append(Column("on", number=False, gives=True))
    rows = [("onnx/onnxruntime", "17/17", "batch=8", "CPU"), (f"{variant}/{engine}", "1/1", case, " ".join(provider))]
    lines = table(columns, rows, width)
    words = [word for row in rows for cell in row for word in cell.split()]
    longest = max(len("variant/engine  match"), *map(len, words)) + len("  on ")
    assert max(map(len, lines)) <= max(width, longest)
    assert [
        word for word in " ".join(lines[1:]).replace(",", " ").split() if word not in ("worst", "at", "on")
    ] == words
    assert len(table(columns, rows)) == 3, "without a width every row is one line"


def test_a_table_in_each_of_its_forms() -> None:
    columns = (Column("name", number=False), Column("n"), Column("why", number=False, gives=True))
    rows = (("a-name", "1", "it fits"), ("a-much-longer-name", "22", "it does not fit in there"))
    assert table(columns, rows) == [
        "name                 n  why",
        "a-name               1  it fits",
        "a-much-longer-name  22  it does not fit in there",
    ]
    assert table(columns, rows, 24) == [
        "name                 n",
        "a-name               1",
        "  why it fits",
        "a-much-longer-name  22",
        "  why it does not fit in",
        "    there",
    ]
    assert table(columns, rows, 12) == [
        "name       n",
        "a-name     1",
        "  why it",
        "    fits",
        "a-much-longer-name",
        "          22",
        "  why it",
        "    does not",
        "    fit in",
        "    there",
    ]
