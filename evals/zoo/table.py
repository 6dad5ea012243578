"""The zoo's rows as the tables of docs/zoo.md: `python -m evals.zoo.table evals/zoo/measured.jsonl …`.

A network that has rows in several files is counted once: a row by the verdict stands for a quick one, and of two of the
same kind the later. `--write FILE` keeps what is counted as one file of rows, `--page FILE` puts the tables between the
marks of a page.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from evals.zoo.exported import FORMATS
from evals.zoo.rows import GOOD, merged, read_rows, runs_eagerly, stock_is_right, well, write_rows
from exporter.base.files import write_bytes

#: Between these a page holds what `--page` writes.
MARKS = ("<!-- measured -->", "<!-- /measured -->")
_JUDGED = {"verdict": "by the verdict", "quick": "quickly"}
_TITLES = {"pir": "`.json`", "pdmodel": "`.pdmodel`", "onnx": "ONNX"}
#: What stock Paddle and the converters write: its key in a row's `stock`, the format, and who writes it.
_WRITERS = (
    ("pir", "pir", "`jit.save`"),
    ("pdmodel", "pdmodel", "`jit.save`"),
    ("onnx", "onnx", "paddle2onnx"),
    ("p2o", "onnx", "p2o"),
)

_CAUSES = Path(__file__).with_name("causes.yaml")

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.zoo.table", description=__doc__)
    parser.add_argument("rows", nargs="+", type=Path)
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--page", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows = merged(row for path in options.rows for row in read_rows(path).values())
    if options.write:
        write_rows(options.write, rows)
        rows = list(read_rows(options.write).values())  # which name no place of this machine
    lines = tables(rows)
    if options.page:
        before, after = _around(options.page.read_text(encoding="utf-8"))
        write_bytes(options.page, "\n".join([before + MARKS[0], *lines, MARKS[1] + after]).encode())
    print("\n".join(lines))


def _around(page: str) -> tuple[str, str]:
    """What stands before and after the marks of a page."""
    before, first, rest = page.partition(MARKS[0])
    _, last, after = rest.partition(MARKS[1])
    if not first or not last:
        raise SystemExit(f"the page has no {MARKS[0]} and {MARKS[1]} to write between")
    return before, after


def tables(rows: Sequence[Row]) -> list[str]:
    """All that is said of the rows: those by the verdict, then the quick ones, each with a headline of its own."""
    lines = [*counts(rows), ""]
    for by, judged in _JUDGED.items():
        own = [row for row in rows if row.get("by", "verdict") == by]
        if own:
            parts = (headline(own), beside(own), by_family(own), _right_in_all(own), misses(own, causes()))
            lines += [f"### Judged {judged}", "", *(line for part in parts for line in (*part, ""))]
    return lines[:-1]


def headline(rows: Iterable[Row]) -> list[str]:
    """A line for each other writer: its right files and ours of the same networks, of all and of stock's."""
    running = [row for row in rows if runs_eagerly(row)]
    lines = []
    for key, name, writer in _WRITERS:
        both = [row for row in running if key in row["stock"] and name in row["formats"]]
        if not both:
            continue
        sound = [row for row in both if stock_is_right(row)]
        theirs, ours = (f"{count} of {len(both)}" for count in _right(both, key, name))
        of_sound = "{} and {}".format(*_right(sound, key, name))
        lines.append(
            f"- {_TITLES[name]}: {writer} {theirs}, ours {ours} networks that run eagerly; "
            f"of the {len(sound)} that stock PIR exports rightly, {of_sound}"
        )
    return lines


def _right(rows: Sequence[Row], key: str, name: str) -> tuple[int, int]:
    """How many files of another writer are right, and how many of ours."""
    return sum(row["stock"][key]["word"] in GOOD for row in rows), sum(well(row, name) for row in rows)


def counts(rows: Sequence[Row]) -> list[str]:
    """One line a family and way of judging: what came out well, of what stock PIR exports rightly."""
    lines = [
        "| family | judged | networks | stock PIR right | `.json` | `.pdmodel` | ONNX | processor |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    groups = _groups(rows, lambda row: (row["family"], _JUDGED[row.get("by", "verdict")]))
    for (family, judged), own in [*groups.items(), (("all", ""), list(rows))]:
        sound = [row for row in own if stock_is_right(row)]
        cells = [f"{sum(well(row, name) for row in sound)} of {len(sound)}" for name in FORMATS]
        spent = sum(sum(row.get("processor", {}).values()) for row in own)
        lines.append(f"| {family} | {judged} | {len(own)} | {len(sound)} | {' | '.join(cells)} | {spent:.0f} s |")
    return lines


def by_family(rows: Sequence[Row]) -> list[str]:
    """One line a family: right files of stock, of both converters and of ours, of the networks that run eagerly.

    A writer that was not asked for every network of a family says of how many; `-` where it was asked for none.
    """
    titles = [f"{_TITLES[name]} {writer}" for _, name, writer in _WRITERS]
    titles += [f"{_TITLES[name]} exporter" for name in FORMATS]
    lines = [f"| family | run eagerly | {' | '.join(titles)} |", "| --- " * (len(titles) + 2) + "|"]
    running = [row for row in rows if runs_eagerly(row)]
    for family, own in [*_groups(running, lambda row: row["family"]).items(), ("all", running)]:
        files = [[row["stock"][key] for row in own if key in row["stock"]] for key, _, _ in _WRITERS]
        files += [[row["formats"][name] for row in own if name in row["formats"]] for name in FORMATS]
        cells = [
            f"{sum(file['word'] in GOOD for file in asked)}{'' if len(asked) == len(own) else f' of {len(asked)}'}"
            if asked
            else "-"
            for asked in files
        ]
        lines.append(f"| {family} | {len(own)} | {' | '.join(cells)} |")
    return lines


def beside(rows: Sequence[Row]) -> list[str]:
    """One line a format and writer: what came out, was wrong, and was refused, of the networks it was asked for."""
    lines = ["| format | written by | networks | right | wrong | refused |", "| --- | --- | --- | --- | --- | --- |"]
    for key, name, other in _WRITERS:
        ours = [] if key == "p2o" else [("exporter", [row["formats"][name] for row in rows if name in row["formats"]])]
        for writer, files in (*ours, (other, [row["stock"][key] for row in rows if key in row["stock"]])):
            right = sum(file["word"] in GOOD for file in files)
            refused = sum(file["word"] == "refused" for file in files)
            wrong = len(files) - right - refused
            if files:
                lines.append(f"| {_TITLES[name]} | {writer} | {len(files)} | {right} | {wrong} | {refused} |")
    return lines


def _right_in_all(rows: Sequence[Row]) -> list[str]:
    """The names of the networks of each family that came out in every format that was asked for."""
    lines = ["Right in every format:", ""]
    for family, own in _groups(rows, lambda row: row["family"]).items():
        names = [row["name"] for row in own if all(file["word"] in GOOD for file in row["formats"].values())]
        lines += [f"- `{family}`: {', '.join(names)}"] if names else []
    return [*lines, "", "What is not right:"]


def causes() -> dict[str, str]:
    """What causes.yaml says of networks, by `FAMILY/NAME`."""
    told: dict[str, str] = yaml.safe_load(_CAUSES.read_text(encoding="utf-8"))
    return told


def misses(rows: Iterable[Row], told: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Every network that did not come out, or that stock cannot export, with its line and cause."""
    lines = ["| network | stock PIR | format | cause |", "| --- | --- | --- | --- |"]
    for row in rows:
        reasons: dict[str, list[str]] = {}
        for name, file in row["formats"].items():
            if file["word"] not in GOOD:
                why = told.get(f"{row['family']}/{row['name']}") or file["why"].partition(" (run with")[0]
                why = why.replace(f"{name}: ", "").replace("|", "\\|")
                reasons.setdefault(" ".join(why.split()), []).append(_TITLES[name])
        stock = row["stock"].get("pir", {"word": "-"})
        lines += [f"| {row['name']} | {stock['word']} | {', '.join(names)} | {why} |" for why, names in reasons.items()]
    return lines


def _groups(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


if __name__ == "__main__":
    main()
