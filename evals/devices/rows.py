"""What became of a network in a runtime, as a row of JSON; and the tables that are made of such rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
#: Who is at fault where a row did not pass: by what its message says, the first that fits.
_FAULTS = (
    ("refused", "converter", re.compile(r"fails where it converts the model")),
    ("refused", "runtime", re.compile(r"fails where it (runs the model|shows)")),
    ("failed", "runtime", re.compile(r"does not give what the bundle recorded")),
    ("inconclusive", "model", re.compile(r"cannot be judged")),
)
_OWN = re.compile(r"own error; (.+?): own error ([0-9.e+-]+)")
_CAUSE = re.compile(r"likely cause: ([^(]+?)(?: \(explains|$)")


def row_of(network: str, target: str, precision: str, code: int, content: Any, said: str) -> Row:
    """Read how a hand-over ended."""
    key = {"network": network, "target": target, "precision": precision, "exit": code}
    if code == 0:
        word = "partial" if content.get("partial") else "passed"
        return {**key, "word": word, "by": "", "why": content["how"], "partial": content.get("partial", "")}
    why = (content or {}).get("error", {}).get("what") or said[-400:]
    for word, by, pattern in _FAULTS:
        if pattern.search(why):
            return {**key, "word": word, "by": by, "why": why}
    return {**key, "word": "not here" if code == 3 else "refused", "by": "exporter", "why": why}


def read(path: Path) -> dict[tuple[str, str, str], Row]:
    """Rows by network, target and precision."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(row["network"], row["target"], row["precision"]): row for row in rows}


def table(rows: Iterable[Row], targets: Sequence[str], precision: str = "fp32") -> str:
    """A row a network, a column a runtime; below it each reason for what did not pass."""
    kept = [row for row in rows if row["precision"] == precision]
    cells = {(row["network"], row["target"]): row for row in kept}
    names = list(dict.fromkeys(row["network"] for row in kept))
    lines = [f"| network | {' | '.join(targets)} |", f"| --- |{' --- |' * len(targets)}"]
    for name in names:
        lines.append(f"| {name} | {' | '.join(_cell(cells.get((name, target))) for target in targets)} |")
    counts = {target: Counter(row["word"] for row in kept if row["target"] == target) for target in targets}
    lines.append(f"| **all {len(names)}** | {' | '.join(_count(counts[target]) for target in targets)} |")
    return "\n".join(lines)


def reasons(rows: Iterable[Row]) -> str:
    """A row for each network and runtime that did not pass: whose fault, and what shows it."""
    lines = ["| runtime | network | | whose | what shows it |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        if row["word"] not in ("passed", "partial"):
            shown = _shown(row["why"]).replace("|", "\\|")
            lines.append(f"| {row['target']} | {row['network']} | {row['word']} | {row['by']} | {shown} |")
    return "\n".join(lines)


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    measured = re.search(r"ratio ([0-9.e+-]+) of|ratio ([0-9-]+ dB)", row["why"])
    number = next(filter(None, measured.groups()), "") if measured else ""
    return f"{row['word']} {number}".strip() if row["word"] in ("passed", "partial") else row["word"]


def _count(counted: Counter[str]) -> str:
    return ", ".join(
        f"{counted[word]} {word}"
        for word in ("passed", "partial", "inconclusive", "failed", "refused")
        if counted[word]
    )


def _shown(why: str) -> str:
    """What a message says of the cause: the operator that errs by itself, the likely cause; else its own words."""
    own, cause = _OWN.search(why), _CAUSE.search(why)
    parts = [f"{own[1]} errs by {own[2]} itself"] if own else []
    parts += [cause[1].strip()] if cause else []
    text = "; ".join(parts) or why.partition(": ")[2] or why
    return " ".join(text.split())[:220]
