"""A graph in the words of another opset: each operator as that opset has it, or the graph is refused.

The writer speaks opsets 17 to 21. An older one knows some operators by attributes where these are inputs now, in fewer
dtypes, or not at all (onnx/docs/Changelog.md); then the same is said with what it has. A newer one takes more dtypes.
What is left is held against the schemas of the opset, so that no runtime finds it first.
"""

from __future__ import annotations

from collections.abc import Iterable

from exporter.export.lower.onnx_program.passes.graph import Graph, Node, bodies
from exporter.export.lower.onnx_program.passes.older import AXES, RULES, Older, Type, Types, refusal, types_in

#: The version of the file that came with each opset (onnx/docs/Versioning.md).
IR_VERSIONS = {
    **dict.fromkeys((11,), 6),
    **dict.fromkeys((12, 13, 14), 7),
    **dict.fromkeys((15, 16, 17, 18), 8),
    **dict.fromkeys((19, 20), 9),
    **dict.fromkeys((21, 22), 10),
    23: 11,
    24: 12,
    25: 13,
}
#: The opsets that the writer itself speaks.
SPOKEN = (17, 21)


def spoken_for(opset: int) -> int:
    """Return the opset that a graph is written in before it is put into another one."""
    return min(max(opset, SPOKEN[0]), SPOKEN[1])


def put_into(graph: Graph, opset: int) -> None:
    """Rewrite a graph in the words of an opset.

    Raises:
        ModelError: the opset cannot say an operator of it, in this dtype or at all; it is named.
    """
    from onnx import helper

    if opset == graph.opset:
        return
    older = Older(graph, opset, types_in(graph))
    graph.nodes = older.rewritten(graph.nodes, AXES)
    graph.opset = opset
    graph.model.ir_version = IR_VERSIONS[opset]
    del graph.model.opset_import[:]
    graph.model.opset_import.append(helper.make_opsetid("", opset))
    # Within bodies, ONNX's inference sees no constant of the graph around them, and attributes are what they hold.
    older.types |= {name: known for name, known in types_in(graph).items() if known.rank >= 0}
    graph.nodes = older.rewritten(graph.nodes, RULES)
    _refuse_unsayable(graph.nodes, opset, types_in(graph))


def _refuse_unsayable(nodes: Iterable[Node], opset: int, types: Types) -> None:
    """Hold each node against the schemas of its opset.

    Raises:
        ModelError: the opset has no such operator, attribute, input or dtype.
    """
    for node in nodes:
        if lacking := _lacking(node, opset, types):
            later = (version for version in IR_VERSIONS if version > opset and not _lacking(node, version, types))
            raise refusal(node, f"opset {opset} has no {lacking}", next(later, 0))
        for body in bodies(node):
            _refuse_unsayable(body.node, opset, types)


def _lacking(node: Node, opset: int, types: Types) -> str:
    """Return what an opset has not of a node; empty where it has all."""
    from onnx import defs

    if node.domain not in ("", "ai.onnx"):
        return ""
    try:
        schema = defs.get_schema(node.op_type, opset, "")
    except defs.SchemaError:
        return str(node.op_type)
    for attribute in node.attribute:
        if attribute.name not in schema.attributes:
            return f"attribute {attribute.name} of {node.op_type}"
    if not schema.min_input <= len(node.input) <= schema.max_input:
        return f"{node.op_type} of {len(node.input)} inputs"
    for place, name in enumerate(node.input):
        formal = schema.inputs[min(place, len(schema.inputs) - 1)]
        dtype = types.get(name, Type()).dtype
        if name and dtype and f"tensor({dtype})" not in formal.types:
            return f"{node.op_type} of {dtype}"
    return ""
