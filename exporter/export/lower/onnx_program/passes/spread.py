"""Factors in float64 that ONNX Runtime would round to float32.

From `ORT_ENABLE_EXTENDED` on it takes a scalar before or behind a `MatMul` into a `FusedMatMul`, whose `alpha` is
float32: of a network in float64 all is then off by 1e-8 (1.31.1). A vector of equal factors is left where it is.
"""

from __future__ import annotations

from exporter.export.lower.onnx_program.passes.graph import Graph
from exporter.export.lower.onnx_program.passes.shapes import Sizes, infer


def doubles_spread(graph: Graph) -> None:
    """Make vectors of such factors, as long as the last dim of what they multiply or divide."""
    shapes = infer(graph)
    for kind in ("Mul", "Div"):
        for node in graph.each(kind):
            inputs = [_spread(graph, name, shapes.get(node.input[1 - at], ())) for at, name in enumerate(node.input)]
            if inputs != list(node.input):
                graph.become(node, kind, inputs)


def _spread(graph: Graph, name: str, beside: Sizes) -> str:
    """The name of the vector of a constant, as long as the last of the sizes beside it; else the same name."""
    import numpy as np

    value = graph.constants.get(name)
    if value is None or value.dtype != np.float64 or value.size != 1 or _fits_float32(value.item()):
        return name
    last = beside[-1] if beside else 1
    if not isinstance(last, int) or last < 2 or value.ndim > len(beside):
        return name
    return graph.hold(f"{name}.spread.{last}", np.full([last], value.item()), [name])


def _fits_float32(value: float) -> bool:
    """Return whether float32 holds a number as it is."""
    import numpy as np

    with np.errstate(over="ignore"):
        return float(np.float32(value)) == value
