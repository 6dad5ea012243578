"""What operators of a program read and write, and which of them anything needs."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.readers.program import Block, Operator, TensorType

#: They end like operators in place; their first operand keeps its meaning.
_NOT_IN_PLACE = ("batch_norm_", "share_data_")
#: Their results show whether an operand is 1 or nearly, and 0 or nearly.
_PASSING_ON = frozenset(
    (
        *("scale", "add", "subtract", "clip", "cast", "assign", "builtin.combine", "concat", "stack"),
        *("reshape", "squeeze", "unsqueeze", "flatten", "transpose", "slice"),
    )
)
#: They compute nothing that is put out.
_NOTHING = ("assert", "print")


def flat(block: Block) -> Iterator[Operator]:
    """The operators of a block in order, those of blocks inside after their owner."""
    for operator in block.operators:
        yield operator
        for inner in operator.blocks:
            yield from flat(inner)


def written_in_place(operator: Operator) -> int | None:
    """The operand that stands for the operator's first result from then on; None where there is none."""
    if operator.name == "assign_out_":
        return 1
    return 0 if operator.name.endswith("_") and operator.name not in _NOT_IN_PLACE else None


def changed_inside(operator: Operator) -> set[int]:
    """The values that an operator's blocks write in place; those that a block itself makes among them."""
    inner = [member for block in operator.blocks for member in flat(block)]
    places = ((member, written_in_place(member)) for member in inner)
    return {member.operands[at] for member, at in places if at is not None}


def dtypes_of_members(block: Block) -> dict[int, str]:
    """The dtype of what is appended to each list that grows, by each number that the list has in turn."""
    operators = list(flat(block))
    blocks = [block, *(inner for operator in operators for inner in operator.blocks)]
    values = [value for operator in operators for value in operator.results]
    values += [value for inner in blocks for value in inner.arguments]
    types = {value.id: value.type for value in values}
    writes = [operator.operands for operator in operators if operator.name == "array_write_"]
    members = {grown: types.get(member) for grown, member, *_ in writes}
    dtypes = {grown: kind.dtype for grown, kind in members.items() if isinstance(kind, TensorType)}
    same = [pair for operator in operators for pair in _same_value(operator) if types.get(pair[0], ()) is None]
    while new := {
        to: dtypes[of] for pair in same for of, to in (pair, pair[::-1]) if of in dtypes and to not in dtypes
    }:
        dtypes |= new
    return dtypes


def _same_value(operator: Operator) -> Iterator[tuple[int, int]]:
    """Pairs of numbers that are one list: an operand, the argument and the result of a block, and what it yields."""
    results = [value.id for value in operator.results]
    if operator.name == "array_write_":
        yield operator.operands[0], results[0]
    for block in operator.blocks:
        yields = block.operators[-1].operands[1 if operator.name == "while" else 0 :]
        yield from zip(yields, results, strict=False)
        yield from zip(operator.operands[1:], (value.id for value in block.arguments), strict=False)
        yield from zip((value.id for value in block.arguments), results, strict=False)


def reads(operator: Operator) -> set[int]:
    """Values that an operator or its blocks read."""
    inner = (number for block in operator.blocks for one in block.operators for number in reads(one))
    return {*operator.operands, *inner}


def readers(block: Block) -> dict[int, set[str]]:
    """The names of the operators that read each value that any reads, in the block and in those within.

    What reads a result of an operator in `_PASSING_ON` reads its operands, too.
    """
    names: dict[int, set[str]] = {}
    for operator in reversed([*flat(block)]):
        own = {operator.name}
        if operator.name in _PASSING_ON:
            own = own.union(*(names.get(value.id, ()) for value in operator.results))
        for number in operator.operands:
            names.setdefault(number, set()).update(own)
    return names


def needed(block: Block) -> set[int]:
    """The indices of operators that an output depends on, and of the inputs."""
    values: set[int] = set()
    found: set[int] = set()
    for operator in reversed(block.operators):
        writes = {value.id for value in operator.results}
        in_place = operator.name.endswith("_") and bool(set(operator.operands[:2]) & values)
        in_place = in_place or bool(changed_inside(operator) & values)
        wanted = operator.name in ("fetch", "data") or bool(writes & values) or in_place
        if wanted and operator.name not in _NOTHING:
            found.add(operator.index)
            values |= reads(operator)
    return found
