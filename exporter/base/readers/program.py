"""The operators of a PIR program with their operands, results and attributes, in order, without Paddle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from exporter.base.readers.base import damaged, map_file
from exporter.base.readers.callstack import ATTRIBUTE, line_of
from exporter.base.readers.kinds.pir import DTYPES, WRONG_SHAPE, parsed


@dataclass(frozen=True)
class TensorType:
    """What PIR declares of a tensor; -1 is a size that varies."""

    dtype: str
    shape: tuple[int, ...]


#: The type of a value: one tensor, a list of tensors, or something else (None), such as an array that grows.
Type: TypeAlias = TensorType | tuple["Type", ...] | None


@dataclass(frozen=True)
class Value:
    """One result of an operator, or one argument of a block; `id` is unique in the program (0: there is none)."""

    id: int
    type: Type


@dataclass(frozen=True)
class Operator:
    """`name` is without Paddle's own dialect: `conv2d`, but `builtin.combine` and `cf.yield`.

    `index` counts the operators of the program in the order of the file, those of nested blocks after their owner;
    `layer` is the path of the sublayer that called it, and `line` the line of the model's code, if the writer recorded
    them.
    """

    name: str
    index: int
    operands: tuple[int, ...]
    results: tuple[Value, ...]
    attributes: Mapping[str, Any]
    blocks: tuple[Block, ...] = ()
    layer: str = ""
    line: str = ""


@dataclass(frozen=True)
class Block:
    """Operators in order; `arguments` are what the owner hands in at each turn (of `while`)."""

    arguments: tuple[Value, ...]
    operators: tuple[Operator, ...] = field(repr=False)


_DIALECTS = {"0": "builtin.", "1": "", "2": "cf.", "3": "custom.", "4": "dist."}
#: An attribute's element types that stand for a number that JSON cannot hold.
_NOT_FINITE = {"INF": float("inf"), "-INF": float("-inf"), "NAN": float("nan")}


def read_operators(path: Path) -> Block:
    """The main block of a `.json` program.

    Raises:
        UsageError: JSON of another kind.
        BundleError: not a whole PIR program.
    """
    return operators_of(parsed(map_file(path), str(path)), str(path))


def operators_of(program: Any, where: str) -> Block:
    """The same of JSON that :func:`exporter.base.readers.kinds.pir.parsed` gave; raises as :func:`read_operators`."""
    try:
        (region,) = program["program"]["regions"]
        (block,) = region["blocks"]
        return _block(block, [0])
    except WRONG_SHAPE as error:
        raise damaged(f"not a PIR program ({type(error).__name__}: {error})"[:200], where) from error


def _block(block: Any, count: list[int]) -> Block:
    arguments = tuple(Value(int(one["#"]), _type(one["TT"])) for one in block["args"])
    return Block(arguments, tuple(_operator(one, count) for one in block["ops"]))


def _operator(told: Any, count: list[int]) -> Operator:
    index = count[0]
    count[0] += 1
    if told["#"] == "p":
        result = Value(int(told["O"]["%"]), _type(told["O"]["TT"]))
        return Operator("parameter", index, (), (result,), {"name": str(told["A"][3])})
    dialect, _, plain = str(told["#"]).partition(".")
    attributes = {str(one["N"]): _attribute(one["AT"]) for one in told["A"]}
    blocks = tuple(_block(block, count) for region in told.get("regions", ()) for block in region["blocks"])
    return Operator(
        _DIALECTS.get(dialect, f"{dialect}.") + plain,
        index,
        tuple(int(one["%"]) for one in told["I"]),
        tuple(Value(int(one["%"]), _type(one.get("TT"))) for one in told["O"]),
        attributes,
        blocks,
        str(attributes.pop("struct_name", "")),
        line_of([str(frame) for frame in attributes.pop(ATTRIBUTE, ())]),
    )


def _attribute(told: Any) -> Any:
    """Lists nest; a float that is not finite has its text in a key of its own (`VD`, Paddle 3.3.1)."""
    if told["#"] == "0.a_array":
        return [_attribute(one) for one in told["D"]]
    value = told.get("D")
    if value is None and "VD" in told:
        return _NOT_FINITE[str(told["VD"]).upper().removeprefix("+")]
    return value


def _type(told: Any) -> Type:
    kind = told["#"] if told else "NULL"
    if kind == "0.t_vec":
        return tuple(_type(one) for one in told["D"])
    if kind != "0.t_dtensor":
        return None
    element, dims = told["D"][0], told["D"][1]
    return TensorType(DTYPES[element["#"].partition(".")[2]], tuple(max(int(dim), -1) for dim in dims))
