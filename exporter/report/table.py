"""A table of plain text in which no name is broken: where a line is too short for a row, the row goes on in the next.

Without a width, as in a pipe, every row is one line. With one, the columns that give way leave the line from the right,
and their cells stand below it, indented, each behind its heading. A name that still does not fit has a line of its own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.cells import cell_len

#: Blanks between two columns, and before what a row goes on with.
GAP, INDENT = 2, 2
#: A text and the number of its column; None for blanks and headings within a row.
Piece: TypeAlias = tuple[str, int | None]
Line: TypeAlias = tuple[Piece, ...]


@dataclass(frozen=True)
class Column:
    """One column: its heading; numbers stand at the right; one that `gives` way may leave the line."""

    heading: str
    number: bool = True
    gives: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """The lines of a table; of at most `width` columns, as far as no word has to be broken for it."""
    return ["".join(text for text, _ in line).rstrip() for line in pieces(columns, rows, width)]


def pieces(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None = None) -> list[Line]:
    """The same in pieces, so that a cell can be coloured; the first line holds the headings, the first cells names."""
    headings = [column.heading for column in columns]
    wanted = [max(map(cell_len, cells)) for cells in zip(headings, *rows, strict=True)]
    inline = _inline(columns, wanted, width)
    numbers = sum(wanted[at] + GAP for at in inline[1:])
    name = wanted[0]
    if width is not None and name + numbers > width:
        name = max(cell_len(headings[0]), INDENT, width - numbers)
    sizes = [name, *wanted[1:]]
    lines: list[Line] = []
    for row in [headings, *rows]:
        lines += _row(columns, row, sizes, inline)
        if row is not headings:
            below = [at for at in range(len(columns)) if at not in inline and row[at] not in ("", "-")]
            lines += _below(columns, row, below, width)
    return lines


def _inline(columns: Sequence[Column], wanted: Sequence[int], width: int | None) -> list[int]:
    """The columns that stay in the line."""
    inline = list(range(len(columns)))
    for at in reversed(range(len(columns))):
        if width is None or sum(wanted[stays] + GAP for stays in inline) - GAP <= width:
            break
        if columns[at].gives:
            inline.remove(at)
    return inline


def _row(columns: Sequence[Column], row: Sequence[str], sizes: Sequence[int], inline: Sequence[int]) -> list[Line]:
    line: list[Piece] = []
    lines: list[Line] = []
    for at in inline:
        blanks = " " * (sizes[at] - cell_len(row[at]))
        if line:
            line.append((" " * GAP, None))
        if at == 0 and cell_len(row[at]) > sizes[at]:
            lines.append(((row[at], at),))
            line.append((" " * sizes[at], None))
        elif columns[at].number:
            line += [(blanks, None), (row[at], at)]
        else:
            line += [(row[at], at), (blanks, None)]
    return [*lines, tuple(line)]


def _below(columns: Sequence[Column], row: Sequence[str], below: Sequence[int], width: int | None) -> list[Line]:
    """What the line of a row did not hold: each cell behind its heading, broken between words alone."""
    said = ", ".join(f"{columns[at].heading} {row[at]}".strip() for at in below)
    return [((line, None),) for line in paragraph(said, width, INDENT)] if said else []


def paragraph(text: str, width: int | None = None, indent: int = 0) -> list[str]:
    """The lines of a text, broken between words alone; what it goes on with stands a little further in."""
    if width is None:
        return [" " * indent + text]
    hanging = " " * (indent + (INDENT if indent else 0))
    return textwrap.wrap(
        text,
        max(width, 1),
        initial_indent=" " * indent,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
