"""What any check or stage can say about something: one type, rendered in many forms."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Severity(str, Enum):
    """`error` makes the gate say no (exit 1); `warning` and `info` do not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


def short(path: Path) -> str:
    """A path as a user would write it: relative, if it lies below the working folder."""
    absolute, here = str(path.absolute()), os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 - a fifth of the time
    return absolute.removeprefix(here) if absolute.startswith(here) else str(path)


@dataclass(frozen=True, order=True)
class Location:
    """A place in a source file. `line` and `column` count from 1; 0 where the place is the file itself."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@dataclass(frozen=True)
class Diagnostic:
    """A finding: a code (`EX…`), a place, what is wrong, and its cure.

    `proved` is true where a run has shown the fault, false where the code only looks so.
    """

    code: str
    severity: Severity
    location: Location
    message: str
    cure: str
    proved: bool = False

    def __str__(self) -> str:
        return f"{self.location}: {self.severity.value} {self.code}: {self.message}\n  cure: {self.cure}"

    def to_json(self) -> dict[str, str | int | bool]:
        """Return the object that `check --json` prints for one finding."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "path": self.location.path,
            "line": self.location.line,
            "column": self.location.column,
            "message": self.message,
            "cure": self.cure,
            "proved": self.proved,
        }
