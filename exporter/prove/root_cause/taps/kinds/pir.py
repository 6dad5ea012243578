"""Tap a PIR program: fetch its intermediate values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exporter.base.readers.kinds.pir import read_pir
from exporter.prove.root_cause.taps.base import Tap, link_others

_MODEL = "model.json"
#: Operators whose results are no computed values: parameters, inputs, fetches and what ends a block.
_NOT_COMPUTED = ("p", "1.data", "1.fetch", "1.full", "1.full_int_array")


def tap(folder: Path, into: Path) -> tuple[str, ...]:
    """Append a fetch operator for every tensor of the root block that some operator reads."""
    outputs = [one.name for one in read_pir(folder / _MODEL).outputs]
    program = json.loads((folder / _MODEL).read_bytes())
    operators = program["program"]["regions"][0]["blocks"][0]["ops"]
    example = next(one for one in operators if one["#"] == "1.fetch")
    read = set(_read(program["program"]))
    top = max(_results(program["program"]), default=0)
    names = list(outputs)
    fetches: list[dict[str, Any]] = []
    for operator in operators:
        if operator["#"] in _NOT_COMPUTED:
            continue
        for result in _list(operator["O"]):
            number, kind = result["%"], result.get("TT") or {}
            if number in read and kind.get("#") == "0.t_dtensor":
                names.append(f"%{number}")
                fetches.append(_fetch(example, result, names[-1], (len(names) - 1, top + len(fetches) + 1)))
    operators.extend(fetches)
    (into / _MODEL).write_text(json.dumps(program, separators=(",", ":")))
    link_others(folder, into, _MODEL)
    return tuple(names)


def _fetch(example: dict[str, Any], value: dict[str, Any], name: str, place: tuple[int, int]) -> dict[str, Any]:
    """A fetch like the program's own, of another value; `place` is its column and the number of its result."""
    fetch: dict[str, Any] = json.loads(json.dumps(example))
    attributes = {one["N"]: one["AT"] for one in fetch["A"]}
    attributes["name"]["D"], attributes["col"]["D"] = name, place[0]
    fetch["I"] = [{"%": value["%"]}]
    fetch["O"] = [{"%": place[1], "TT": value["TT"]}]
    return fetch


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _read(owner: Any) -> Iterator[int]:
    """Every value that an operator reads, those of nested regions too; what is only fetched is put out already."""
    for operator in _operators(owner):
        if operator["#"] != "1.fetch":
            yield from (one["%"] for one in _list(operator.get("I", [])))


def _results(owner: Any) -> Iterator[int]:
    for operator in _operators(owner):
        yield from (one["%"] for one in _list(operator.get("O", [])))


def _operators(owner: Any) -> Iterator[Any]:
    for region in owner.get("regions", ()):
        for block in region["blocks"]:
            for operator in block["ops"]:
                yield operator
                yield from _operators(operator)


plugin: Tap = tap
