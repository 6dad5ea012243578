"""Which operators of a program may stop to write into what they read."""

from __future__ import annotations

from exporter.base.readers.program import Block, Operator, Value
from exporter.export.sources.in_place import without_writes


def operator(name: str, operands: tuple[int, ...], result: int, *blocks: Block) -> Operator:
    results = (Value(result, None),) if result else ()
    return Operator(name, 0, operands, results, {"name": "w"} if name == "parameter" else {}, blocks)


def names(*operators: Operator) -> list[str]:
    return [one.name for one in without_writes(Block((), operators)).operators]


def test_a_value_that_nobody_reads_again_is_left_as_it_was() -> None:
    assert names(operator("slice", (1,), 2), operator("relu_", (2,), 3)) == ["slice", "relu"]


def test_a_value_that_is_read_again_is_written_into() -> None:
    """The executor shows the reader behind it what was written."""
    chain = (operator("slice", (1,), 2), operator("relu_", (2,), 3), operator("add", (2, 3), 4))
    assert names(*chain) == ["slice", "relu_", "add"]


def test_what_a_block_reads_from_outside_is_written_into() -> None:
    """A loop changes it at each turn."""
    body = Block((), (operator("exp", (1,), 5), operator("scale_", (5,), 6), operator("relu_", (2,), 7)))
    (_, loop) = without_writes(Block((), (operator("slice", (1,), 2), operator("while", (2,), 8, body)))).operators
    assert [one.name for one in loop.blocks[0].operators] == ["exp", "scale", "relu_"]


def test_parameters_and_what_has_a_meaning_of_its_own_stay() -> None:
    assert names(operator("parameter", (), 1), operator("relu_", (1,), 2)) == ["parameter", "relu_"]
    assert names(operator("full", (), 1), operator("assign_value_", (1,), 2)) == ["full", "assign_value_"]
    assert names(operator("full", (), 1), operator("of_the_future_", (1,), 2)) == ["full", "of_the_future_"]
