"""One network as a spec, written in each format; a format that refuses does not stand in the way of the others."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evals.zoo.network import Network
from exporter.base.errors import ExporterError, ModelError
from exporter.export.lower.convert import Conversion, convert_all
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.spec.model import Spec

FORMATS = ("pir", "pdmodel", "onnx")

Row = dict[str, Any]


@dataclass(frozen=True)
class Wish:
    """What is made of each network, by which engines it is judged, and which formats stock Paddle writes beside it."""

    formats: tuple[str, ...] = FORMATS
    engines: tuple[str, ...] = ("jit_load", "paddle_inference", "onnxruntime")
    calibrated: bool = False
    stock: tuple[str, ...] = ("pir",)
    target: str = ""
    keep: Path | None = None
    writer: str = "program"
    opset: int | None = None


def spec_of(network: Network, wish: Wish, setting: Setting) -> Spec:
    """The spec under which a network is released; inputs without a name get that of `forward`'s parameter.

    Raises:
        ExporterError: the network cannot be built.
    """
    model = f"evals.zoo.{'calibrated' if wish.calibrated else 'models'}:{network.key}"
    names = [tensor.name for tensor in network.inputs]
    if not all(names):
        from evals.zoo.stock import parameters_of_forward  # which imports this

        names = call(
            parameters_of_forward,
            {"model": model},
            setting.limits,
            environment=SINGLE_THREAD,
            imports=PADDLE,
        )["names"]
    inputs = {
        name: {"dtype": tensor.dtype, "shape": list(tensor.shape), "values": tensor.values}
        for name, tensor in zip(names, network.inputs, strict=False)
    }
    described = {
        "name": network.key,
        "model": model,
        "weights": "factory",
        "inputs": inputs,
        "dims": {name: dict(dim) for name, dim in network.dims.items()},
        "formats": list(wish.formats),
        "engines": list(wish.engines),
        "writer": wish.writer,
        "opset": wish.opset,
        "device": "cpu",
        "targets": [f"paddle_inference>={wish.target}"] if wish.target else [],
    }
    return Spec.model_validate(described)


def source_of(spec: Spec) -> dict[str, Any]:
    """What a child needs to build the eager layer and to trace it."""
    inputs = [
        {"name": tensor.name, "dtype": tensor.dtype, "shape": list(tensor.shape)} for tensor in spec.input_specs()
    ]
    return {"model": spec.model, "checkpoint": None, "seed": spec.seed, "inputs": inputs}


def convert(spec: Spec, draft: Path, setting: Setting) -> tuple[Conversion | None, dict[str, Row]]:
    """Like `convert_all`, but each format that cannot be written gets a row that says why; None where none can."""
    rows: dict[str, Row] = {}
    made: list[Conversion] = []
    wanted = (
        [name for name in ("pir", "onnx") if name in spec.formats],
        [name for name in ("pdmodel",) if name in spec.formats],
    )
    groups = [group for group in wanted if group]
    while groups:
        group = groups.pop(0)
        try:
            made.append(convert_all(spec.model_copy(update={"formats": tuple(group)}), None, draft, setting))
        except ModelError as error:
            for name in group:
                shutil.rmtree(draft / name, ignore_errors=True)
            if len(group) == 1:
                rows[group[0]] = refusal_of(error)
            elif error.what.startswith("onnx: "):
                rows["onnx"] = refusal_of(error)
                groups.insert(0, ["pir"])
            else:
                rows["pir"] = refusal_of(error)
                groups.insert(0, ["onnx"])
    if not made:
        return None, rows
    artifacts = tuple(artifact for conversion in made for artifact in conversion.artifacts)
    return replace(made[0], artifacts=artifacts), rows


def refusal_of(error: ExporterError) -> Row:
    return {"word": "refused", "why": f"{error} ({error.hint})", "checks": 0, "matches": 0}


def result(wish: Wish, rows: Mapping[str, Row], stock: Mapping[str, Row], **more: Any) -> dict[str, Any]:
    """A network's row: by format what came of ours, and of what stock writes."""
    return {"formats": {name: rows[name] for name in wish.formats}, "stock": dict(stock), **more}
