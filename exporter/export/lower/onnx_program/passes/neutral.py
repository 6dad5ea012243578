"""Arithmetic that changes nothing: `x + 0`, `x - 0`, `x * 1`, `x / 1`; at most −0 stays −0, which equals 0."""

from __future__ import annotations

from collections.abc import Mapping

from exporter.export.lower.onnx_program.passes.graph import Graph, Node
from exporter.export.lower.onnx_program.passes.shapes import Sizes, infer
from exporter.export.lower.onnx_program.passes.tidy import bypass

_NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}
#: Of these either operand may be the neutral one.
_EITHER = ("Add", "Mul")


def neutral_removed(graph: Graph) -> None:
    """Take out additions of 0 and multiplications by 1 that do not add a dimension to their operand."""
    shapes = infer(graph)
    for node in graph.each(*_NEUTRAL):
        kept = _kept(node, graph, shapes)
        if kept:
            graph.become(node, "Identity", [kept])
            bypass(graph, node)


def _kept(node: Node, graph: Graph, shapes: Mapping[str, Sizes]) -> str:
    """The operand that the result equals, if any."""
    pairs = [(node.input[0], node.input[1])]
    pairs += [(node.input[1], node.input[0])] if node.op_type in _EITHER else []
    for kept, other in pairs:
        value = graph.constants.get(other)
        if value is None or value.size != 1 or value.item() != _NEUTRAL[node.op_type]:
            continue
        if value.ndim == 0 or value.ndim <= len(shapes.get(kept, ())):
            return str(kept)
    return ""
