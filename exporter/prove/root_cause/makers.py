"""Which operator of a file computes a value, read without any engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporter.base.readers.kinds.pir import read_pir
from exporter.base.readers.nodes import nodes
from exporter.base.readers.program import read_operators


@dataclass(frozen=True)
class Maker:
    """The operator that computes a value: its place in the program, its kind, and its sublayer where that is known."""

    place: int
    kind: str
    layer: str = ""


def makers(path: Path) -> dict[str, Maker]:
    """Which operator of the main program computes each value, by the value's name in the file.

    Raises:
        UsageError, BundleError: the file cannot be read.
    """
    if path.suffix != ".json":
        listed = enumerate(nodes(path))
        return {name: Maker(place, node.kind, node.layer) for place, node in listed for name in node.given() if name}
    operators = [operator for operator in read_operators(path).operators if operator.name != "parameter"]
    maker_of = {
        f"%{result.id}": Maker(place, operator.name, operator.layer)
        for place, operator in enumerate(operators)
        for result in operator.results
    }
    fetched = [f"%{operator.operands[0]}" for operator in operators if operator.name == "fetch"]
    names = [output.name for output in read_pir(path).outputs]
    return {
        **maker_of,
        **{name: maker_of[value] for name, value in zip(names, fetched, strict=True) if value in maker_of},
    }
