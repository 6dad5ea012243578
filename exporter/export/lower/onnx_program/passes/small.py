"""Small probabilities: a Sigmoid whose value is put out is written as 1 / (1 + exp(-x)), its logarithm by Softplus.

ONNX Runtime 1.31 computes Sigmoid by a rational function that is right to 1.3e-7 of one, whatever its value: of 1e-5
that is one percent, and below 1e-7 nothing is left. Paddle's kernel is right to a few units in the last place of each
value, and so are Exp and Reciprocal in ONNX Runtime. Within a network, where the next convolution adds small values
to large ones, Sigmoid stays as it is: engines fuse it.
"""

from __future__ import annotations

from exporter.export.lower.onnx_program.passes.graph import Graph, Node
from exporter.export.lower.onnx_program.passes.shapes import dtypes

#: What gives a small value of a small one, so that its relative error stays; and what shows it, as a logarithm does.
_KEEPS = frozenset(
    "Identity Cast Reshape Flatten Squeeze Unsqueeze Transpose DepthToSpace Slice Split Concat Gather GatherElements "
    "GatherND ScatterElements ScatterND Expand Tile Pad Where Mul Div Reciprocal Sqrt Pow Log Max Min Clip TopK Resize "
    "MaxPool AveragePool GlobalMaxPool GlobalAveragePool ReduceMax ReduceMin ReduceMean ReduceSum ReduceProd".split()
)
#: Half precision has not the digits for which this is done.
_WIDE = ("float32", "float64")


def small_values_kept(graph: Graph) -> None:
    """Write out each Sigmoid that reaches an output on a way that keeps small values small."""
    found = [node for node in graph.each("Sigmoid") if _is_put_out(node, graph)]
    known = dtypes(graph) if found else {}
    for node in found:
        dtype = known.get(node.output[0], "")
        if dtype == "float32" and (log := _log_of(node, graph)) is not None:
            _write_out_log(node, log, graph)
        elif dtype in _WIDE:
            _write_out(node, graph, dtype)


def _is_put_out(node: Node, graph: Graph) -> bool:
    waiting, seen = [node], {id(node)}
    while waiting:
        one = waiting.pop()
        if not graph.output_names.isdisjoint(one.output):
            return True
        for reader in (reader for name in one.output if name for reader in graph.readers(name)):
            if reader.op_type in _KEEPS and id(reader) not in seen:
                seen.add(id(reader))
                waiting.append(reader)
    return False


def _log_of(node: Node, graph: Graph) -> Node:
    """The logarithm that alone reads a node's result, if one does."""
    reader = graph.only_reader(node.output[0])
    return reader if reader is not None and reader.op_type == "Log" else None


def _write_out_log(node: Node, log: Node, graph: Graph) -> None:
    """log(sigmoid(x)) = -softplus(-x), also where exp(-x) is beyond the largest number."""
    negated, soft = (f"{log.output[0]}.{step}" for step in ("negated", "softplus"))
    graph.put_before(log, "Neg", [node.input[0]], negated)
    graph.put_before(log, "Softplus", [negated], soft)
    graph.become(log, "Neg", [soft])
    graph.drop(node)


def _write_out(node: Node, graph: Graph, dtype: str) -> None:
    import numpy as np

    result = node.output[0]
    one = graph.hold(f"{result}.one", np.array(1, dtype), [])
    steps = [f"{result}.{step}" for step in ("negated", "exp", "sum")]
    graph.put_before(node, "Neg", [node.input[0]], steps[0])
    graph.put_before(node, "Exp", [steps[0]], steps[1])
    graph.put_before(node, "Add", [steps[1], one], steps[2])
    graph.become(node, "Reciprocal", [steps[2]])
