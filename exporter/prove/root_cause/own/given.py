"""The child's side: compute an ONNX graph in which some of its values are given, so that no error is handed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.tensors import Array, TensorMap, load, save_scratch
from exporter.engines.base import EngineRefused, Runnable
from exporter.engines.kinds.onnxruntime import plugin as onnxruntime
from exporter.process.job import job
from exporter.process.scratch import scratch
from exporter.process.workers import doing

if TYPE_CHECKING:
    import onnx

#: What the value is called that a node computes from given ones, beside the one that is given for it.
OWN = "own:"


@dataclass(frozen=True)
class GivenRequest:
    """An ONNX file, a file of values that are given by their names, and where its outputs go.

    With `anew` the outputs are what each node computes of values that are given; else the graph's own.
    """

    model: Path
    values: Path
    into: Path
    anew: bool


@dataclass(frozen=True)
class NodeFacts:
    """The node that puts out a value: its operator, its name, the sublayer it was written for, and what it reads."""

    kind: str
    name: str
    sublayer: str
    operator: str
    reads: tuple[str, ...]


@dataclass(frozen=True)
class GivenAnswer:
    """By each given value the node that computes it, in the order of the graph; or why nothing could be computed."""

    nodes: Mapping[str, NodeFacts]
    refused: str = ""


@job
def compute_given(request: GivenRequest) -> GivenAnswer:
    """Compute the outputs of an ONNX file with some of its values given, into `into`."""
    doing("importing onnx")
    import onnx

    values = load(request.values)
    model = onnx.load_model(str(request.model))
    nodes = {name: _facts(node) for node in model.graph.node for name in node.output if name in values and node.output}
    outputs = _cut(model, values, anew=request.anew)
    inputs = tuple(value_info.name for value_info in model.graph.input)
    doing("computing with given values")
    try:
        save_scratch(request.into, _ran(model, values, inputs, outputs))
    except EngineRefused as error:
        return GivenAnswer(nodes, str(error))
    return GivenAnswer(nodes)


def _facts(node: onnx.NodeProto) -> NodeFacts:
    about = {entry.key: entry.value for entry in node.metadata_props}
    reads = tuple(name for name in node.input if name)
    return NodeFacts(node.op_type, node.name, about.get("sublayer", ""), about.get("pir_operator", ""), reads)


def _cut(model: onnx.ModelProto, values: TensorMap, *, anew: bool) -> tuple[str, ...]:
    """Make inputs of the given values; return the names of the outputs."""
    from onnx import ValueInfoProto, helper

    graph = model.graph
    before = [value_info.name for value_info in graph.output]
    cut = []
    for node in graph.node:
        for place, name in enumerate(node.output):
            if name in values:
                node.output[place] = f"{OWN}{name}"
                cut.append(name)
    known = {value_info.name for value_info in graph.input}
    stored = {value_info.name for value_info in graph.initializer}
    for name, value in values.items():
        if name not in known and name not in stored and name in cut:
            graph.input.append(
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            )
    del graph.output[:]
    names = (
        [f"{OWN}{name}" for name in cut] if anew else [f"{OWN}{name}" if name in values else name for name in before]
    )
    graph.output.extend(ValueInfoProto(name=name) for name in names)
    del graph.value_info[:]
    return tuple(names)


def _ran(
    model: onnx.ModelProto, values: TensorMap, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> dict[str, Array]:
    with scratch() as place:
        (place / "model.onnx").write_bytes(model.SerializeToString())
        with onnxruntime.open(Runnable("onnx", place, "model.onnx", inputs, outputs), "cpu") as session:
            results = session.run({name: values[name] for name in inputs if name in values})
    return {name: value for name, value in results.items() if value.dtype.kind in "biuf"}
