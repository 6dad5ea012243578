"""A find as a report that can be sent as it stands, and the page of all of them from what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evals.finds.find import CLASSES, PACKAGES, Find
from evals.finds.run import Measured

MEASURED = Path(__file__).parent / "measured.jsonl"
_INTRODUCTION = """\
# Finds: defects of Paddle, paddle2onnx, ONNX Runtime and OpenVINO

Each was met while networks were exported and compared, and is cut down to a script of stock packages alone. NumPy or
Python computes what is right, in float64 or in whole numbers; mostly a second engine that does not depend on it agrees.
Each report can be sent as it stands.

    python -m evals.finds                 # the list
    python -m evals.finds add_a_number    # run one here: exit 0 while the defect shows, 1 once it is mended
    python -m evals.finds --measure --python PYTHON    # run all under another Python's packages, and note what they did
    python -m evals.finds --write docs/finds.md        # this page, from evals/finds/measured.jsonl

A script ends well once its defect is mended: its last statement asserts what is right. It runs in a child of its own,
since it may end the process or never end. Exit 3 says that it could not be tried: a package is not installed, or the
script failed in another way.
"""
_PROSE_OF_CLASS = {
    CLASSES[0]: "gives other numbers, and says nothing",
    CLASSES[1]: "a signal; no exception can be caught",
    CLASSES[2]: "while it traces, or while it runs",
    CLASSES[3]: "an error, for what eager mode or the standard takes",
}


def stored(path: Path = MEASURED) -> list[Measured]:
    """Return what was measured, the latest last."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Measured(**json.loads(line)) for line in lines]


def store(rows: Iterable[Measured], path: Path = MEASURED) -> None:
    """Note rows, in the place of those of the same script and packages."""
    by_key = {(row.name, tuple(sorted(row.packages.items()))): row for row in (*stored(path), *rows)}
    lines = [by_key[key].to_json() for key in sorted(by_key)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def report(find: Find, row: Measured) -> str:
    """Return the report of a find as Markdown, with the numbers of one measurement."""
    versions = ", ".join(f"{name} {version}" for name, version in row.packages.items())
    expected = [f"- {name}: `{_short(value)}`" for name, value in row.expected.items()]
    actual = {
        "hangs": "It does not end; it was stopped.",
        "right": f"`{_short(row.actual)}`, as it should be.",
        "wrong": f"`{_short(row.actual)}`",
    }.get(row.outcome) or (
        f"`{_short(row.outcome.removeprefix('fails: '))}`"
        if row.outcome.startswith("fails")
        else f"The process ends by {row.outcome}."
    )
    return "\n".join(
        [
            f"**{find.title}**",
            "",
            f"Environment: Linux x86-64, a CPU with {row.cpu}; Python {row.python}; {versions}.",
            "",
            find.text,
            "",
            "```python",
            find.script.rstrip(),
            "```",
            "",
            "Expected:",
            "",
            *expected,
            "",
            f"Actual: {actual}",
            "",
            f"Cause: {find.cause}",
        ]
    )


def page(finds: Mapping[str, Find], rows: Sequence[Measured]) -> str:
    """Return docs/finds.md."""
    by_name: dict[str, list[Measured]] = {name: [] for name in finds}
    for row in rows:
        if row.name in by_name and row.outcome:
            by_name[row.name].append(row)
    seen = {name: [row for row in measured if row.shows] for name, measured in by_name.items()}
    date = max((row.date for row in rows), default="")
    lines = [_INTRODUCTION, f"Measured on {date} on Linux x86-64, a CPU:", "", *_counts(finds, seen), ""]
    for kind in CLASSES:
        lines += [f"## {kind[0].upper()}{kind[1:]}", "", "| find | tool | what | shows in | not in |"]
        lines.append("| --- | --- | --- | --- | --- |")
        for name, find in finds.items():
            if find.kind == kind:
                shows = _versions(find, seen[name]) or "not measured"
                others = _versions(find, [row for row in by_name[name] if row.outcome == "right"])
                lines.append(f"| [`{name}`](#{name}) | {find.tool} | {_cell(find.title)} | {shows} | {others} |")
        lines.append("")
    lines += ["## Reports", ""]
    for name, find in finds.items():
        if seen[name]:
            newest = max(seen[name], key=lambda row: (_key(row.packages[find.package]), row.date))
            lines += [f"### {name}", "", report(find, newest), ""]
    return "\n".join(lines).rstrip() + "\n"


def _counts(finds: Mapping[str, Find], seen: Mapping[str, Sequence[Measured]]) -> list[str]:
    """Count the finds that were seen, by tool and class."""
    tools = list(PACKAGES)
    lines = [f"| | {' | '.join(tools)} | all |", f"| --- |{' --- |' * (len(tools) + 1)}"]
    shown = [find for name, find in finds.items() if seen[name]]
    for kind in CLASSES:
        counts = [sum(find.kind == kind and find.tool == tool for find in shown) for tool in tools]
        cells = " | ".join(str(count or "") for count in (*counts, sum(counts)))
        lines.append(f"| {kind}: {_PROSE_OF_CLASS[kind]} | {cells} |")
    totals = [sum(find.tool == tool for find in shown) for tool in tools]
    lines.append(f"| all | {' | '.join(map(str, (*totals, len(shown))))} |")
    return lines


def _versions(find: Find, rows: Iterable[Measured]) -> str:
    """Return the versions of the tool in order; a converter's with that of the Paddle that wrote what it read."""
    versions = {(row.packages[find.package], row.packages.get("paddlepaddle", "")) for row in rows}
    if find.tool == "paddle2onnx":
        readers = sorted({version for version, _ in versions}, key=_key)
        writers = {
            reader: sorted({paddle for own, paddle in versions if own == reader}, key=_key) for reader in readers
        }
        return "; ".join(f"{reader} with Paddle {', '.join(paddles)}" for reader, paddles in writers.items())
    return ", ".join(sorted({version for version, _ in versions}, key=_key))


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _short(value: str) -> str:
    return value if len(value) <= 300 else f"{value[:300]} …"
