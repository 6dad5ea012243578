"""Operators that write into what they read, as ones that do not.

A program's executor gives each result memory of its own. In eager code a slice or a reshape is a view, so that what
`set_value_` writes into a slice would change the tensor behind it, and the next run's parameter or input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from exporter.base.readers.program import Block, Operator
from exporter.paddle.functions import function

#: Operators whose result is memory of the program's own, or of who runs it.
_GIVEN = frozenset(("parameter", "data", "feed", "builtin.parameter"))
#: What :mod:`exporter.export.sources.replay` computes by the name with the underscore.
_OTHERWISE = frozenset(("batch_norm_", "assign_out_", "assign_value_", "array_write_", "share_data_"))


def without_writes(block: Block) -> Block:
    """Return a program that computes the same, where no operator writes into a value that nobody reads any more.

    What is read again afterwards, or stands outside the operator's own block, such as what a loop changes at each
    turn, is written into as before.
    """
    last = {number: place for place, operator in enumerate(block.operators) for number in reads(operator)}
    own = {value.id for operator in block.operators if operator.name not in _GIVEN for value in operator.results}
    return replace(
        block,
        operators=tuple(_apart(operator, place, last, own) for place, operator in enumerate(block.operators)),
    )


def _apart(operator: Operator, place: int, last: Mapping[int, int], own: set[int]) -> Operator:
    blocks = tuple(map(without_writes, operator.blocks))
    name = operator.name.removesuffix("_")
    writes = name != operator.name and operator.name not in _OTHERWISE and operator.operands
    if writes and operator.operands[0] in own and last[operator.operands[0]] == place and function(name) is not None:
        return replace(operator, name=name, blocks=blocks)
    return replace(operator, blocks=blocks) if blocks else operator


def reads(operator: Operator) -> Iterator[int]:
    """Give the numbers of the values that an operator reads, in its blocks too, which take those around them."""
    yield from operator.operands
    for block in operator.blocks:
        for inner in block.operators:
            yield from reads(inner)
