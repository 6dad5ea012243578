"""The zoo's rows as the tables of docs/zoo.md: `python -m evals.zoo.table evals/zoo/measured.jsonl …`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evals.zoo.exported import FORMATS
from evals.zoo.rows import GOOD, read_rows, stock_is_right, well

_JUDGED = {"verdict": "by the verdict", "quick": "quickly"}
_TITLES = {"pir": "`.json`", "pdmodel": "`.pdmodel`", "onnx": "ONNX"}


def main() -> None:
    rows = [row for path in sys.argv[1:] for row in read_rows(Path(path)).values()]
    print("\n".join([*counts(rows), "", *beside(rows), "", *misses(rows)]))


def counts(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One line a family and way of judging: what came out well, of what stock PIR exports rightly."""
    lines = [
        "| family | judged | networks | stock PIR right | `.json` | `.pdmodel` | ONNX | processor |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["family"], _JUDGED[row.get("by", "verdict")]), []).append(row)
    for (family, judged), own in [*groups.items(), (("all", ""), list(rows))]:
        sound = [row for row in own if stock_is_right(row)]
        cells = [f"{sum(well(row, name) for row in sound)} of {len(sound)}" for name in FORMATS]
        spent = sum(sum(row.get("processor", {}).values()) for row in own)
        lines.append(f"| {family} | {judged} | {len(own)} | {len(sound)} | {' | '.join(cells)} | {spent:.0f} s |")
    return lines


def beside(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One line a format and writer: what came out, was wrong, and was refused, of the networks it was asked for."""
    lines = ["| format | written by | networks | right | wrong | refused |", "| --- | --- | --- | --- | --- | --- |"]
    writers = (("pir", "`jit.save`", "pir"), ("pdmodel", "`jit.save`", "pdmodel"), ("onnx", "paddle2onnx", "onnx"))
    for name, other, key in (*writers, ("onnx", "p2o", "p2o")):
        ours = [] if key == "p2o" else [("exporter", [row["formats"][name] for row in rows if name in row["formats"]])]
        for writer, files in (*ours, (other, [row["stock"][key] for row in rows if key in row["stock"]])):
            right = sum(file["word"] in GOOD for file in files)
            refused = sum(file["word"] == "refused" for file in files)
            wrong = len(files) - right - refused
            if files:
                lines.append(f"| {_TITLES[name]} | {writer} | {len(files)} | {right} | {wrong} | {refused} |")
    return lines


def misses(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Every network that did not come out, or that stock cannot export, with its line and cause."""
    lines = ["| network | stock PIR | format | cause |", "| --- | --- | --- | --- |"]
    for row in rows:
        causes: dict[str, list[str]] = {}
        for name, file in row["formats"].items():
            if file["word"] not in GOOD:
                why = file["why"].partition(" (run with")[0].replace(f"{name}: ", "").replace("|", "\\|")
                causes.setdefault(" ".join(why.split()), []).append(_TITLES[name])
        stock = row["stock"].get("pir", {"word": "-"})
        lines += [f"| {row['name']} | {stock['word']} | {', '.join(names)} | {why} |" for why, names in causes.items()]
    return lines


if __name__ == "__main__":
    main()
