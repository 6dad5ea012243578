"""The tables as Markdown, for docs/legacy.md: python -m tools.pdmodel_tables."""

from __future__ import annotations

import sys

from exporter.export.lower.pdmodel.entry import Sunk
from exporter.export.lower.pdmodel.older import OLDER
from exporter.export.lower.pdmodel.table import TABLE


def markdown() -> str:
    """The sunk APIs, one line each, and the operators that are written otherwise for old runtimes."""
    lines = [
        "| API | signature | sunk since | legacy operator | inputs | attributes | output | dtype rule |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(_line(TABLE[api]) for api in sorted(TABLE)),
        "",
        "| operator | written otherwise for Paddle before | because |",
        "| --- | --- | --- |",
        *(f"| `{name}` | {older.since} | {older.why} |" for name, older in OLDER.items()),
    ]
    return "\n".join(lines) + "\n"


def _line(entry: Sunk) -> str:
    inputs = ", ".join(f"{slot} ← {name}" for slot, name in entry.inputs.items())
    attributes = ", ".join(f"{name} ← {attribute.source}" for name, attribute in entry.attributes.items())
    dtype = entry.dtype.name
    if entry.computed_in:
        dtype += "; " + ", ".join(f"{narrow} in {wide}" for narrow, wide in entry.computed_in.items())
    cells = (
        f"`{entry.api}`",
        f"`{entry.signature}`",
        entry.since,
        f"`{entry.operator}`",
        inputs,
        attributes,
        entry.output,
    )
    return "| " + " | ".join((*(cell.replace("|", "\\|") for cell in cells), dtype)) + " |"


if __name__ == "__main__":
    sys.stdout.write(markdown())
