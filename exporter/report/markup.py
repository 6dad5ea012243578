"""Pieces of the page: text that can be no markup, tags that tell more than their colour, tables to be read aloud."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from exporter.base.words import plain
from exporter.prove.verdict.claim import Outcome

_CALM = {Outcome.MATCH: "good", Outcome.WAIVED: "calm", Outcome.INCONCLUSIVE: "open"}
_SIGNS = {"good": "✓", "bad": "✗", "open": "?", "calm": "~"}


def text(value: str) -> str:
    """As text, whatever it holds."""
    return escape(plain(value))


def breakable(value: str) -> str:
    """The same, where a line may break behind a slash: names of runs are longer than a phone is wide."""
    return text(value).replace("/", "/<wbr>")


def code(value: str) -> str:
    """A command or a key, to be copied."""
    return f"<code>{text(value)}</code>"


def prose(value: str) -> str:
    """A sentence of ours in which `backticks` mark code."""
    parts = text(value).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


def tone(outcome: Outcome) -> str:
    """The class of its colours."""
    return _CALM.get(outcome, "bad")


def sign(tone: str) -> str:
    """What says the same as the colour."""
    return _SIGNS[tone]


def tag(tone: str, said: str) -> str:
    """A label with its sign; `said` is markup."""
    return f'<span class="tag {tone}"><span aria-hidden="true">{sign(tone)}</span> {said}</span>'


def outcome_tag(outcome: Outcome) -> str:
    """The label of an outcome."""
    return tag(tone(outcome), outcome.value.replace("_", " "))


def section(name: str, heading: str, body: str, lead: str = "") -> str:
    """A landmark with its heading; nothing where it has nothing to say."""
    if not body:
        return ""
    lead = f'<p class="lead">{lead}</p>\n' if lead else ""
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{heading}</h2>\n{lead}{body}</section>\n'


def table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], style: str = "") -> str:
    """A table of cells in markup: the first of each row names it. It may be wider than the screen, and scrolls alone.

    On a narrow screen each row of a `cardsheet` is a card, and each cell says its heading; roles keep it a table there.
    """
    numbers = {at for at, heading in enumerate(headings) if heading.startswith("#")}
    names = [heading.lstrip("#") for heading in headings]
    head = "".join(
        f'<th scope="col" role="columnheader"{_right(at in numbers)}>{text(name)}</th>' for at, name in enumerate(names)
    )
    body = "\n".join(_table_row(row, names, numbers) for row in rows)
    return (
        f'<div class="sheet {style}" role="region" aria-label="{text(caption)}" tabindex="0">'
        f'<table role="table"><caption class="unseen">{text(caption)}</caption>\n'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>\n'
        f'<tbody role="rowgroup">\n{body}\n</tbody></table></div>\n'
    )


def _table_row(row: Sequence[str], names: Sequence[str], numbers: set[int]) -> str:
    cells = [f'<th scope="row" role="rowheader">{row[0]}</th>']
    for at, cell in enumerate(row[1:], 1):
        cells.append(f'<td role="cell" data-name="{text(names[at])}"{_right(at in numbers)}>{cell}</td>')
    return f'<tr role="row">{"".join(cells)}</tr>'


def _right(number: bool) -> str:
    return ' class="number"' if number else ""
