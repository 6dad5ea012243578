"""The cells that rows fall into: sound or not by stock Paddle, passed or not by the exporter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evals.small.catalogue import UNSOUND


@dataclass
class Row:
    """What came of one layer.

    `eager` and `stock`: `runs` and `sound`, or what went wrong. `files`: `right` for each variant that passed, or how
    it differs from eager. `marked`: the lines that no export can keep, and whether a message named one of them.
    `without`: why it was released without ONNX or .pdmodel: what the exporter says, and stock. `blamed`: the lines of
    errors, as `file.py:line`, or the outputs whose claims did not hold.
    """

    family: str
    name: str
    eager: str
    stock: str
    exit: int = 0
    messages: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    marked: list[int] = field(default_factory=list)
    at_line: bool = False
    blamed: list[str] = field(default_factory=list)
    without: str = ""
    seconds: float = 0.0

    @property
    def cell(self) -> str:
        """The name of its cell."""
        if self.eager != "runs":
            return "no layer"
        if self.exit == 0:
            wrong = not self.files or any(answer != "right" for answer in self.files.values())
            return "wrong, passed" if wrong else "sound, passed" if self.sound else f"{self._kind}, passed and right"
        return "sound, refused" if self.sound else f"{self._kind}, refused"

    @property
    def _kind(self) -> str:
        return UNSOUND if self.family == UNSOUND else "stock fails"

    @property
    def sound(self) -> bool:
        """Whether stock Paddle exports it rightly."""
        return self.stock == "sound" and self.family != UNSOUND

    def line(self) -> str:
        """Say it in a line."""
        wrong = {variant: answer for variant, answer in self.files.items() if answer != "right"}
        what = f" {wrong}" if wrong else f" {self.messages[0][:200]}" if self.exit and self.messages else ""
        stock = "" if self.stock == "sound" else f" (stock: {self.stock[:120]})"
        without = f" (without a format: {self.without})" if self.without else ""
        return f"{self.family}/{self.name}: {self.cell}, exit {self.exit}, {self.seconds} s{stock}{without}{what}"


@dataclass(frozen=True)
class Report:
    """What to print, and whether no sound layer was refused and no wrong file passed."""

    lines: tuple[str, ...]
    holds: bool


#: Formats that a layer may be released without, as the report calls them.
_TITLES = {"onnx": "ONNX", "pdmodel": ".pdmodel"}
#: Cells that have to be empty.
FORBIDDEN = ("wrong, passed", "sound, refused", "no layer")


def report(rows: Sequence[Row]) -> Report:
    """Count the rows of each cell, and name those of which none may be."""
    cells: dict[str, list[Row]] = {}
    for row in rows:
        cells.setdefault(row.cell, []).append(row)
    lines = [f"{len(members):4} {cell}: {', '.join(row.name for row in members)}" for cell, members in cells.items()]
    for format, title in _TITLES.items():
        narrowed = [row.name for row in rows if f"{format}: " in row.without]
        if narrowed:
            lines.append(f"{len(narrowed)} without {title}, which stock does not write either: {', '.join(narrowed)}")
    planted = [row for row in rows if row.family == UNSOUND]
    at_line = sum(row.at_line for row in planted if row.exit)
    lines.append(f"{len(planted)} unsound on purpose, {at_line} of them refused at their line")
    bad = [row.line() for cell in FORBIDDEN for row in cells.get(cell, [])]
    return Report((*lines, *bad), not bad and bool(rows))
