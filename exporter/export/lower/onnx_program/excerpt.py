"""Write operators of a PIR program as a program of their own, whose inputs are whatever they read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exporter.base.readers.kinds.pir import DTYPES
from exporter.base.readers.program import Operator
from exporter.export.lower.onnx_program.graph import value_name

_WIDER = {"0.t_f32": "0.t_f64", "0.t_c64": "0.t_c128", "float32": "float64", "complex64": "complex128"}
#: Block arguments have negative numbers, which no input of a program may have.
_SHIFT = 10**6


@dataclass(frozen=True)
class Source:
    """A program as its file holds it: operators by their index, types by the number of the value."""

    head: Mapping[str, Any]
    operators: Sequence[Mapping[str, Any]]
    types: Mapping[int, Mapping[str, Any]]

    @classmethod
    def of(cls, told: Any) -> Source:
        """The program that :func:`exporter.base.readers.kinds.pir.parsed` gave."""
        (block,) = told["program"]["regions"][0]["blocks"]
        operators = list(_operators(block))
        types = {value["%"]: value["TT"] for one in operators for value in _list(one["O"]) if value.get("TT")}
        types |= {value["#"]: value["TT"] for value in _arguments(told["program"]["regions"])}
        return cls(told["base_code"], operators, types)

    def dtype(self, number: int) -> str:
        """The dtype of a value; "" where it is no tensor."""
        kind = self.types.get(number, {})
        return DTYPES[kind["D"][0]["#"].partition(".")[2]] if kind.get("#") == "0.t_dtensor" else ""

    def excerpt(
        self,
        operators: Sequence[Operator],
        means: Mapping[int, Mapping[int, int]],
        given: Sequence[int],
        wanted: Sequence[int],
        *,
        wide: bool = False,
    ) -> bytes:
        """A program that computes the values `wanted` from those `given`, by what each operator's operands mean.

        With `wide` every float32 is a float64. Inputs and outputs are called as in the ONNX file: `%57`.
        """
        numbers = {number: _SHIFT - number for number in given if number < 0}
        data = [self._data(number, numbers.get(number, number)) for number in given]
        body = [
            _renumbered(self.operators[one.index], {**means.get(one.index, {}), **numbers})
            for one in operators
            if one.name not in ("parameter", "data")
        ]
        fetches = [self._fetch(number, numbers.get(number, number), at) for at, number in enumerate(wanted)]
        block = {"#": "block_0", "args": [], "ops": [*data, *body, *fetches]}
        program: Any = {"regions": [{"#": "region_0", "blocks": [block]}]}
        if wide:
            program = _widened(program)
        return json.dumps({"base_code": self.head, "program": program}, separators=(",", ":")).encode()

    def _data(self, number: int, written: int) -> dict[str, Any]:
        kind = self.types[number]
        attributes = {
            "name": {"#": "0.a_str", "D": value_name(number)},
            "shape": {"#": "1.a_intarray", "D": kind["D"][1]},
            "dtype": {"#": "1.a_dtype", "D": self.dtype(number)},
            "place": {"#": "1.a_place", "D": [0, 0, ""]},
        }
        return _told("1.data", attributes, [], {"%": written, "TT": kind})

    def _fetch(self, number: int, written: int, column: int) -> dict[str, Any]:
        attributes = {"name": {"#": "0.a_str", "D": value_name(number)}, "col": {"#": "0.a_i32", "D": column}}
        result = {"%": 2 * _SHIFT + column, "TT": self.types[number]}
        return _told("1.fetch", attributes, [{"%": written}], result)


def _told(name: str, attributes: Mapping[str, Any], operands: list[Any], result: Mapping[str, Any]) -> dict[str, Any]:
    settled = {"AT": {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": True}]}, "N": "stop_gradient"}
    return {
        "#": name,
        "A": [{"AT": value, "N": key} for key, value in attributes.items()],
        "I": operands,
        "O": [result],
        "OA": [settled],
    }


def _renumbered(told: Any, means: Mapping[int, int]) -> Any:
    """Operands written in place are what they stand for now; arguments of blocks around it get numbers of inputs."""
    if isinstance(told, list):
        return [_renumbered(part, means) for part in told]
    if not isinstance(told, dict):
        return told
    if "%" in told and "TT" not in told:
        return {**told, "%": latest(told["%"], means)}
    return {key: _renumbered(part, means) for key, part in told.items()}


def _widened(told: Any) -> Any:
    if isinstance(told, list):
        return [_widened(part) for part in told]
    if isinstance(told, dict):
        return {key: _widened(part) for key, part in told.items()}
    return _WIDER.get(told, told) if isinstance(told, str) else told


def latest(number: int, means: Mapping[int, int]) -> int:
    """What a value stands for, once it was written in place."""
    while number in means:
        number = means[number]
    return number


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _operators(block: Any) -> Iterator[Any]:
    """In the order of :attr:`exporter.base.readers.program.Operator.index`."""
    for operator in block["ops"]:
        yield operator
        for region in operator.get("regions", ()):
            for inner in region["blocks"]:
                yield from _operators(inner)


def _arguments(regions: Any) -> Iterator[Any]:
    for region in regions:
        for block in region["blocks"]:
            yield from block["args"]
            for operator in block["ops"]:
                yield from _arguments(operator.get("regions", ()))
