"""Weights of an ONNX file that are stored in 8 or 16 bits while their layer computes in float32.

In 8 bits a DequantizeLinear stands before the layer, which has a step for each output channel; in 16 a Cast. Engines
make float32 of the second when they load the file (measured on ONNX Runtime 1.31.1), of the first in every run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes.graph import Node, Proto, attribute, reads
from exporter.export.lower.precision.half import LARGEST, rounded_to_half
from exporter.export.lower.precision.onnx_file import hold
from exporter.export.lower.precision.rounded import StoredWeight
from exporter.export.lower.precision.search import Grade

#: The largest code: all 8 bits, since nothing is multiplied in them.
_LARGEST_CODE = 127


def store_weights(model: Proto, layers: Mapping[str, tuple[str, Grade]]) -> dict[str, StoredWeight]:
    """Store the weights of these layers, by the names of their operators and their grades; say how, by layer.

    A weight beyond fp16 stays as it is.
    """
    from onnx import TensorProto, helper
    from onnx.numpy_helper import from_array, to_array

    nodes = {node.name: node for node in model.graph.node}
    stored = {tensor.name: tensor for tensor in model.graph.initializer}
    givers: dict[str, Node] = {}
    described = {}
    for layer, (operator, grade) in layers.items():
        node = nodes[operator]
        name = node.input[1]
        value = to_array(stored[name])
        wide = f"{name}.{grade}"
        if grade is Grade.WEIGHTS_FP16:
            if float(np.abs(value).max(initial=0)) > LARGEST:
                continue
            described[layer] = StoredWeight(name, f"{name}.fp16")
            tensors = [from_array(rounded_to_half(value), f"{name}.fp16")]
            before = helper.make_node("Cast", [f"{name}.fp16"], [wide], wide, to=TensorProto.FLOAT)
        else:
            axis = output_axis(node, value.ndim)
            codes, scales = rounded(value, axis)
            described[layer] = StoredWeight(name, f"{name}.codes", f"{name}.steps", axis)
            tensors = [from_array(codes, f"{name}.codes"), from_array(scales, f"{name}.steps")]
            before = helper.make_node("DequantizeLinear", [tensor.name for tensor in tensors], [wide], wide, axis=axis)
        if wide not in givers:  # layers may share a weight
            model.graph.initializer.extend(tensors)
            givers[wide] = before
        node.input[1] = wide
    hold(model.graph, [*givers.values(), *model.graph.node])
    return described


def with_exact_weights(model: Proto, exact: Proto, operators: Collection[str]) -> None:
    """Let these layers have float32's weights again, which the quantizer has rounded for others that share them."""
    own = {node.name: node.input[1] for node in exact.graph.node if node.name in operators}
    have = {tensor.name for tensor in model.graph.initializer}
    lacking = {*own.values()} - have
    model.graph.initializer.extend(tensor for tensor in exact.graph.initializer if tensor.name in lacking)
    for node in model.graph.node:
        if node.name in own:
            node.input[1] = own[node.name]


def unround(model: Proto, operators: Collection[str]) -> Proto:
    """Let these operators take their values as they were before they were rounded for others.

    A layer between a rounded value and rounded weights is computed in 8 bits by every engine, whatever it is to be.
    """
    makers = {name: node for node in model.graph.node for name in node.output}
    for node in [node for node in model.graph.node if node.name in operators]:
        for place, name in enumerate(node.input):
            back = makers.get(name)
            there = makers.get(back.input[0]) if back is not None and back.op_type == "DequantizeLinear" else None
            if there is not None and there.op_type == "QuantizeLinear":
                node.input[place] = there.input[0]
    for kind in ("DequantizeLinear", "QuantizeLinear"):  # those that nobody reads any more
        read = {name for node in model.graph.node for name in reads(node)} | {put.name for put in model.graph.output}
        hold(model.graph, [node for node in model.graph.node if node.op_type != kind or read & {*node.output}])
    return model


def rounded(weight: Array, axis: int) -> tuple[Array, Array]:
    """Return the codes of a weight, and the step of each output channel."""
    others = tuple(place for place in range(weight.ndim) if place != axis)
    largest = np.abs(weight).max(axis=others, keepdims=True, initial=0)
    steps = np.maximum(largest / np.float32(_LARGEST_CODE), np.finfo(np.float32).tiny).astype(np.float32)
    codes = np.clip(np.rint(weight / steps), -_LARGEST_CODE, _LARGEST_CODE).astype(np.int8)
    return codes, steps.reshape(-1)


def output_axis(node: Node, rank: int) -> int:
    """Return the axis of a layer's output channels in its weight; of a transposed convolution that of a group's."""
    if node.op_type == "MatMul":
        return rank - 1
    turned = node.op_type == "Gemm" and not attribute(node, "transB", 0)
    return 1 if turned or node.op_type == "ConvTranspose" else 0
