"""Compute what depends on constants alone, where every engine gets the same bits."""

from __future__ import annotations

from typing import Any

from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes.graph import Graph, Node, attribute

_FLOAT, _DOUBLE = 1, 11
#: They move numbers, or compare them.
_MOVES = frozenset(
    "Concat ConstantOfShape Equal Expand Flatten Gather Greater Identity Less Not And Or Reshape Shape Slice Squeeze "
    "Transpose Unsqueeze Where".split()
)
#: IEEE 754 rounds these correctly, so numpy and every engine agree to the bit. Sums, powers and exponentials do not.
_ROUNDED = frozenset("Add Sub Mul Neg Sqrt".split())
#: A result may be larger than what went into it (Expand, ConstantOfShape) up to this many elements.
_GROWS_TO = 1024


def constants_folded(graph: Graph) -> None:
    """Replace nodes whose inputs are all constant by their result; in order, so that chains go at once."""
    for node in graph.each(*_MOVES, *_ROUNDED, "Cast", "Div", "Range"):
        given = {name: graph.constants.get(name) for name in node.input if name}
        known = {name: value for name, value in given.items() if value is not None}
        whole = len(known) == len(given) and bool(known)
        if not whole or len(node.output) != 1 or node.output[0] in graph.output_names or not _exact(node, known):
            continue
        value = _computed(node, known, graph.opset)
        if value.size <= max(_GROWS_TO, sum(one.size for one in known.values())):
            graph.becomes_constant(node, value)


def _exact(node: Node, given: dict[str, Array]) -> bool:
    kinds = {value.dtype.kind for value in given.values()}
    if node.op_type == "Div":  # of integers some round down and some towards zero
        return kinds == {"f"}
    if node.op_type == "Range":  # of floats some add up the steps and some multiply
        return kinds == {"i"}
    if node.op_type == "Cast":  # a float beyond the integers is cast as each engine likes
        return "f" not in kinds and attribute(node, "to") not in (10, 16, 17, 18, 19, 20)
    return True


def _computed(node: Node, given: dict[str, Array], opset: int) -> Array:
    from onnx.reference import ReferenceEvaluator

    (value,) = ReferenceEvaluator(node, opsets={"": opset}).run(None, given)
    return _array(value)


def _array(value: Any) -> Array:
    import numpy as np

    return np.asarray(value)
