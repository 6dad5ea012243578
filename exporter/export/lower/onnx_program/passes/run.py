"""The passes in their order: from a model and its constants to the bytes of a file in canonical form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from exporter.base.tensors import Array, TensorSpec, digest
from exporter.export.lower.onnx_program.passes import tidy
from exporter.export.lower.onnx_program.passes.affine import affine_folded
from exporter.export.lower.onnx_program.passes.casts import casts_put_first
from exporter.export.lower.onnx_program.passes.declare import outputs_named
from exporter.export.lower.onnx_program.passes.encode import Beside, Encoded, encoded
from exporter.export.lower.onnx_program.passes.exact import constants_folded
from exporter.export.lower.onnx_program.passes.graph import Graph, refuse_invalid
from exporter.export.lower.onnx_program.passes.linear import linear_joined
from exporter.export.lower.onnx_program.passes.neutral import neutral_removed
from exporter.export.lower.onnx_program.passes.opset import put_into
from exporter.export.lower.onnx_program.passes.shapes import shapes_known, skeleton
from exporter.export.lower.onnx_program.passes.small import small_values_kept
from exporter.export.lower.onnx_program.passes.spread import doubles_spread

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass(frozen=True)
class Canonical:
    """A file in canonical form with the one beside it, its writer as the file names it, and its opset.

    `folded` has of each stored tensor that a pass computed the digests of its parts. `computed` names those of them
    that are neither a layer's own tensor in another shape, nor one with one batch norm in it, nor a sum of biases.
    """

    files: Encoded
    writer: str
    opset: int
    folded: Mapping[str, Sequence[str]]
    computed: Sequence[str]


def canonical_model(
    model: ModelProto,
    constants: Mapping[str, Array],
    inputs: Sequence[TensorSpec],
    beside: Beside,
    opset: int | None = None,
    known: Mapping[str, str] = MappingProxyType({}),
) -> Canonical:
    """Rewrite a model; `inputs` give the names of the sizes that vary. The same model gives the same bytes.

    `beside` says where large tensors go, `opset` what the file is to be in, `known` has digests of some constants.

    The model has no initializers: `constants` are what it reads.

    Raises:
        ModelError: what came of it is not valid ONNX, which is a fault of ours.
    """
    graph = Graph(model, constants)
    before = dict(constants)
    for _ in range(2):  # what the first round folds shows the second further shapes
        tidy.identities_removed(graph)
        constants_folded(graph)
        shapes_known(graph)
        neutral_removed(graph)
    linear_joined(graph)
    affine_folded(graph)
    small_values_kept(graph)
    casts_put_first(graph)
    doubles_spread(graph)
    if opset is not None:
        put_into(graph, opset)
    tidy.unread_dropped(graph)
    tidy.equal_constants_merged(graph)
    tidy.nodes_numbered(graph)
    outputs_named(graph, inputs)
    digests = cache(lambda name: known.get(name) or digest(before[name]))  # a batch norm goes into a weight and a bias
    folded = {
        name: sorted({digests(one) for one in parts if one in before})
        for name, parts in sorted(graph.origins.items())
        if parts and name in graph.constants and graph.constants[name].dtype.kind == "f"
    }
    writer = f"{model.producer_name} {model.producer_version}".strip()
    return Canonical(_encoded(graph, beside), writer, graph.opset, folded, sorted(graph.computed.intersection(folded)))


def _encoded(graph: Graph, beside: Beside) -> Encoded:
    import onnx

    used = {node.domain for node in graph.nodes} | {""}
    model = onnx.ModelProto(
        ir_version=graph.model.ir_version,
        producer_name=graph.model.producer_name,
        producer_version=graph.model.producer_version,
        opset_import=[entry for entry in graph.model.opset_import if entry.domain in used or entry.domain == "ai.onnx"],
        functions=graph.model.functions,
    )
    made = model.graph
    made.name = "main"
    made.node.extend(graph.nodes)
    made.input.extend(graph.inputs)
    made.output.extend(graph.outputs)
    _check(graph)
    return encoded(model, graph.constants, beside)


def _check(graph: Graph) -> None:
    """Check all but the numbers of the weights, which are raw bytes of the dtype and shape that is declared."""
    model = skeleton(graph)
    del model.graph.output[:]
    model.graph.output.extend(graph.outputs)
    refuse_invalid(model, "the canonical form", "onnx out of formats")
