"""The report on a terminal: in colour and as wide as that; elsewhere plain text whose lines have no end.

No name is broken: a row that a terminal does not hold goes on in the next line (:mod:`exporter.report.table`).
"""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.text import Text

from exporter.base.words import count, plain, some
from exporter.prove.judge.report import Report
from exporter.prove.verdict.claim import Outcome
from exporter.report.base import Renderer
from exporter.report.summary import (
    Group,
    Run,
    blames,
    error_ratio,
    extent,
    groups,
    headline,
    notes,
    number,
    runs,
    title,
    truths,
    waivers,
)
from exporter.report.table import Column, paragraph, pieces

_COLOURS = {"passed": "green", "failed": "red"}
#: The column of the table that is coloured by what became of the run.
_MATCHES = 1


def render(report: Report) -> str:
    """The report as plain text, a line for each row and sentence; the same on every machine."""
    text = StringIO()
    # An empty environment: COLUMNS, FORCE_COLOR and the like of the caller must not change a file.
    show(report, Console(file=text, force_terminal=False, color_system=None, _environ={}))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def show(report: Report, console: Console) -> None:
    """Print the runs, what is no match, why and where from, waivers, notes, then the verdict with its first reason."""
    _say(console, f"{plain(f'{report.name} {report.version}')}: {extent(report)}")
    _say(console, "")
    _show_table(runs(report), report.budget, console)
    for group in groups(report):
        _show_group(group, console)
    said = (
        ("blame", blames(report)),
        ("waivers", waivers(report)),
        ("notes", notes(report)),
        ("truth", truths(report)),
    )
    for heading, lines in said:
        if lines:
            _head(console, heading, "bold")
        for line in lines:
            _say(console, line, indent=2)
    _head(console, f"{title(report)}: {headline(report)}", f"bold {_COLOURS.get(report.verdict.word, 'yellow')}")
    if reason := report.first_reason():
        _say(console, plain(reason), indent=2)
    if report.digest:
        _say(console, f"digest {report.digest}")


def _show_table(found: list[Run], budget: float, console: Console) -> None:
    numbers = [Column(heading) for heading in ("match", "bits", f"ratio<={budget:g}")]
    places = [Column(heading, number=False, gives=True) for heading in ("worst at", "on")]
    columns = [Column("variant/engine", number=False), *numbers, *places]
    styles = {run.name: _style(run.gravest) for run in found}
    style = ""
    for row, line in enumerate(pieces(columns, [_cells(run) for run in found], _width(console))):
        style = next((styles.get(text, "") for text, at in line if at == 0), style)
        shown = Text.assemble(
            *((text, style if at == _MATCHES else "") for text, at in line), style="" if row else "bold"
        )
        shown.rstrip()
        _print(console, shown)


def _cells(run: Run) -> tuple[str, ...]:
    ratio, place = "-", ""
    if run.worst:
        claim, evidence = run.worst
        ratio, place = number(error_ratio(evidence)), claim.case
        if len({claim.output for claim, _ in run.rows if claim.output}) > 1:
            place += f" {claim.output}"
    return run.name, f"{run.matches}/{len(run.rows)}", run.bits, ratio, plain(place), run.place or "-"


def _show_group(group: Group, console: Console) -> None:
    _head(
        console,
        f"{group.outcome.value.replace('_', ' ')}: {count(len(group.claims), 'claim')}",
        f"bold {_style(group.outcome)}",
    )
    _say(console, group.reason, indent=2)
    for name, places in group.by_run().items():
        _say(console, f"{name}: {some(places, 8)}", "dim", indent=4)


def _style(outcome: Outcome) -> str:
    calm = {Outcome.MATCH: "green", Outcome.INCONCLUSIVE: "yellow", Outcome.WAIVED: "yellow"}
    return calm.get(outcome, "red")


def _width(console: Console) -> int | None:
    return console.width if console.is_terminal else None


def _head(console: Console, text: str, style: str) -> None:
    _say(console, "")
    _say(console, text, style)


def _say(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Print one paragraph."""
    for line in paragraph(text, _width(console), indent):
        _print(console, Text(line, style))


def _print(console: Console, line: Text) -> None:
    """Print a line as it is: a Text, so that brackets in names and reasons are not taken for markup, and unbroken."""
    console.print(line, soft_wrap=True)


plugin: Renderer = render
