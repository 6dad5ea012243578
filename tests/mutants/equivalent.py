"""Mutants that no test can kill, because what they change makes no difference: each with the reason.

They stand in `equivalent.yaml`, by file, function, text of the line and change, so that lines may move.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.mutants.faults import Mutant

LIST = Path(__file__).with_name("equivalent.yaml")


class Explained:
    """The list, and which of it was met."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._reasons = {_name(entry, change): str(entry["why"]) for entry in entries for change in entry["changes"]}
        self.met: set[str] = set()

    def reason(self, mutant: Mutant) -> str:
        """Why this one makes no difference; empty where nobody says so."""
        if mutant.key in self._reasons:
            self.met.add(mutant.key)
        return self._reasons.get(mutant.key, "")

    @property
    def names(self) -> set[str]:
        """All that the list explains."""
        return set(self._reasons)


def _name(entry: dict[str, Any], change: str) -> str:
    return f"{entry['file']} | {entry['scope']} | {entry['line']} | {change}"


def explained(path: Path = LIST) -> Explained:
    """Read the list."""
    return Explained(yaml.safe_load(path.read_text()) or [])
