"""The child's side of a precision: write one variant from the fp32 files, and refuse what is no gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import ModelError
from exporter.base.files import room_explains
from exporter.base.registry import Registry
from exporter.base.tensors import Array, load
from exporter.export.lower.base import Artifact, Format
from exporter.export.lower.precision.base import Order, Precision
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.spec.model import Budget, PrecisionSettings

#: A file that is no smaller than this share of fp32's holds the same numbers under another name.
SAME_SIZE = 0.9


@dataclass(frozen=True)
class LowerRequest:
    """One variant to write from the fp32 files in `source` into the empty folder `into`.

    `samples` is a file of calibration samples, `rows` says how many it holds; the rest is as in :class:`Order`.
    """

    precision: str
    format: str
    source: Path
    into: Path
    settings: PrecisionSettings
    budget: Budget
    samples: Path | None
    rows: int
    ranges: Mapping[str, tuple[float, float]]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@job(reuse="writing {format}-{precision}")
def lower(request: LowerRequest) -> Artifact:
    """Write one variant into a folder and return its artifact.

    Raises:
        ModelError: nothing in the program can be made so, or the files are no smaller than those of fp32.
    """
    with room_explains(request.into):
        return _lower(request)


def _lower(request: LowerRequest) -> Artifact:
    name, format, into, source = request.precision, request.format, request.into, request.source
    precisions: Registry[Precision] = Registry("exporter.export.lower.precision", "precision")
    formats: Registry[Format] = Registry("exporter.export.lower", "format")
    order = Order(
        format=format,
        source=source,
        model=formats[format].model,
        into=into,
        settings=request.settings,
        budget=request.budget,
        calls=_calls(request.samples) if request.samples else [],
        rows=request.rows,
        ranges=request.ranges,
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
    return Artifact(format, name, files, request.inputs, request.outputs, request.outputs, details)


def _calls(path: Path) -> list[dict[str, Array]]:
    """The inputs of each call, in order, out of a file of `<call>/<input>`."""
    found: dict[str, dict[str, Array]] = {}
    for key, value in sorted(load(path).items()):
        call, _, name = key.partition("/")
        found.setdefault(call, {})[name] = value
    return list(found.values())
