"""A comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.deploy.modes.parts import Part, Table, how, parts, title
from exporter.deploy.modes.result import Comparison


def as_markdown(found: Comparison, losses: str = "") -> str:
    """The page, with the picture of the `losses`, which is Markdown too."""
    body = [block for part in parts(found) for block in _blocks(part, losses)]
    return "\n\n".join([f"# {title(found)}", *how(found), *body]) + "\n"


def _blocks(part: Part, losses: str) -> Iterator[str]:
    yield f"## {part.heading}"
    if part.lead:
        yield part.lead
    if part.claims:
        yield "\n".join(f"- {said.claim}: {said.measured}: **{said.verdict}**." for said in part.claims)
    if part.table:
        yield _table(part.table)
    if part.losses and losses:
        yield losses
    if part.points:
        yield "\n".join(f"- {point}" for point in part.points)


def _table(table: Table) -> str:
    lines = [table.headings, ["---", *["--:"] * (len(table.headings) - 1)], *table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
