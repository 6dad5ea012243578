"""A Cast between a Transpose and the product that reads it goes before the Transpose.

ONNX Runtime joins Transpose and MatMul, and a Cast between them it makes anew before both. CUDA has no kernel for the
one that it makes, so that the file does not load there (1.31.1: `Failed to find kernel for Cast(-1)`); one that stands
there already it leaves alone. Each value is cast by itself, so the order changes nothing.
"""

from __future__ import annotations

from exporter.export.lower.onnx_program.passes.graph import Graph, attribute


def casts_put_first(graph: Graph) -> None:
    """Transpose, Cast, MatMul becomes Cast, Transpose, MatMul."""
    for product in graph.each("MatMul"):
        for name in product.input:
            cast = graph.maker(name)
            turn = graph.maker(cast.input[0]) if cast is not None and cast.op_type == "Cast" else None
            if turn is None or turn.op_type != "Transpose":
                continue
            early = f"{name}.early"
            graph.put_before(cast, "Cast", turn.input, early, to=attribute(cast, "to"))
            graph.become(cast, "Transpose", [early])
            cast.attribute.extend(turn.attribute)
