"""A MatMul of two dimensions and the addition of a constant bias are one Gemm."""

from __future__ import annotations

from exporter.export.lower.onnx_program.passes.graph import Graph
from exporter.export.lower.onnx_program.passes.shapes import infer


def linear_joined(graph: Graph) -> None:
    """MatMul(x, weight) + bias becomes Gemm(x, weight, bias) where x has two dimensions and the bias is one row."""
    shapes = infer(graph)
    for node in graph.each("Add"):
        makers = [one for one in map(graph.maker, node.input) if one is not None]
        product = next((one for one in makers if one.op_type == "MatMul"), None)
        bias = next((name for name in node.input if name in graph.constants), None)
        if product is None or bias is None or graph.only_reader(product.output[0]) is not node:
            continue
        x, weight = product.input
        if weight not in graph.constants or len(shapes.get(x, ())) != 2 or len(shapes[weight]) != 2:
            continue
        value, columns = graph.constants[bias], shapes[weight][1]
        if value.ndim > 2 or value.shape[-1:] not in ((columns,), (1,), ()) or value.shape[:-1] not in ((), (1,)):
            continue
        graph.drop(product)
        graph.become(node, "Gemm", [x, weight, bias])
