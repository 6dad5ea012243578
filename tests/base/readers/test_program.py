"""The operators of a PIR program, read from JSON by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import BundleError
from exporter.base.readers.program import TensorType, read_operators

_KIND = {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [-1, 4], "NCHW", [], 0]}


def operator(name: str, operands: list[int], results: list[Any], attributes: list[Any] | None = None) -> dict[str, Any]:
    return {
        "#": name,
        "A": attributes or [],
        "I": [{"%": number} for number in operands],
        "O": [{"%": number, "TT": kind} for number, kind in results],
    }


def program(folder: Path, operators: list[Any]) -> Path:
    whole = {"regions": [{"#": "region_0", "blocks": [{"#": "block_0", "args": [], "ops": operators}]}]}
    path = folder / "model.json"
    path.write_text(json.dumps({"base_code": {"magic": "pir", "version": 4}, "program": whole}))
    return path


def test_operators_have_names_types_and_attributes(tmp_path: Path) -> None:
    endless = {"N": "value", "AT": {"#": "0.a_f64", "VD": "-INF"}}
    nested = {"N": "axes", "AT": {"#": "0.a_array", "D": [{"#": "0.a_i64", "D": 1}, {"#": "0.a_i64", "D": -1}]}}
    where = {"N": "struct_name", "AT": {"#": "0.a_str", "D": "/Net/Linear/"}}
    listed = {"#": "0.t_vec", "D": [_KIND, _KIND]}
    block = read_operators(
        program(
            tmp_path,
            [
                operator("1.full", [], [(1, _KIND)], [endless, nested, where]),
                operator("0.combine", [1, 1], [(2, listed)]),
                operator("1.unique", [1], [(0, {"#": "NULL"})]),
            ],
        )
    )
    full, combine, unique = block.operators
    assert (full.name, full.index, full.layer) == ("full", 0, "/Net/Linear/")
    assert full.attributes["value"] == -math.inf and full.attributes["axes"] == [1, -1]
    assert full.results[0].type == TensorType("float32", (-1, 4))
    assert combine.name == "builtin.combine" and combine.operands == (1, 1)
    assert combine.results[0].type == (TensorType("float32", (-1, 4)),) * 2
    assert unique.results[0].type is None


def test_operators_of_a_loop_are_in_its_block_and_counted_after_it(tmp_path: Path) -> None:
    inner = {"#": "block_1", "args": [{"#": -1, "TT": _KIND}], "ops": [operator("2.yield", [-1], [])]}
    loop = operator("1.while", [1, 2], [(3, _KIND)]) | {"regions": [{"#": "region_1", "blocks": [inner]}]}
    (found, last) = read_operators(program(tmp_path, [loop, operator("1.relu", [3], [(4, _KIND)])])).operators
    (block,) = found.blocks
    assert block.arguments[0].id == -1
    assert [(one.name, one.index) for one in (found, *block.operators, last)] == [
        ("while", 0), ("cf.yield", 1), ("relu", 2)
    ]  # fmt: skip


def test_what_is_no_whole_program_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="not a PIR program"):
        read_operators(program(tmp_path, [{"#": "1.relu"}]))
