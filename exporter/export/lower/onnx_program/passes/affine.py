"""What follows a convolution and is a factor and a summand a channel goes into its weights and its bias.

Batch norm in inference is `y = factor * x + summand`, where `factor = scale / sqrt(variance + epsilon)`. Both are
computed in float64, and each weight is rounded once. A bias that Paddle adds behind a convolution is the case of
factor 1, which leaves every weight as it is, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes.graph import Graph, Node, attribute

#: The default of BatchNormalization's attribute (opset 1 to 15).
_EPSILON = 1e-5


@dataclass(frozen=True)
class _Affine:
    """In float64, one number a channel; `made_of` names the constants it comes from. No factor: it is 1."""

    factor: Array | None
    summand: Array
    made_of: tuple[str, ...]


def affine_folded(graph: Graph) -> None:
    """Fold BatchNormalization and the addition of a constant into the Conv, ConvTranspose or Gemm before them.

    Only where nothing else reads that node's output. Two that follow each other go one after the other.
    """
    for node in graph.each("BatchNormalization", "Add"):
        bases = [one for one in map(graph.maker, node.input) if _is_base(one, graph)]
        if not bases or graph.only_reader(bases[0].output[0]) is not node:
            continue
        base, norm = bases[0], node.op_type == "BatchNormalization"
        found = _batch_norm(node, base, graph) if norm else _sum(node, base, graph)
        if found is not None and found.summand.size == _channels(base, graph):
            _fold(graph, base, node, found)


def _is_base(node: Node, graph: Graph) -> bool:
    if node is None:
        return False
    if node.op_type == "Gemm":
        plain = attribute(node, "alpha", 1.0) == 1.0 and attribute(node, "beta", 1.0) == 1.0
    else:
        plain = node.op_type in ("Conv", "ConvTranspose")
    constant = all(name in graph.constants for name in node.input[1:] if name)
    return plain and constant and graph.constants[node.input[1]].dtype.kind == "f"


def _channels(base: Node, graph: Graph) -> int:
    weight = graph.constants[base.input[1]]
    if base.op_type == "ConvTranspose":
        return int(weight.shape[1]) * int(attribute(base, "group", 1))
    return int(weight.shape[1 if base.op_type == "Gemm" and not attribute(base, "transB", 0) else 0])


def _batch_norm(node: Node, base: Node, graph: Graph) -> _Affine | None:
    import numpy as np

    one_result = not [name for name in node.output[1:] if name]
    trains = attribute(node, "training_mode", 0) or not one_result
    if trains or node.input[0] != base.output[0] or not all(name in graph.constants for name in node.input[1:]):
        return None
    scale, shift, mean, variance = (graph.constants[name].astype(np.float64) for name in node.input[1:5])
    with np.errstate(all="ignore"):  # what is not finite in the end is not folded
        factor = scale / np.sqrt(variance + attribute(node, "epsilon", _EPSILON))
        return _Affine(factor, shift - mean * factor, tuple(node.input[1:5]))


def _sum(node: Node, base: Node, graph: Graph) -> _Affine | None:
    """A constant with one number a channel, that does not make the result larger than it is."""
    import numpy as np

    name = next((one for one in node.input if one in graph.constants), "")
    if not name:
        return None
    value = graph.constants[name]
    rank = 2 if base.op_type == "Gemm" else graph.constants[base.input[1]].ndim
    shape = (1,) * (rank - value.ndim) + value.shape
    only_channels = len(shape) == rank and all(size == 1 for at, size in enumerate(shape) if at != 1)
    if not only_channels:
        return None
    return _Affine(None, np.broadcast_to(value.ravel(), _channels(base, graph)).astype(np.float64), (name,))


def _fold(graph: Graph, base: Node, node: Node, found: _Affine) -> None:
    import numpy as np

    weight_name, bias_name = base.input[1], base.input[2] if len(base.input) > 2 else ""
    stem, weight = weight_name, graph.constants[weight_name]
    summand, made_of = found.summand, found.made_of
    if bias_name:
        bias = np.broadcast_to(graph.constants[bias_name].ravel(), summand.shape).astype(np.float64)
        summand, made_of = summand + (bias if found.factor is None else bias * found.factor), (*made_of, bias_name)
    with np.errstate(all="ignore"):
        new_bias = summand.astype(weight.dtype)
        new_weight = weight if found.factor is None else _scaled(base, weight, found.factor)
    if not (np.isfinite(new_bias).all() and np.isfinite(new_weight).all()):
        return
    if found.factor is not None:
        read = (weight_name, *found.made_of)
        further = not graph.computed.isdisjoint(read) or len(graph.origin(weight_name)) > 1  # a second norm
        weight_name = graph.hold(f"{weight_name}.folded", new_weight, read)
        graph.computed |= {weight_name} if further else set()
    parts = sorted(graph.origin(*made_of))
    bias_name = graph.hold(parts[0] if len(parts) == 1 else f"{stem}.bias", new_bias, made_of)
    result = node.output[0]
    graph.drop(node)
    graph.rewire(base, [base.input[0], weight_name, bias_name])
    graph.puts_out_instead(base, base.output[0], result)


def _scaled(base: Node, weight: Array, factor: Array) -> Array:
    """Each output channel's weights times its factor, rounded once."""
    import numpy as np

    split = weight
    if base.op_type == "Gemm":
        factor = factor[:, None] if attribute(base, "transB", 0) else factor
    elif base.op_type == "Conv":
        factor = factor.reshape(-1, *(1,) * (weight.ndim - 1))
    else:  # ConvTranspose: [inputs, outputs / groups, …], and the groups split the inputs
        groups = int(attribute(base, "group", 1))
        split = weight.reshape(groups, -1, *weight.shape[1:])
        factor = factor.reshape(groups, 1, -1, *(1,) * (weight.ndim - 2))
    scaled = np.empty_like(split, order="C")
    # In float64, piece by piece: a wide copy of the weights would be written and read again.
    np.multiply(split, factor, out=scaled, dtype=np.float64, casting="unsafe")
    return scaled.reshape(weight.shape)
