"""Lengths of sequences, from the initial state of a recurrent operator to the input that ONNX has for them.

`exporter.trace.legacy.onnx.recurrent` hides them in a sum of the state, the lengths and a mark; here the sum is taken
apart. What is not taken apart puts out numbers that no comparison passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exporter.trace.legacy.onnx.recurrent import MARK

if TYPE_CHECKING:
    import onnx

_RECURRENT = ("LSTM", "GRU")
_SEQUENCE_LENS, _INITIAL_H = 4, 5


def with_lengths(model: onnx.ModelProto) -> None:
    """Put `sequence_lens` in place; a model without operators that have lengths stays as it is."""
    graph = model.graph
    made_by = {name: node for node in graph.node for name in node.output}
    at, markers = 0, []
    while at < len(graph.node):
        node = graph.node[at]
        marker = _marker(node, made_by) if node.op_type in _RECURRENT else None
        if marker is not None:
            state, spread = marker.input[0], marker.input[1]
            lengths = _lengths(spread, f"{node.output[0]}.lengths")
            node.input[_SEQUENCE_LENS], node.input[_INITIAL_H] = lengths[-1].output[0], state
            for offset, one in enumerate(lengths):
                graph.node.insert(at + offset, one)
            at += len(lengths)
            if marker not in markers:
                markers.append(marker)
        at += 1
    for marker in markers:
        graph.node.remove(marker)


def _marker(node: onnx.NodeProto, made_by: dict[str, onnx.NodeProto]) -> onnx.NodeProto | None:
    """The sum behind the initial state, if it holds the mark."""
    found = made_by.get(node.input[_INITIAL_H]) if len(node.input) > _INITIAL_H else None
    while found is not None and found.op_type in ("Identity", "Slice", "Cast"):
        found = made_by.get(found.input[0])
    if found is None or found.op_type != "Sum" or len(found.input) != 3:
        return None
    return found if _is_mark(found.input[2], made_by) else None


def _is_mark(name: str, made_by: dict[str, onnx.NodeProto]) -> bool:
    node = made_by.get(name)
    while node is not None and node.op_type != "Constant":
        value = next((one.t for one in node.attribute if one.name == "value"), None)
        if value is not None:  # ConstantOfShape
            return _all_marks(value)
        node = made_by.get(node.input[-1] if node.op_type in ("Mul", "Add") else node.input[0])
    if node is None:
        return False
    return _all_marks(node.attribute[0].t)


def _all_marks(tensor: onnx.TensorProto) -> bool:
    from onnx import numpy_helper

    values = numpy_helper.to_array(tensor)
    return bool(values.size) and bool((np.asarray(values, "float64") == MARK).all())


def _lengths(spread: str, name: str) -> list[onnx.NodeProto]:
    """Nodes that read one number a row out of [directions, batch, hidden]; the last gives int32 [batch]."""
    from onnx import TensorProto, helper, numpy_helper

    def constant(what: str, values: list[int]) -> onnx.NodeProto:
        value = numpy_helper.from_array(np.array(values, "int64"))
        return helper.make_node("Constant", [], [f"{name}.{what}"], value=value)

    numbers = [constant("begin", [0, 0]), constant("end", [1, 1]), constant("axes", [0, 2]), constant("flat", [-1])]
    return [
        *numbers,
        helper.make_node("Slice", [spread, *(one.output[0] for one in numbers[:3])], [f"{name}.column"]),
        helper.make_node("Reshape", [f"{name}.column", numbers[3].output[0]], [f"{name}.row"]),
        helper.make_node("Cast", [f"{name}.row"], [name], to=TensorProto.INT32),
    ]
