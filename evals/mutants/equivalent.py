"""Mutants that no test can kill, because what they change makes no difference: each with the reason.

They stand in `equivalent.yaml`, by file, function, text of the line and change, so that lines may move.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from evals.mutants.faults import Mutant

LIST = Path(__file__).with_name("equivalent.yaml")


class Explained:
    """The list: each mutant's key with the reason."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._reasons = {_name(entry, change): str(entry["why"]) for entry in entries for change in entry["changes"]}

    def reason(self, mutant: Mutant) -> str:
        """Why this one makes no difference; empty where nobody says so."""
        return self._reasons.get(mutant.key, "")

    def stale(self, keys: set[str], files: Collection[str]) -> list[str]:
        """What the list explains in these files and no mutant is."""
        return sorted(name for name in self._reasons if name not in keys and name.partition(" | ")[0] in files)


def _name(entry: dict[str, Any], change: str) -> str:
    return f"{entry['file']} | {entry['scope']} | {entry['line']} | {change}"


def explained(path: Path = LIST) -> Explained:
    """Read the list."""
    return Explained(yaml.safe_load(path.read_text()) or [])
