"""In a child: run a family's export once, to see its inputs, keep its weights and the files for its runtimes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.base import tensors
from exporter.base.tensors import TensorSpec
from exporter.export.families.capture import Saved
from exporter.export.families.factory import FAMILIES, exported, flat
from exporter.export.trace.layer import weights as weights_of
from exporter.process.job import job
from exporter.process.workers import doing

_PICTURE = {2: "height", 3: "width"}


@dataclass(frozen=True)
class LookRequest:
    """A family and its configuration; perhaps a checkout of it, and weights.

    The family writes its files below `into`. With weights, the layer's are written to the file `checkpoint`.
    """

    family: str
    config: Path
    repo: Path | None
    weights: Path | None
    into: Path
    checkpoint: Path


@dataclass(frozen=True)
class LookAnswer:
    """The inputs as the family's export has them (a word in a shape is a dim); texts of its files, by their names."""

    inputs: tuple[TensorSpec, ...]
    settings: Mapping[str, str]


@job
def look(request: LookRequest) -> LookAnswer:
    """Return the inputs of a configuration, and the text of the file for its runtimes, where the family writes one.

    Raises:
        EnvironmentLacks, UsageError: as :func:`exporter.export.families.factory.build`.
    """
    plugin = FAMILIES[request.family]
    doing(f"running the export of {request.family}")
    saved = exported(request.family, request.config, request.repo, request.weights, request.into)
    files = sorted(request.into.rglob(plugin.settings))
    texts = {plugin.settings: files[0].read_text(encoding="utf-8")} if files else {}
    if request.weights:
        tensors.save(request.checkpoint, weights_of(flat(saved, plugin)))
    return LookAnswer(tuple(_input(name, spec) for name, spec in _named(saved)), texts)


def _named(saved: Saved) -> list[tuple[str, Any]]:
    """Each input with its name: the dict's, else that of forward's parameter."""
    if isinstance(saved.specs[0], dict):
        return list(saved.specs[0].items())
    parameters = list(inspect.signature(saved.layer.forward).parameters)
    return list(zip(parameters[: len(saved.specs)], saved.specs, strict=True))


def _input(name: str, spec: Any) -> TensorSpec:
    shape: list[int | str] = []
    for axis, size in enumerate(spec.shape):
        dynamic = size is None or int(size) < 0
        shape.append(_dim(name, axis, len(spec.shape)) if dynamic else int(size))
    return TensorSpec(name, str(spec.dtype).rpartition(".")[2].lower(), tuple(shape))


def _dim(name: str, axis: int, axes: int) -> str:
    if axis == 0:
        return "batch"
    return _PICTURE[axis] if axes == 4 and axis in _PICTURE else f"{name}_{axis}"
