"""A block of a PIR program beside the ONNX graph that was written for it: which values both of them show.

The writer calls what it makes of value 57 `%57`, and passes that rename or remove values keep a name's meaning. So a
name that is still in the file stands for its value, and one that is gone was folded into what reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from exporter.base.readers.program import Block, Operator
from exporter.export.lower.onnx_program.effects import reads, written_in_place
from exporter.export.lower.onnx_program.excerpt import latest
from exporter.export.lower.onnx_program.graph import value_name

#: A node, and the body of one, as `onnx` holds them.
Node = Any
Body = Any


@dataclass(frozen=True)
class Scope:
    """One block and its graph. `given` names the inputs of the graph by PIR's numbers, `puts_out` its fetched outputs.

    `before` says what values of the blocks around it stand for when it runs: one written in place is another from then.
    """

    block: Block
    nodes: Sequence[Node]
    constants: frozenset[str]
    given: Mapping[int, str]
    puts_out: Mapping[int, str]
    outer: Scope | None = None
    before: Mapping[int, int] | None = None

    @cached_property
    def makers(self) -> dict[str, Node]:
        """The node that makes a name, here or around."""
        own = {name: node for node in self.nodes for name in node.output if name}
        return {**(self.outer.makers if self.outer else {}), **own}

    @cached_property
    def operators(self) -> dict[int, Operator]:
        """The operator that makes a value, here or around."""
        own = {value.id: operator for operator in self.block.operators for value in operator.results if value.id}
        return {**(self.outer.operators if self.outer else {}), **own}

    @cached_property
    def names(self) -> dict[int, str]:
        """What both programs show: the name in the ONNX file by PIR's number."""
        around = self.outer.names if self.outer else {}
        named = {number: value_name(number) for number in self.operators if value_name(number) in self.makers}
        return {**self.puts_out, **named, **around, **self.given}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The reverse; of two values of one name the first."""
        return {name: number for number, name in reversed(self.names.items())}

    @cached_property
    def means(self) -> dict[int, dict[int, int]]:
        """By the operator's index: which value each of the values written in place before it stands for."""
        current = dict(self.before or {})
        found: dict[int, dict[int, int]] = {**(self.outer.means if self.outer else {})}
        for operator in self.block.operators:
            found[operator.index] = dict(current)
            at = written_in_place(operator)
            if at is not None and at < len(operator.operands) and operator.results:
                current[operator.operands[at]] = operator.results[0].id
        return found

    def read(self, operator: Operator) -> set[int]:
        """The values that an operator reads, bodies included, as they are when its turn comes."""
        inside = set(_made(operator.blocks))
        means = self.means[operator.index]
        return {latest(number, means) for number in reads(operator) if number and number not in inside}

    def bodies(self) -> Iterator[tuple[Operator, Scope]]:
        """The blocks of the operators of this one, with the operator that owns each."""
        for operator in self.block.operators:
            made = (self.makers.get(value_name(value.id)) for value in operator.results)
            node = next((node for node in made if node is not None and node.op_type in ("If", "Loop")), None)
            if operator.name not in ("if", "while") or node is None:
                continue
            for block, body in zip(operator.blocks, graphs_of(node), strict=False):
                given = {one.id: value_name(one.id) for one in block.arguments}
                yield operator, Scope(block, body.node, self.constants, given, {}, self, self.means[operator.index])


def graphs_of(node: Node) -> list[Body]:
    """The bodies of a node in the order of PIR's blocks: of an If the one that is taken, then the other."""
    found = {entry.name: entry.g for entry in node.attribute if entry.type == entry.GRAPH}
    return [found[name] for name in ("then_branch", "else_branch", "body") if name in found]


def names_read(node: Node) -> set[str]:
    """What a node reads from outside, bodies included."""
    found = {name for name in node.input if name}
    for body in graphs_of(node):
        made = {name for inner in body.node for name in inner.output} | {one.name for one in body.input}
        found |= {name for inner in body.node for name in names_read(inner)} - made
        found |= {one.name for one in body.output} - made
    return found


def _made(blocks: Iterable[Block]) -> Iterator[int]:
    """What blocks make themselves, their arguments included."""
    for block in blocks:
        yield from (value.id for value in block.arguments)
        for operator in block.operators:
            yield from (value.id for value in operator.results)
            yield from _made(operator.blocks)
