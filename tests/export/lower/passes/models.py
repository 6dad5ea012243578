"""Small ONNX models with detours, and what ONNX Runtime computes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from exporter.base.tensors import Array, TensorMap, TensorSpec
from exporter.export.lower.onnx_program.passes.encode import Beside
from exporter.export.lower.onnx_program.passes.run import canonical_model


def constant(name: str, value: Any, dtype: str = "float32") -> onnx.NodeProto:
    """A Constant node, which :func:`made` takes out of the graph."""
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, dtype), name))


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Sequence[int | str | None]],
    outputs: Sequence[str] = ("y",),
    imports: Sequence[tuple[str, int]] = (("", 17),),
) -> bytes:
    """The bytes of a model of float32 inputs; a size given as None varies."""
    described = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(list(nodes), "net", described, results)
    opsets = [helper.make_opsetid(domain, version) for domain, version in imports]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


@dataclass(frozen=True)
class Whole:
    """A file in canonical form."""

    content: bytes
    folded: Mapping[str, Sequence[str]]


def made(content: bytes, *specs: TensorSpec) -> Whole:
    """The canonical form of it, made twice: the second time it must be the same, and its own canonical form."""
    once = _made(content, specs)
    assert _made(content, specs) == once, "the same bytes give the same bytes"
    assert _made(once.content, specs).content == once.content, "nothing is left to do"
    return once


def _made(content: bytes, specs: Sequence[TensorSpec]) -> Whole:
    found = canonical_model(*_parted(content), specs, Beside("model.onnx.data"))
    return Whole(b"".join(found.files.model), found.folded)


def _parted(content: bytes) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model without its constants, and these."""
    found = onnx.load_model_from_string(content)
    nodes = [node for node in found.graph.node if node.op_type == "Constant"]
    constants = {node.output[0]: numpy_helper.to_array(node.attribute[0].t) for node in nodes}
    constants |= {one.name: numpy_helper.to_array(one) for one in found.graph.initializer}
    for node in nodes:
        found.graph.node.remove(node)
    del found.graph.initializer[:]
    return found, constants


def kinds(content: bytes) -> Counter[str]:
    """How many nodes there are of each operator."""
    return Counter(node.op_type for node in onnx.load_model_from_string(content).graph.node)


def run(content: bytes, inputs: TensorMap) -> list[Array]:
    """What ONNX Runtime computes, without optimisations of its own."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    found: list[Array] = session.run(None, dict(inputs))
    return found


def same(before: bytes, after: bytes, inputs: TensorMap, within: float = 0.0) -> None:
    """Both compute the same: to the bit, or within a share of the largest value."""
    for old, new in zip(run(before, inputs), run(after, inputs), strict=True):
        assert old.shape == new.shape and old.dtype == new.dtype and old.size
        assert np.abs(old).max() > 0, "zeros would agree with anything"
        assert np.abs(old - new).max() <= within * np.abs(old).max()
