"""The report on a terminal: 80 columns of plain text where there is none, colours where there is."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from exporter.parity.report import Report
from exporter.parity.verdict import Outcome
from exporter.report._summary import (
    Group,
    Run,
    blames,
    count,
    error_ratio,
    extent,
    groups,
    headline,
    notes,
    number,
    plain,
    runs,
    some,
    truths,
    waivers,
)
from exporter.report.base import Renderer

_COLOURS = {"passed": "green", "inconclusive": "yellow", "failed": "red"}


def render(report: Report) -> str:
    """The report as plain text of at most 80 columns; the same on every machine."""
    text = StringIO()
    # An empty environment: COLUMNS, FORCE_COLOR and the like of the caller must not change a file.
    show(report, Console(file=text, width=80, force_terminal=False, color_system=None, _environ={}))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def show(report: Report, console: Console) -> None:
    """Print the runs, what is no match, why and where from, waivers, notes, then the verdict with its first reason."""
    _say(console, f"{plain(f'{report.name} {report.version}')}: {extent(report)}")
    console.print()
    console.print(_table(runs(report), report.budget))
    for group in groups(report):
        _show_group(group, console)
    said = (
        ("blame", blames(report)),
        ("waivers", waivers(report)),
        ("notes", notes(report)),
        ("truth", truths(report)),
    )
    for title, lines in said:
        if lines:
            _say(console, f"\n{title}", "bold")
        for line in lines:
            _say(console, line, indent=2)
    word = report.verdict.word
    _say(console, f"\n{word.upper()}: {headline(report)}", f"bold {_COLOURS[word]}")
    if reason := report.first_reason():
        _say(console, plain(reason), indent=2)
    if report.digest:
        _say(console, f"digest {report.digest}")


def _table(found: list[Run], budget: float) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    # The names stay whole where they can; where 80 columns do not hold a row, cases and providers are folded.
    table.add_column("variant/engine", overflow="fold", min_width=min(28, max(len(run.name) for run in found)))
    for heading in ("match", "bits", f"ratio<={budget:g}"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("worst at", overflow="fold")
    table.add_column("on", overflow="fold")
    for run in found:
        ratio, place = "-", ""
        if run.worst:
            claim, evidence = run.worst
            ratio, place = number(error_ratio(evidence)), claim.case
            if len({claim.output for claim, _ in run.rows}) > 1:
                place += f" {claim.output}"
        table.add_row(
            Text(run.name),
            Text(f"{run.matches}/{len(run.rows)}", _style(run.gravest)),
            run.bits,
            ratio,
            Text(plain(place)),
            Text(run.place or "-"),
        )
    return table


def _show_group(group: Group, console: Console) -> None:
    title = f"\n{group.outcome.value.replace('_', ' ')}: {count(len(group.claims), 'claim')}"
    _say(console, title, f"bold {_style(group.outcome)}")
    _say(console, group.reason, indent=2)
    for name, places in group.by_run().items():
        _say(console, f"{name}: {some(places, 8)}", "dim", indent=4)


def _style(outcome: Outcome) -> str:
    calm = {Outcome.MATCH: "green", Outcome.INCONCLUSIVE: "yellow", Outcome.WAIVED: "yellow"}
    return calm.get(outcome, "red")


def _say(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Print one paragraph. It is a Text, so that brackets in names and reasons are not taken for markup."""
    console.print(Padding(Text(text, style), (0, 0, 0, indent), expand=False))


plugin: Renderer = render
