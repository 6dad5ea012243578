"""The sizes of the outputs, as the spec calls them."""

from __future__ import annotations

from collections.abc import Sequence

from exporter.base.tensors import TensorSpec
from exporter.export.lower.onnx_program.passes.graph import Graph, Proto
from exporter.export.lower.onnx_program.passes.shapes import infer


def outputs_named(graph: Graph, inputs: Sequence[TensorSpec]) -> None:
    """Give each open size of an output the name of the input's size that it always equals, else none."""
    names = {name for one in inputs for name in one.shape if isinstance(name, str)}
    shapes = infer(graph)
    for one in graph.outputs:
        found, declared = shapes.get(one.name, ()), one.type.tensor_type
        if not declared.HasField("shape"):
            for _ in found:
                declared.shape.dim.add()
        for at, dim in enumerate(declared.shape.dim):
            if not dim.HasField("dim_value"):
                _name(dim, found[at] if at < len(found) else "", names)


def _name(dim: Proto, size: int | str, names: set[str]) -> None:
    dim.Clear()
    if isinstance(size, int):
        dim.dim_value = size
    elif size in names:
        dim.dim_param = size
