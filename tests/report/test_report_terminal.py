"""Where the report is printed: on a terminal, into a pipe, in a locale without UTF-8."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from exporter.judge.report import Report
from exporter.report.console import show
from exporter.verdict.claim import Claim, Evidence, Outcome, Verdict
from tests.command import PATIENCE
from tests.report.stored_reports import FORMS, REPORTS

#: The real funnel around a verb that ends as `verify` does, on a report with letters that ASCII has not.
PROGRAM = """
import sys, typer
from dataclasses import replace
from tests.report.stored_reports import REPORTS
from exporter.cli import _run
from exporter.cli._outcome import conclude_report

note, form = sys.argv[1].encode().decode("unicode_escape"), sys.argv[2]

def verb():
    return conclude_report(replace(REPORTS["failed"](), notes=(note,)), as_json=form == "json")

app = typer.Typer()
app.command()(verb)
_run.run(app, [])
"""
NOTE = "Größe − café"


def _print_in_ascii(form: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", PROGRAM, NOTE.encode("unicode_escape").decode(), form]
    return subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE)


def test_a_locale_without_utf8_loses_letters_but_not_the_report() -> None:
    done = _print_in_ascii("text")
    assert (done.returncode, done.stderr) == (1, b"")
    assert NOTE.encode("ascii", "backslashreplace") in done.stdout
    assert b"FAILED" in done.stdout


def test_a_locale_without_utf8_still_gets_json_that_can_be_read() -> None:
    done = _print_in_ascii("json")
    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout)["notes"] == [NOTE]


@pytest.mark.parametrize("name", REPORTS)
def test_a_terminal_adds_colour_and_takes_nothing_away(name: str) -> None:
    text = StringIO()
    show(REPORTS[name](), Console(file=text, width=80, force_terminal=True, color_system="standard", _environ={}))
    coloured = text.getvalue()
    assert "\x1b[" in coloured
    bare = "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", coloured).splitlines()) + "\n"
    assert bare == FORMS["console"](REPORTS[name]())


WORDS = st.text("abcdefgh_", min_size=1, max_size=22)


def _columns(table: list[str]) -> list[str]:
    """All that stands under each heading, without blanks; no number here is longer than its heading."""
    starts = [match.start() for match in re.finditer(r"\S+( at)?", table[0])]
    ends = [*starts[1:], None]
    return [
        "".join("".join(row[start:end].split()) for row in table[1:]) for start, end in zip(starts, ends, strict=True)
    ]


@given(WORDS, WORDS, st.lists(WORDS, min_size=1, max_size=4), WORDS, st.integers(70, 130))
def test_what_a_line_does_not_hold_goes_on_in_the_next_and_nothing_is_cut(
    variant: str, engine: str, provider: list[str], case: str, width: int
) -> None:
    names = [("onnx", "onnxruntime", "CPUExecutionProvider", "batch=8"), (variant, engine, " ".join(provider), case)]
    evidence = {
        Claim(format, "fp32", engine, case, "logits"): Evidence(
            Outcome.MATCH, elements=3, metrics={"error_ratio": 1.5}, provider=provider, device="cpu"
        )
        for format, engine, provider, case in names
    }
    text = StringIO()
    report = Report("digits", "1.0.0", Verdict(frozenset(evidence), evidence), budget=4.0)
    show(report, Console(file=text, width=width, force_terminal=False, color_system=None, _environ={}))
    lines = text.getvalue().split("\n")
    begin = next(at for at, line in enumerate(lines) if line.startswith("variant/engine"))
    table = lines[begin : next(at for at in range(begin, len(lines)) if not lines[at].strip())]
    assert max(map(len, table)) <= width
    places = {"onnx": "CPU", variant: "".join(provider) + "oncpu"}
    order = sorted(evidence)
    found = _columns(table)
    assert found[0] == "".join(f"{claim.format}/{claim.engine}" for claim in order)
    assert found[4] == "".join(claim.case for claim in order)
    assert found[5] == "".join(places[claim.format] for claim in order)
