"""The interface as the spec has it: `batch` in the place of `DynamicDimension.0`."""

from __future__ import annotations

from collections.abc import Sequence

from exporter.lower.canonical.graph import Graph, Proto
from exporter.lower.canonical.shapes import infer
from exporter.tensors import TensorSpec


def inputs_named(graph: Graph, inputs: Sequence[TensorSpec]) -> None:
    """Call each open size of an input as the spec does; sizes that the converter fixed stay numbers."""
    specs = {one.name: one for one in inputs}
    for one in graph.inputs:
        dims = one.type.tensor_type.shape.dim
        named = specs[one.name].shape if one.name in specs else ()
        for dim, name in zip(dims, named, strict=False):  # ranks that differ are found by the proof of the interface
            if not dim.HasField("dim_value") and isinstance(name, str):
                dim.dim_param = name


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
