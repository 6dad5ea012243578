"""What operators of a program read and write, and which of them anything needs."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.readers.program import Block, Operator, TensorType

#: They end like operators in place; their first operand keeps its meaning.
_NOT_IN_PLACE = ("batch_norm_", "share_data_")
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


def appended(operator: Operator) -> set[int]:
    """The lists that an operator's blocks append to, in place; those that a block itself creates among them."""
    inner = (member for block in operator.blocks for member in flat(block))
    return {member.operands[0] for member in inner if member.name == "array_write_"}


def dtypes_of_members(block: Block) -> dict[int, str]:
    """The dtype of what is appended to each list that grows, by the list's number."""
    operators = list(flat(block))
    blocks = [block, *(inner for operator in operators for inner in operator.blocks)]
    values = [value for operator in operators for value in operator.results]
    types = {value.id: value.type for value in [*values, *(value for inner in blocks for value in inner.arguments)]}
    writes = [operator.operands for operator in operators if operator.name == "array_write_"]
    members = {grown: types.get(member) for grown, member, *_ in writes}
    return {grown: kind.dtype for grown, kind in members.items() if isinstance(kind, TensorType)}


def reads(operator: Operator) -> set[int]:
    """Values that an operator or its blocks read."""
    inner = (number for block in operator.blocks for one in block.operators for number in reads(one))
    return {*operator.operands, *inner}


def readers(block: Block) -> dict[int, set[str]]:
    """The names of the operators that read each value that any reads, in the block and in those within."""
    names: dict[int, set[str]] = {}
    for operator in block.operators:
        for number in reads(operator):
            names.setdefault(number, set()).add(operator.name)
    return names


def needed(block: Block) -> set[int]:
    """The indices of operators that an output depends on, and of the inputs."""
    values: set[int] = set()
    found: set[int] = set()
    for operator in reversed(block.operators):
        writes = {value.id for value in operator.results}
        in_place = operator.name.endswith("_") and bool(set(operator.operands[:2]) & values)
        in_place = in_place or bool(appended(operator) & values)
        wanted = operator.name in ("fetch", "data") or bool(writes & values) or in_place
        if wanted and operator.name not in _NOTHING:
            found.add(operator.index)
            values |= reads(operator)
    return found
