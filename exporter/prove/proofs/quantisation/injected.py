"""Where the noise of an int8 ONNX file arises: each rounding of it is put into the float32 file alone, and that is run.

A rounded value shows as noise in every layer that takes it, so the next layer's own noise blames the wrong one: where a
product of two branches does not fit into 8 bits, the convolution behind it looks bad. At the outputs each rounding
stands for itself.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exporter.base.errors import EnvironmentLacks, ModelError
from exporter.base.tensors import Array, TensorMap, recorded_inputs
from exporter.export.lower.base import Artifact
from exporter.export.lower.onnx_program.passes.graph import Node, Proto
from exporter.export.lower.precision.int8_onnx import layers_of, run
from exporter.export.lower.precision.noise import ratio_db, shares
from exporter.export.lower.precision.onnx_file import finished, name_nodes
from exporter.process.job import job
from exporter.process.workers import Setting, call, doing
from exporter.prove.harness import Bench
from exporter.prove.verdict.plan import Run

#: What the child imports.
_NEEDS = ("onnx", "onnxruntime")


@dataclass(frozen=True)
class InjectRequest:
    """The float32 file, the int8 file made of it, and the inputs of a case in a file of goldens."""

    plain: Path
    low: Path
    golden: Path
    case: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """By output, and by what is rounded, the signal-to-noise ratio in dB that this rounding alone leaves."""

    ratios: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def worst(self, output: str) -> str:
        """A sentence that names what costs an output most; empty where nothing is known."""
        ratios = self.ratios.get(output, {})
        if not ratios:
            return ""
        place = min(ratios, key=lambda name: (ratios[name], name))
        return f"most of the noise arises in {place}: this alone, rounded, leaves {ratios[place]:.1f} dB"


def sources_of_noise(bench: Bench, artifact: Artifact, setting: Setting) -> Sources:
    """Measure each rounding of a variant in the first case; nothing where it cannot be measured here."""
    plain = bench.artifacts.get(artifact.format)
    here = all(importlib.util.find_spec(name) is not None for name in _NEEDS)
    if plain is None or artifact.format != "onnx" or not bench.cases or not here:
        return Sources()
    setting.say(f"finding out where the noise of {artifact.variant} arises")
    model, low = (bench.folder / variant.main for variant in (plain, artifact))
    limits = bench.bounded(Run(artifact.format, "fp32", "onnxruntime"), setting, times=_MOST_RUNS).limits
    request = InjectRequest(model, low, bench.golden, bench.cases[0].recorded, bench.inputs)
    try:
        return call(inject, request, limits, imports=_NEEDS, on_event=setting.on_event)
    except (ModelError, EnvironmentLacks):
        return Sources()  # the noise itself is proven without it


#: How many times what a run of float32 takes the measurement may take.
_MOST_RUNS = 400


@job(reuse="each rounding of {low} alone")
def inject(request: InjectRequest) -> Sources:
    """Run the float32 file once for each rounding of the int8 file, with nothing else rounded."""
    import onnx

    plain, low = onnx.load(request.plain), onnx.load(request.low)
    name_nodes(plain.graph)
    call = recorded_inputs(request.golden, request.case, request.inputs)
    truth = run(plain.SerializeToString(), [call])
    ratios: dict[str, dict[str, float]] = {}
    for place, changed in _roundings(plain, low):
        doing(f"rounding {place} alone")
        for output, share in shares(truth, run(changed, [call])).items():
            ratios.setdefault(output, {})[place] = ratio_db(share)
    return Sources(ratios)


def _roundings(plain: Proto, low: Proto) -> Iterator[tuple[str, bytes]]:
    """For each weight and value that the int8 file rounds, its place in words, and float32's file with it rounded."""
    import onnx
    from onnx.numpy_helper import from_array, to_array

    makers = {name: node for node in low.graph.node for name in node.output}
    stored = {tensor.name: to_array(tensor) for tensor in low.graph.initializer}
    own = {node.name: node for node in plain.graph.node}
    operators = {node.name: layer for layer, node in layers_of(plain, plain.graph.node).items()}
    exact = {tensor.name for tensor in plain.graph.initializer}
    sides: dict[str, list[tuple[str, int]]] = {}  # a rounded value, and who takes it
    for node in low.graph.node:
        for at, name in enumerate(node.input if node.name in own else ()):
            back = makers.get(name)
            if back is None or back.op_type not in ("DequantizeLinear", "Cast"):
                continue
            before = own[node.name].input[at]
            if before in exact and at == 1 and back.input[0] in stored:
                copy = onnx.ModelProto.FromString(plain.SerializeToString())
                copy.graph.initializer.append(from_array(_multiplied(back, stored), f"{before}.rounded"))
                _node(copy, node.name).input[at] = f"{before}.rounded"
                layer = operators.get(node.name)
                yield f"the weights of {layer}" if layer else f"the constant of {node.name}", finished(copy)
            elif back.op_type == "DequantizeLinear" and before not in exact:
                sides.setdefault(before, []).append((node.name, at))
    for value, takers in sides.items():
        copy = onnx.ModelProto.FromString(plain.SerializeToString())
        back = makers[next(node for node in low.graph.node if node.name == takers[0][0]).input[takers[0][1]]]
        for name in back.input[1:]:
            copy.graph.initializer.append(from_array(stored[name], f"{name}.of_noise"))
        steps = [f"{name}.of_noise" for name in back.input[1:]]
        copy.graph.node.extend(
            [
                onnx.helper.make_node("QuantizeLinear", [value, *steps], [f"{value}.codes"], f"{value}.codes"),
                onnx.helper.make_node("DequantizeLinear", [f"{value}.codes", *steps], [f"{value}.rounded"]),
            ]
        )
        for name, at in takers:
            _node(copy, name).input[at] = f"{value}.rounded"
        giver = next((node.name for node in plain.graph.node if value in node.output), "")
        place = f"what {operators.get(giver, giver)} gives" if giver else f"the input {value}"
        yield place, finished(copy)


def _node(model: Proto, name: str) -> Node:
    return next(node for node in model.graph.node if node.name == name)


def _multiplied(node: Node, stored: TensorMap) -> Array:
    """The weight that stored codes stand for."""
    import numpy as np

    codes = stored[node.input[0]].astype(np.float32)
    if node.op_type == "Cast":
        return codes
    steps, axis = stored[node.input[1]], next((part.i for part in node.attribute if part.name == "axis"), 0)
    shape = [1] * codes.ndim
    if steps.size > 1:
        shape[axis] = -1
    weight: Array = codes * steps.reshape(shape)
    return weight
