"""The report on a terminal: 80 columns of plain text where there is none, colours where there is."""

from __future__ import annotations

from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from exporter.judge.report import Report
from exporter.report._summary import (
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
from exporter.report._words import count, plain, some
from exporter.report.base import Renderer
from exporter.verdict.claim import Outcome

#: Blanks between two columns of the table; and what the columns "worst at" and "on" keep where there is little room.
_GAP, _LEAST = 2, 12
_COLOURS = {"passed": "green", "failed": "red"}


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
    console.print(_table(runs(report), report.budget, console.width))
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
            _say(console, f"\n{heading}", "bold")
        for line in lines:
            _say(console, line, indent=2)
    _say(console, f"\n{title(report)}: {headline(report)}", f"bold {_COLOURS.get(report.verdict.word, 'yellow')}")
    if reason := report.first_reason():
        _say(console, plain(reason), indent=2)
    if report.digest:
        _say(console, f"digest {report.digest}")


def _table(found: list[Run], budget: float, width: int) -> Table:
    """One row a run; where `width` columns do not hold it, names break at the slash, and cells between words."""
    rows = [_cells(run) for run in found]
    headings = ("variant/engine", "match", "bits", f"ratio<={budget:g}", "worst at", "on")
    wanted = [max(cell_len(one) for one in column) for column in zip(headings, *rows, strict=True)]
    room = width - sum(wanted[1:4]) - _GAP * (len(headings) - 1)
    names = room - sum(min(one, _LEAST) for one in wanted[4:])
    if wanted[0] > names:
        rows = [(name if cell_len(name) <= names else name.replace("/", "/\n  "), *rest) for name, *rest in rows]
        wanted[0] = max(cell_len(line) for name, *_ in [headings, *rows] for line in name.split("\n"))
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for heading, columns in zip(headings, _fitted(wanted, room), strict=True):
        right = heading in headings[1:4]
        table.add_column(heading, width=columns, overflow="fold", justify="right" if right else "left")
    for run, row in zip(found, rows, strict=True):
        table.add_row(*(Text(one, _style(run.gravest) if at == 1 else "") for at, one in enumerate(row)))
    return table


def _cells(run: Run) -> tuple[str, ...]:
    ratio, place = "-", ""
    if run.worst:
        claim, evidence = run.worst
        ratio, place = number(error_ratio(evidence)), claim.case
        if len({claim.output for claim, _ in run.rows if claim.output}) > 1:
            place += f" {claim.output}"
    return run.name, f"{run.matches}/{len(run.rows)}", run.bits, ratio, plain(place), run.place or "-"


def _fitted(wanted: list[int], room: int) -> list[int]:
    """The width of each column: the numbers are whole, the names take what the last two leave, which keep `_LEAST`."""
    least = [min(one, _LEAST) for one in wanted[4:]]
    name = max(1, min(wanted[0], room - sum(least)))
    place = max(1, min(wanted[4], room - name - least[1]))
    return [name, *wanted[1:4], place, max(1, min(wanted[5], room - name - place))]


def _show_group(group: Group, console: Console) -> None:
    heading = f"\n{group.outcome.value.replace('_', ' ')}: {count(len(group.claims), 'claim')}"
    _say(console, heading, f"bold {_style(group.outcome)}")
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
