"""Sizes that are computed while the model runs, and that are known beforehand.

A flatten is written as Shape, Slice, Concat and Reshape. Here each of those small vectors is followed with
sizes that are numbers or names: what turns out to be all numbers becomes a constant, and a Reshape that takes over
sizes of its input and asks for at most one new one says so in a constant (`0` copies a size, `-1` is what is left).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes.graph import Graph, Node, Proto, attribute
from exporter.export.lower.onnx_program.passes.tidy import bypass

#: A size: a number, or the name of one that varies. Equal names mean equal sizes.
Size: TypeAlias = int | str
Sizes: TypeAlias = tuple[Size, ...]
#: What dtypes sizes have, by ONNX's number: `Shape` gives int64, and the `shape` of a `.pdmodel` int32.
_WHOLE = {6: "int32", 7: "int64"}
#: Constants beyond this many elements are weights: inference needs their shapes only.
_SMALL = 64


def infer(graph: Graph) -> Mapping[str, Sizes]:
    """The sizes of every value whose rank is known; those that are not known get a name of their own."""
    shapes = {name: tuple(map(int, value.shape)) for name, value in graph.constants.items()}
    return shapes | {
        one.name: tuple(_size(dim, f"{one.name}:{at}") for at, dim in enumerate(one.type.tensor_type.shape.dim))
        for one in _declared(graph)
        if one.type.tensor_type.HasField("shape")
    }


def dtypes(graph: Graph) -> Mapping[str, str]:
    """The dtype, as numpy calls it, of every computed value that numpy has one for."""
    from onnx import helper

    known = helper.get_all_tensor_dtypes()
    types = {one.name: one.type.tensor_type.elem_type for one in _declared(graph)}
    return {name: helper.tensor_dtype_to_np_dtype(kind).name for name, kind in types.items() if kind in known}


def _declared(graph: Graph) -> list[Proto]:
    """Return what ONNX's shape inference says of each value, computed once for the current graph."""
    import onnx

    if graph.inferred is None:
        found = onnx.shape_inference.infer_shapes(skeleton(graph), data_prop=True).graph
        graph.inferred = [*found.value_info, *found.output, *graph.inputs]
    declared: list[Proto] = graph.inferred
    return declared


def shapes_known(graph: Graph) -> None:
    """Put constants in the place of sizes that are known, and of the targets of reshapes that can be told."""
    shapes = infer(graph)
    vectors = _Vectors(graph, shapes)
    for node in list(graph.nodes):
        name = node.output[0] if node.output else ""
        sizes = vectors.of(name)
        if sizes is not None and all(isinstance(one, int) for one in sizes) and name not in graph.output_names:
            graph.becomes_constant(node, vectors.array(name))
    for node in graph.each("Reshape"):
        _reshape(graph, node, shapes, vectors)


def _reshape(graph: Graph, node: Node, shapes: Mapping[str, Sizes], vectors: _Vectors) -> None:
    before, asked = shapes.get(node.input[0]), vectors.of(node.input[1])
    if before is None or asked is None or (attribute(node, "allowzero", 0) and 0 in asked):
        return
    target = [_target(size, before[at] if at < len(before) else None) for at, size in enumerate(asked)]
    if target.count(-1) > 1:
        return
    if tuple(_meant(target, before)) == before and bypass(graph, node):
        return
    if target == [0, -1] and len(before) >= 2:
        graph.become(node, "Flatten", node.input[:1], axis=1)
        return
    if node.input[1] not in graph.constants:
        import numpy as np

        name = graph.hold(f"{node.output[0]}.shape", np.array(target, np.int64), [])
        graph.become(node, "Reshape", [node.input[0], name])


def _target(asked: Size, before: Size | None) -> int:
    """What a constant target says for one size."""
    if isinstance(asked, int):
        return asked
    return 0 if asked == before else -1


def _meant(target: list[int], before: Sizes) -> list[Size]:
    """The sizes after a reshape to `target`; -1 where that is not plain to see."""
    return [before[at] if one == 0 and at < len(before) else one for at, one in enumerate(target)]


class _Vectors:
    """Integer vectors and scalars by the name of the value, as far as they can be told."""

    def __init__(self, graph: Graph, shapes: Mapping[str, Sizes]) -> None:
        self._known: dict[str, tuple[int, Sizes]] = {}  # rank, 0 or 1, and the sizes
        self._dtypes: dict[str, str] = {}
        self._constants = graph.constants
        self._shapes = shapes
        for node in graph.nodes:
            if len(node.output) == 1 and node.domain in ("", "ai.onnx"):
                found = self._follow(node)
                if found is not None:
                    self._known[node.output[0]] = found
                    self._dtypes[node.output[0]] = self._dtype(node)

    def of(self, name: str) -> Sizes | None:
        """The vector's elements; None where it is none, or not to be told."""
        found = self._get(name)
        return None if found is None else found[1]

    def array(self, name: str) -> Array:
        """A vector or scalar whose elements are all numbers."""
        import numpy as np

        rank, sizes = self._known[name]
        return np.array(sizes if rank else sizes[0], self._dtypes[name])

    def _dtype(self, node: Node) -> str:
        """Return the dtype of a vector that is followed: a cast's own, else that of the vector it is taken from."""
        if node.op_type in ("Cast", "Shape"):
            return _WHOLE[attribute(node, "to", 7)]
        source = node.input[0]
        return self._constants[source].dtype.name if source in self._constants else self._dtypes[source]

    def _get(self, name: str) -> tuple[int, Sizes] | None:
        value = self._constants.get(name)
        if value is None:
            return self._known.get(name)
        small = value.dtype.name in _WHOLE.values() and value.ndim <= 1 and value.size <= _SMALL
        return (value.ndim, tuple(map(int, value.ravel()))) if small else None

    def _follow(self, node: Node) -> tuple[int, Sizes] | None:
        if node.op_type == "Shape":
            shape = self._shapes.get(node.input[0])
            begin, end = attribute(node, "start", 0), attribute(node, "end")
            return None if shape is None else (1, shape[begin:end])
        given = [self._get(name) for name in node.input]
        known = [one for one in given if one is not None]
        if len(known) != len(given) or not known:
            return None
        follow = {"Concat": _concat, "Slice": _slice, "Gather": _gather, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze}
        if node.op_type == "Cast" and attribute(node, "to") in _WHOLE:
            return known[0]
        return follow[node.op_type](node, known) if node.op_type in follow else None


_Known: TypeAlias = list[tuple[int, Sizes]]


def _concat(node: Node, given: _Known) -> tuple[int, Sizes]:
    del node
    return 1, tuple(one for _, sizes in given for one in sizes)


def _slice(node: Node, given: _Known) -> tuple[int, Sizes] | None:
    del node
    (_, sizes), *bounds = given
    plain = [one[0] for _, one in bounds if len(one) == 1 and isinstance(one[0], int)]
    if len(plain) != len(bounds) or len(plain) < 2 or (len(plain) > 3 and plain[3] != 1):
        return None
    begin, end = plain[:2]
    return 1, sizes[begin:end]


def _gather(node: Node, given: _Known) -> tuple[int, Sizes] | None:
    (_, sizes), (rank, places) = given
    if not all(isinstance(one, int) and -len(sizes) <= one < len(sizes) for one in places):
        return None
    return rank, tuple(sizes[int(one)] for one in places)


def _squeeze(node: Node, given: _Known) -> tuple[int, Sizes] | None:
    return (0, given[0][1]) if given[0][0] == 1 and len(given[0][1]) == 1 else None


def _unsqueeze(node: Node, given: _Known) -> tuple[int, Sizes] | None:
    return (1, given[0][1]) if given[0][0] == 0 else None


def skeleton(graph: Graph) -> Proto:
    """The model with its weights as inputs, which have a shape and no numbers."""
    import onnx
    from onnx import helper, numpy_helper

    inputs, held = list(graph.inputs), []
    for name, value in graph.constants.items():
        if value.size <= _SMALL and value.dtype.kind in "iub":
            held.append(numpy_helper.from_array(value, name))
        else:
            inputs.append(
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            )
    outputs = [onnx.ValueInfoProto.FromString(one.SerializeToString()) for one in graph.outputs]
    for one in outputs:
        one.type.tensor_type.ClearField("shape")  # what the graph computes counts, not what was declared
    made = helper.make_graph(graph.nodes, "skeleton", inputs, outputs, held)
    return helper.make_model(made, opset_imports=graph.model.opset_import, ir_version=graph.model.ir_version)


def _size(dim: Proto, otherwise: str) -> Size:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    return dim.dim_param or otherwise
