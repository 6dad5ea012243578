"""In a child: run a family's export once, to see its inputs, keep its weights and the files for its runtimes."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from exporter.base import tensors
from exporter.export.families.factory import FAMILIES, exported, flat
from exporter.export.trace.layer import weights as weights_of
from exporter.process.workers import Json, doing

_PICTURE = {2: "height", 3: "width"}


def look(request: Json) -> Json:
    """The inputs of a configuration, and the text of the file for its runtimes, where the family writes one.

    With weights, the layer's are written to the file `checkpoint`.

    Raises:
        EnvironmentLacks, UsageError: as :func:`exporter.export.families.factory.build`.
    """
    family, config, into = request["family"], Path(request["config"]), Path(request["into"])
    plugin = FAMILIES[family]
    repo, weights = (Path(request[name]) if request[name] else None for name in ("repo", "weights"))
    doing(f"running the export of {family}")
    saved = exported(family, config, repo, weights, into)
    found = sorted(into.rglob(plugin.settings))
    texts = {plugin.settings: found[0].read_text(encoding="utf-8")} if found else {}
    if weights:
        tensors.save(Path(request["checkpoint"]), weights_of(flat(saved, plugin)))
    return {"inputs": [*map(_input, _named(saved))], "settings": texts}


def _named(saved: Any) -> list[tuple[str, Any]]:
    """Each input with its name: the dict's, else that of forward's parameter."""
    if isinstance(saved.specs[0], dict):
        return list(saved.specs[0].items())
    parameters = list(inspect.signature(saved.layer.forward).parameters)
    return list(zip(parameters[: len(saved.specs)], saved.specs, strict=True))


def _input(named: tuple[str, Any]) -> Json:
    name, spec = named
    shape: list[int | str] = []
    for axis, size in enumerate(spec.shape):
        dynamic = size is None or int(size) < 0
        shape.append(_dim(name, axis, len(spec.shape)) if dynamic else int(size))
    return {"name": name, "dtype": str(spec.dtype).rpartition(".")[2].lower(), "shape": shape}


def _dim(name: str, axis: int, axes: int) -> str:
    if axis == 0:
        return "batch"
    return _PICTURE[axis] if axes == 4 and axis in _PICTURE else f"{name}_{axis}"
