"""fp16 for ONNX: weights and arithmetic in half precision, by ONNX Runtime's converter; inputs and outputs stay fp32.

The converter moves what is beyond fp16 to its largest number, and raises what is too small to its smallest. Here each
number is rounded to the nearest, and a layer with a weight beyond stays in float32; what else stands at the limit (such
as the −1e9 of an attention mask) is counted in the manifest.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from exporter.base.bounded_json import Data
from exporter.base.errors import ModelError
from exporter.base.files import write_draft
from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes.graph import attribute, bodies, every
from exporter.export.lower.precision.base import Order
from exporter.export.lower.precision.half import LARGEST, rounded_to_half
from exporter.export.lower.precision.int8_onnx import layers_of, run
from exporter.export.lower.precision.keep import Named
from exporter.export.lower.precision.noise import likely_most, shares
from exporter.export.lower.precision.onnx_file import finished, hold, loaded, name_nodes
from exporter.export.lower.precision.search import FP16_OR_FLOAT32, Candidate, Grade, Plan, choose

#: Operators whose results leave fp16's range (11 bits, 6e-8 to 65504) with ordinary inputs, or whose sums lose it.
#: The converter's own list, of what engines have no fp16 kernels for, comes on top.
IN_FLOAT32 = ("CumSum", "Exp", "Log", "Pow", "Reciprocal", "ReduceL2", "ReduceProd", "ReduceSumSquare", "Softplus")


def halve(order: Order) -> dict[str, Data]:
    """Write `model.onnx` in fp16.

    Raises:
        UsageError: `keep` names what is not there.
        ModelError: no layer with weights is left to be made so.
    """
    import onnx

    model = loaded(order.source / order.model)
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
    name_nodes(model.graph)
    nodes = layers_of(model, every(model.graph))
    beyond = tuple(layer for layer, node in nodes.items() if _beyond(stored[node.input[1]]))
    layers = [layer for layer in nodes if layer not in beyond]
    if not layers:
        raise ModelError(
            "the program has no layer whose weights fit into fp16, so it would change nothing",
            where=order.model,
            hint="leave fp16 out",
        )

    operators = {node.name: node.op_type for node in every(model.graph)}
    keep = Named({layer: nodes[layer].name for layer in layers}, operators).resolve(order.settings.keep)

    def make(plan: Plan) -> bytes:
        kept = [layer for layer, grade in plan.items() if grade is Grade.FLOAT32]
        return _converted(model, [*(nodes[layer].name for layer in (*beyond, *kept)), *keep.operators])

    def measured(plan: Plan, calls: int | None = None) -> Candidate:
        content = make(plan)
        true, got = truth[:calls], run(content, order.calls[:calls])
        return Candidate(plan, len(content), shares(true, got), shares(true, got, likely_most))

    truth = run(model.SerializeToString(), order.calls) if order.settings.search else []
    asked = {layer: Grade.FLOAT32 if layer in keep.layers else Grade.FP16 for layer in layers}
    plan, tried = choose(order, asked, FP16_OR_FLOAT32, measured)
    write_draft(order.into / order.model, make(plan))
    moved = sum(_beyond(value) for name, value in stored.items() if name not in {nodes[one].input[1] for one in beyond})
    return {
        "writer": f"onnxruntime {version('onnxruntime')}",
        "kept": [*beyond, *(layer for layer, grade in plan.items() if grade is Grade.FLOAT32)],
        "operators_in_fp32": list(IN_FLOAT32),
        "constants_at_the_limit": moved,
        **tried.to_json(),
    }


def _hold_apart(model: Any, in_float32: Sequence[str]) -> None:
    """Put a Reshape that changes nothing between each transpose and product that ONNX Runtime fuses badly.

    It makes one node of both (`MatmulTransposeFusion`, 1.31.1), and ends while it loads the file: on CPUs where the
    transpose moves the first axis back, as behind a recurrent layer (`transBatchA` has no fp16 kernel there: SIGSEGV in
    NchwcTransformer); with CUDA where a cast stands between them, as before a product that stays in float32 (`Failed to
    find kernel for Cast(-1)`).
    """
    import numpy as np
    from onnx import helper, numpy_helper

    ranks = set[int]()
    for graph in (model.graph, *(body for node in every(model.graph) for body in bodies(node))):
        turns = {node.output[0]: attribute(node, "perm", ()) for node in graph.node if node.op_type == "Transpose"}
        nodes = dict[str, Any]()
        for node in graph.node:
            for place, name in enumerate(node.input if node.op_type == "MatMul" else ()):
                axes = turns.get(name, ())
                if axes and (node.name in in_float32 or _first_goes_back(axes)):
                    ranks.add(len(axes))
                    output = f"{name}.apart"
                    nodes[output] = helper.make_node("Reshape", [name, f"same_sizes.{len(axes)}"], [output], output)
                    node.input[place] = output
            nodes[node.name] = node
        hold(graph, list(nodes.values()))  # in order: the converter goes by it
    for rank in sorted(ranks):
        same = np.zeros(rank, np.int64)  # 0: the size that is there
        model.graph.initializer.append(numpy_helper.from_array(same, f"same_sizes.{rank}"))


def _first_goes_back(axes: Sequence[int]) -> bool:
    last = len(axes) - 1
    return last > 1 and [*axes[:-2]] == [*range(1, last)] and {*axes[-2:]} == {0, last}


def _beyond(value: Array) -> bool:
    """Return whether an array holds a finite number beyond the range of fp16."""
    import numpy as np

    return value.dtype.kind == "f" and bool((np.isfinite(value) & (np.abs(value) > LARGEST)).any())


def _converted(model: Any, kept: Sequence[str]) -> bytes:
    import warnings

    import onnx
    from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST, convert_float_to_float16

    copy = onnx.ModelProto.FromString(model.SerializeToString())
    _hold_apart(copy, kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is moved to the limit, which is counted
        half = convert_float_to_float16(
            copy,
            max_finite_val=LARGEST,
            keep_io_types=True,
            op_block_list=[*DEFAULT_OP_BLOCK_LIST, *IN_FLOAT32],
            node_block_list=list(kept),
        )
    exact = {one.name: one for one in model.graph.initializer}
    for one in half.graph.initializer:
        if one.data_type == onnx.TensorProto.FLOAT16 and one.name in exact:
            value = rounded_to_half(onnx.numpy_helper.to_array(exact[one.name]))
            one.CopyFrom(onnx.numpy_helper.from_array(value, one.name))
    del half.graph.value_info[:]  # shapes and dtypes of before, some of them wrong now; engines infer them
    return finished(half)
