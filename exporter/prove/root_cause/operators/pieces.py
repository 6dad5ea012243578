"""Cut two programs into pieces, each as small as the values that both of them show allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from exporter.base.readers.program import Operator
from exporter.prove.root_cause.operators.scopes import Node, Scope, names_read

#: They are numbers: nothing is computed that could be judged.
_NUMBERS = ("parameter", "data", "full", "full_int_array")
#: What is not worth a mention besides the operator that reads it.
_PLAIN = (*_NUMBERS, "builtin.combine", "builtin.split")


@dataclass(frozen=True)
class Piece:
    """One operator, with those before it whose results the ONNX file does not show, and the nodes that compute it.

    `operators` are in the program's order. `reads` are the values that go in, by PIR's numbers; `takes` names the
    values that the nodes read, by number (those of parameters and constants left out); `results` names what is judged.
    `lost` names what the nodes read and nothing makes.
    """

    operators: tuple[Operator, ...]
    reads: tuple[int, ...]
    results: Mapping[int, str]
    nodes: tuple[Node, ...]
    takes: Mapping[int, str]
    lost: tuple[str, ...] = ()

    @property
    def operator(self) -> Operator:
        """The one that the last node was written for, as that says; else the last."""
        told = {entry.key: entry.value for entry in self.nodes[-1].metadata_props} if self.nodes else {}
        number = told.get("pir_operator", "").partition(" ")[0]
        return next((one for one in self.operators if str(one.index) == number), self.operators[-1])

    @property
    def folded(self) -> tuple[Operator, ...]:
        """Those before it that were folded into it."""
        return tuple(one for one in self.operators if one.name not in _PLAIN and one is not self.operator)


def pieces_of(scope: Scope) -> list[Piece]:
    """The pieces of one block, in its order; what no output depends on is in none."""
    read = {number for operator in scope.block.operators for number in scope.read(operator)}
    shown = {number: scope.names[number] for number in read & set(scope.names) if scope.names[number] in scope.makers}
    found = []
    for operator in scope.block.operators:
        results = {value.id: shown[value.id] for value in operator.results if value.id in shown}
        if results and operator.name not in _NUMBERS:
            found.append(_piece(operator, results, scope))
    return found


def operators_for(numbers: Iterable[int], leaves: Iterable[int], scope: Scope) -> tuple[tuple[Operator, ...], set[int]]:
    """What computes some values from `leaves`, in the program's order, and the leaves that it reads."""
    stop, waiting = set(leaves), list(numbers)
    wanted: dict[int, Operator] = {}
    reached: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number in stop or number not in scope.operators:
            reached.add(number)
            continue
        operator = scope.operators[number]
        if operator.index not in wanted:
            wanted[operator.index] = operator
            waiting += scope.read(operator)
    made = {value.id for operator in wanted.values() for value in operator.results}
    return tuple(wanted[index] for index in sorted(wanted)), reached - made


def _piece(operator: Operator, results: Mapping[int, str], scope: Scope) -> Piece:
    leaves = set(scope.names) - set(results)
    operators, reached = operators_for(results, leaves, scope)
    nodes, taken, lost = _nodes(results, scope)
    return Piece(operators, tuple(sorted(reached)), results, nodes, taken, lost)


def _nodes(results: Mapping[int, str], scope: Scope) -> tuple[tuple[Node, ...], dict[int, str], tuple[str, ...]]:
    """The nodes that compute some names from others that stand for values, those names, and what is made nowhere."""
    own, waiting = set(results.values()), list(results.values())
    wanted: dict[int, Node] = {}
    taken: dict[int, str] = {}
    lost = []
    while waiting:
        name = waiting.pop()
        if name in scope.constants:
            continue
        if name in scope.numbers and name not in own:
            taken[scope.numbers[name]] = name
        elif name not in scope.makers:
            lost.append(name)
        elif id(scope.makers[name]) not in wanted:
            node = wanted[id(scope.makers[name])] = scope.makers[name]
            waiting += names_read(node)
    return _in_order(wanted, scope), dict(sorted(taken.items())), tuple(sorted(lost))


def _in_order(wanted: Mapping[int, Node], scope: Scope) -> tuple[Node, ...]:
    around: list[Any] = []
    level: Scope | None = scope
    while level is not None:
        around = [*level.nodes, *around]
        level = level.outer
    return tuple(node for node in around if id(node) in wanted)
