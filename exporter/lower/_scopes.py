"""Names of a subgraph that also stand outside it.

paddle2onnx 2.1.0 gives a loop's variables the names of the values that they begin with. ONNX forbids it, and who reads
the graph afterwards takes the one for the other: a loop then starts anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx


def with_own_names(model: onnx.ModelProto) -> None:
    """Give every name once; a model without subgraphs stays as it is."""
    if any(True for node in model.graph.node for _ in _inner(node)):
        _separate(model.graph, set())


def _separate(graph: onnx.GraphProto, outside: set[str]) -> None:
    known = outside | _defined(graph)
    for node in graph.node:
        for inner in _inner(node):
            clashes = sorted(_defined(inner) & known)
            renamed = {name: _free(name, known) for name in clashes}
            known |= set(renamed.values())
            _rename(inner, renamed)
            known |= _defined(inner)
            _separate(inner, known)


def _free(name: str, taken: set[str]) -> str:
    number = 1
    while f"{name}.inner.{number}" in taken:
        number += 1
    return f"{name}.inner.{number}"


def _defined(graph: onnx.GraphProto) -> set[str]:
    made = {name for node in graph.node for name in node.output if name}
    return made | {one.name for one in graph.input} | {one.name for one in graph.initializer}


def _rename(graph: onnx.GraphProto, renamed: dict[str, str]) -> None:
    if not renamed:
        return
    for one in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        one.name = renamed.get(one.name, one.name)
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        node.output[:] = [renamed.get(name, name) for name in node.output]
        for inner in _inner(node):
            _rename(inner, {old: new for old, new in renamed.items() if old not in _defined(inner)})


def _inner(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
