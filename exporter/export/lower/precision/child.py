"""The child's side of a precision: write one variant from the fp32 files, and refuse what is no gain."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from exporter.base.errors import ModelError
from exporter.base.files import room_explains
from exporter.base.registry import Registry
from exporter.base.tensors import Array, load
from exporter.export.lower.base import Artifact, Format
from exporter.export.lower.precision.base import Order, Precision
from exporter.process.workers import doing
from exporter.spec.model import Budget, PrecisionSettings

#: A file that is no smaller than this share of fp32's holds the same numbers under another name.
SAME_SIZE = 0.9


def lower(request: dict[str, Any]) -> dict[str, Any]:
    """Write one variant into a folder; answer with its artifact."""
    into = Path(request["into"])
    with room_explains(into):
        return _lower(request, into)


def _lower(request: dict[str, Any], into: Path) -> dict[str, Any]:
    name, format = request["precision"], request["format"]
    precisions: Registry[Precision] = Registry("exporter.export.lower.precision", "precision")
    formats: Registry[Format] = Registry("exporter.export.lower", "format")
    source = Path(request["source"])
    calls = _calls(Path(request["samples"])) if request["samples"] else []
    order = Order(
        format=format,
        source=source,
        model=formats[format].model,
        into=into,
        settings=PrecisionSettings.model_validate(request["settings"]),
        budget=Budget.model_validate(request["budget"]),
        calls=calls,
        rows=request["rows"],
        ranges={weight: (float(low), float(high)) for weight, (low, high) in request["ranges"].items()},
    )
    doing(f"writing {format}-{name}")
    details = dict(precisions[name].write(order))
    sizes = [sum(path.stat().st_size for path in folder.iterdir()) for folder in (into, source)]
    if not sizes[0] <= SAME_SIZE * sizes[1]:
        raise ModelError(
            f"what was written as {name} has {sizes[0]} bytes, and fp32 has {sizes[1]}: little or nothing was made so",
            where=f"{format}-{name}",
            hint="leave this variant out, or keep fewer layers in float32",
        )
    files = tuple(sorted(f"{into.name}/{path.name}" for path in into.iterdir()))
    names, outputs = tuple(item["name"] for item in request["inputs"]), tuple(request["outputs"])
    return {"artifact": asdict(Artifact(format, name, files, names, outputs, outputs, details))}


def _calls(path: Path) -> list[dict[str, Array]]:
    """The inputs of each call, in order, out of a file of `<call>/<input>`."""
    found: dict[str, dict[str, Array]] = {}
    for key, value in sorted(load(path).items()):
        call, _, name = key.partition("/")
        found.setdefault(call, {})[name] = value
    return list(found.values())
