"""Passes that only rename or take out: no number is touched."""

from __future__ import annotations

from collections import Counter

from exporter.export.lower.onnx_program.passes.graph import Graph, Node

#: Larger constants are weights, which keep a name of their own even where two are equal (fresh batch norms).
_SMALL = 8


def identities_removed(graph: Graph) -> None:
    """What returns its first input as it is: Identity, Concat of one."""
    for node in graph.each("Identity", "Concat"):
        if len(node.input) == 1:
            bypass(graph, node)


def bypass(graph: Graph, node: Node) -> bool:
    """Take out a node whose output is its first input; an input that is put out untouched has to keep it."""
    source, result = node.input[0], node.output[0]
    if result not in graph.output_names:
        graph.drop(node)
        graph.reads_instead(result, source)
        return True
    maker = graph.maker(source)
    if maker is None or source in graph.output_names:
        return False
    graph.drop(node)
    graph.puts_out_instead(maker, source, result)
    return True


def equal_constants_merged(graph: Graph) -> None:
    """Of small integers and single numbers (axes, shapes, bounds) that are equal, one is kept."""
    kept: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    for name, value in list(graph.constants.items()):
        plain = value.size <= _SMALL and value.dtype.kind in "iub"
        if name in graph.output_names or not (plain or value.size == 1) or not value.dtype.isnative:
            continue
        first = kept.setdefault((value.dtype.name, value.shape, value.tobytes()), name)
        if first != name:
            graph.reads_instead(name, first)
            del graph.constants[name]


def unread_dropped(graph: Graph) -> None:
    """Nodes that no output needs, from the last to the first, and then constants that nobody reads."""
    for node in reversed(graph.nodes):
        if not any(name in graph.output_names or graph.readers(name) for name in node.output if name):
            graph.drop(node)
    for name in [name for name in graph.constants if name not in graph.output_names and not graph.readers(name)]:
        del graph.constants[name]


def nodes_numbered(graph: Graph) -> None:
    """Each node is called after its operator and its place among those of one kind: `Conv.0`, `Conv.1`."""
    seen: Counter[str] = Counter()
    for node in graph.nodes:
        node.name = f"{node.op_type}.{seen[node.op_type]}"
        seen[node.op_type] += 1
