"""In a child: write a network as `.json` and ONNX, with inputs and what eager gives on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evals.targets.networks import values_for
from exporter.process.job import job
from exporter.prove.proofs.base import source_of
from exporter.spec.model import Spec


@dataclass(frozen=True)
class WriteRequest:
    """A network, and the empty folder for its programs, inputs and outputs."""

    spec: Spec
    into: Path


@dataclass(frozen=True)
class Written:
    """Why nothing was written; empty where it was."""

    why_not: str


@job
def write(request: WriteRequest) -> Written:
    """Write a network as `.json` and ONNX, with inputs and what eager gives on them."""
    from exporter.engines.paddle import call_layer, named_arrays
    from exporter.export.lower.base import Wish
    from exporter.export.lower.kinds.onnx import plugin as onnx
    from exporter.export.lower.kinds.pir import plugin as pir
    from exporter.export.trace.layer import load_layer
    from exporter.export.trace.traced import bind_inputs, trace

    source = source_of(request.spec, None, ())
    layer = load_layer(source.model, None, source.seed)
    layer.eval()
    inputs = values_for(request.spec)
    order = tuple(bound.name for bound in bind_inputs(layer, source.inputs))
    eager = call_layer(layer, order, inputs)
    (request.into / "pir").mkdir(parents=True)
    with pir.session(None):
        traced = trace(layer, source.inputs, tuple(request.spec.outputs or ()) or None, source.fixed, source.dims)
        pir.write(traced, None, request.into / "pir", Wish())
    wish = Wish(opset=request.spec.opset, inputs=source.inputs)
    onnx.chosen(wish).write(None, request.into / "pir", request.into, wish)
    names = tuple(output.name for output in traced.outputs)
    kept: dict[str, Any] = {"inputs": inputs, "outputs": named_arrays(eager, names)}
    for name, arrays in kept.items():
        np.savez(request.into / f"{name}.npz", **arrays)
    return Written("")
