"""From a PIR program to an ONNX model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter import __version__
from exporter.base.errors import ModelError
from exporter.base.readers.base import Weight, map_file
from exporter.base.readers.kinds import pdiparams
from exporter.base.readers.kinds.pir import facts_of, parsed
from exporter.base.readers.program import Block, operators_of
from exporter.base.tensors import Array, TensorSpec
from exporter.export.lower.onnx_program.constants import Constants
from exporter.export.lower.onnx_program.graph import Builder, Graph, Node, Tensor, onnx_dtype
from exporter.export.lower.onnx_program.passes.opset import IR_VERSIONS
from exporter.export.lower.onnx_program.walk import Walk

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

WRITER = "exporter"
#: Constants with more elements are weights to the inference of types, which need not be read.
_SMALL = 128


@dataclass(frozen=True)
class Program:
    """A PIR program: its JSON, its main block, and what it stores, by its names; `traced`: by us, from a layer."""

    told: Any
    block: Block
    weights: Mapping[str, Array]
    traced: bool = True


def program_in(source: Path) -> Program:
    """Read `model.json` and `model.pdiparams` of the folder `source`."""
    file = source / "model.json"
    content = map_file(file)
    told = parsed(content, str(file))
    declared = facts_of(told, len(content), str(file)).weights
    return Program(told, operators_of(told, str(file)), _weights(source / "model.pdiparams", declared))


def from_program(
    program: Program, opset: int, inputs: Sequence[TensorSpec] = ()
) -> tuple[ModelProto, dict[str, Array]]:
    """The model of a program in an opset that the writer speaks; `inputs` name the sizes that vary.

    Its constants come beside it: as initializers they would be copied, and weights are large.

    Raises:
        ModelError: the program has an operator that ONNX, or this writer, cannot say.
    """
    walk = Walk(Builder(opset), program.weights, Constants(program.told, program.block), program.traced)
    walk.block(program.block)
    return _model(walk, inputs), walk.b.constants


def _weights(path: Path, declared: Sequence[Weight]) -> dict[str, Array]:
    """What the program stores, by its names; a program without parameters has no file of them."""
    if not path.exists():
        return {}
    content = map_file(path)
    stored = pdiparams.named(content, str(path), declared)
    return {name: weight.array(content, copy=False) for name, weight in stored.items()}


def _model(walk: Walk, inputs: Sequence[TensorSpec]) -> ModelProto:
    from onnx import helper

    b = walk.b
    fetched = [walk.outputs[at] for at in sorted(walk.outputs)]
    b.graph.nodes += [Node("Identity", (name,), (named.name,), {}, {}) for name, named in fetched]
    nodes = [_node(node) for node in b.graph.nodes]
    _refuse_other_types(nodes, walk)
    graph = helper.make_graph(
        nodes,
        "main",
        [_declared(one, inputs) for one in walk.inputs],
        [_declared(named, ()) for _, named in fetched],
    )
    return _whole(graph, b.opset)


def _whole(graph: GraphProto, opset: int) -> ModelProto:
    from onnx import helper

    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=IR_VERSIONS[opset],
        producer_name=WRITER,
        producer_version=__version__,
    )


def _refuse_other_types(nodes: Sequence[NodeProto], walk: Walk) -> None:
    """Let ONNX's own inference work out dtype and sizes of each result, and refuse the file where PIR says otherwise.

    Of large weights it sees the shapes alone.
    """
    import onnx
    from onnx import helper, numpy_helper

    b = walk.b
    small = {name: array for name, array in b.constants.items() if array.size <= _SMALL}
    large = [Tensor(name, array.dtype.name, array.shape) for name, array in b.constants.items() if name not in small]
    graph = helper.make_graph(
        nodes,
        "types",
        [_declared(one, ()) for one in (*walk.inputs, *large)],
        [helper.make_empty_tensor_value_info(named.name) for _, named in walk.outputs.values()],
        [numpy_helper.from_array(array, name) for name, array in small.items()],
    )
    try:
        inferred = onnx.shape_inference.infer_shapes(_whole(graph, b.opset), data_prop=True).graph
    except onnx.shape_inference.InferenceError as error:
        raise _fault(str(error).strip().splitlines()[-1][:300]) from error
    for one in (*inferred.value_info, *inferred.output):
        declared, kind = walk.results.get(one.name), one.type.tensor_type
        if declared is None or not kind.elem_type:
            continue
        sizes = [dim.dim_value if dim.HasField("dim_value") else -1 for dim in kind.shape.dim]
        known = len(sizes) == declared.rank and all(
            -1 in pair or pair[0] == pair[1] for pair in zip(sizes, declared.shape, strict=True)
        )
        if kind.elem_type != onnx_dtype(declared.dtype) or (kind.HasField("shape") and not known):
            raise _fault(f"{one.name} is not {declared.dtype}{list(declared.shape)}")


def _fault(what: str) -> ModelError:
    return ModelError(
        f"what was written contradicts the program: {what}",
        where="onnx",
        hint="report it with the model; until then leave onnx out of formats",
    )


def _declared(one: Tensor, inputs: Sequence[TensorSpec]) -> ValueInfoProto:
    from onnx import helper

    named = next((spec.shape for spec in inputs if spec.name == one.name), ())
    dims: list[Any] = [size if size >= 0 else None for size in one.shape]
    for at, name in enumerate(named):
        if at < len(dims) and dims[at] is None and isinstance(name, str):
            dims[at] = name
    return helper.make_tensor_value_info(one.name, onnx_dtype(one.dtype), dims)


def _node(node: Node) -> NodeProto:
    from onnx import helper

    attributes = {
        name: _graph(value, f"{node.outputs[0]}.{name}") if isinstance(value, Graph) else value
        for name, value in node.attributes.items()
    }
    made = helper.make_node(node.kind, node.inputs, node.outputs, **attributes)
    for key, text in node.about.items():
        made.metadata_props.add(key=key, value=text)
    return made


def _graph(graph: Graph, name: str) -> GraphProto:
    from onnx import helper

    return helper.make_graph(
        [_node(node) for node in graph.nodes],
        name,
        [_declared(one, ()) for one in graph.inputs],
        [_declared(one, ()) for one in graph.outputs],
    )
