"""The zoo's rows as the tables of docs/zoo.md: `python -m tests.zoo.table zoo.json …`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.zoo.exported import FORMATS

#: What a file is called that computes what eager computes: judged, or looked at quickly.
GOOD = ("passed", "right")
_TITLES = {"pir": "`.json`", "pdmodel": "`.pdmodel`", "onnx": "ONNX"}


def main() -> None:
    rows = {(row["family"], row["name"]): row for path in sys.argv[1:] for row in json.loads(Path(path).read_text())}
    print("\n".join([*counts(list(rows.values())), "", *misses(rows.values())]))


def counts(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One line a family: how many networks came out well, of those that stock PIR exports rightly and of all."""
    lines = [
        "| family | networks | stock PIR right | `.json` | `.pdmodel` | ONNX |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    families = list(dict.fromkeys(row["family"] for row in rows))
    for family in [*families, ""]:
        own = [row for row in rows if family in ("", row["family"])]
        sound = [row for row in own if stock_is_right(row)]
        cells = [f"{sum(well(row, name) for row in sound)} of {len(sound)}" for name in FORMATS]
        lines.append(f"| {family or 'all'} | {len(own)} | {len(sound)} | {' | '.join(cells)} |")
    return lines


def misses(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Every network that did not come out, or that stock cannot export, with its line and cause."""
    lines = ["| network | stock PIR | format | cause |", "| --- | --- | --- | --- |"]
    for row in rows:
        causes: dict[str, list[str]] = {}
        for name, file in row["formats"].items():
            if file["word"] not in GOOD:
                why = file["why"].partition(" (run with")[0].replace(f"{name}: ", "").replace("|", "\\|")
                causes.setdefault(why, []).append(_TITLES[name])
        stock = row["stock"].get("pir", {"word": "-"})
        lines += [f"| {row['name']} | {stock['word']} | {', '.join(names)} | {why} |" for why, names in causes.items()]
    return lines


def stock_is_right(row: dict[str, Any]) -> bool:
    """Whether `jit.save` alone writes a file that computes what eager computes."""
    return row["stock"].get("pir", {}).get("word") in GOOD


def well(row: dict[str, Any], name: str) -> bool:
    """Whether a format of ours was written and computes what eager computes."""
    return row["formats"].get(name, {}).get("word") in GOOD


if __name__ == "__main__":
    main()
