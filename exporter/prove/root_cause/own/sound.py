"""In a child: the sound program that a file is held against, with the user's line of each of its operators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from exporter.base.readers.program import Block, Operator, read_operators
from exporter.engines.base import SourceModel
from exporter.export.lower.base import Format, Wish
from exporter.export.lower.kinds.pdmodel import plugin as pdmodel
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.export.sources.recorded import plain_name
from exporter.export.trace.blame import operator_lines
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import trace
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.root_cause.own.match import aligned
from exporter.prove.root_cause.watch import short_path

if TYPE_CHECKING:
    import paddle

_FORMATS: dict[str, Format] = {"pir": pir, "pdmodel": pdmodel}


@dataclass(frozen=True)
class Place:
    """An operator of a program that was traced: its name, the sublayer it is of, and the line that calls it."""

    name: str
    sublayer: str
    line: str


@dataclass(frozen=True)
class PlacesRequest:
    """The model's code, to be traced."""

    source: SourceModel


@dataclass(frozen=True)
class PlacesAnswer:
    """Where the operators of its program come from, in their order."""

    places: tuple[Place, ...]


@job
def find_places(request: PlacesRequest) -> PlacesAnswer:
    """Trace the model's code; return the sublayer and the line of each operator."""
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    with TemporaryDirectory(prefix="exporter-") as folder:
        return PlacesAnswer(tuple(traced_anew(request.source, "pir", Path(folder))))


def traced_anew(source: SourceModel, form: str, into: Path) -> list[Place]:
    """Write a program of the source as it is now into an empty folder; return where its operators come from.

    Raises:
        ModelError, UsageError: the layer cannot be built, traced or written so.
    """
    places = _written(source, "pir", into)
    if form != "pir":
        for path in into.iterdir():
            path.unlink()
        _written(source, form, into)  # a legacy program names no sublayers, so the places are those of PIR's
    return places


def _written(source: SourceModel, form: str, into: Path) -> list[Place]:
    plugin = _FORMATS[form]
    layer = load_layer(source.model, source.checkpoint, source.seed)
    with plugin.session(None):
        doing(f"tracing the layer anew for {form}")
        traced = trace(layer, source.inputs, source.outputs, source.fixed, source.dims)
        plugin.write(traced, None, into, Wish(inputs=source.inputs))
        return _places(read_operators(into / plugin.model), traced.layer) if form == "pir" else []


def _places(block: Block, static: paddle.nn.Layer) -> list[Place]:
    lines = operator_lines(static)
    operators = list(computed(block))
    held = {tensor.name: name for name, tensor in {**static.state_dict(), **dict(static.named_buffers())}.items()}
    paths = sublayer_paths(block, held)
    pairs = aligned([name for name, _ in lines], [operator.name for operator in operators])
    place_of = {at: first for first, at in pairs}
    return [
        Place(operator.name, paths[operator.layer.strip("/")], _short(lines[place_of[at]][1]) if at in place_of else "")
        for at, operator in enumerate(operators)
    ]


def _short(line: str) -> str:
    path, _, number = line.rpartition(":")
    return f"{short_path(Path(path))}:{number}" if path else ""


def sublayer_paths(block: Block, held: Mapping[str, str]) -> dict[str, str]:
    """Find where in the layer tree the sublayers of a program are, by the classes that it names: `Sequential/Conv2D_1`.

    `held` is the layer's own name of each parameter. A sublayer is where the parameters that its operators read have
    their place in common; one without any is called by its class, below the sublayer that holds it.
    """
    parameters = {op.results[0].id: str(op.attributes["name"]) for op in block.operators if op.name == "parameter"}
    beneath: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    classes = {operator.layer.strip("/") for operator in computed(block)}
    for operator in computed(block):
        own = operator.layer.strip("/").split("/")
        names = [held[parameters[number]] for number in operator.operands if parameters.get(number) in held]
        for name in names:
            for depth in range(1, len(own) + 1):
                beneath["/".join(own[:depth])].add(tuple(name.split(".")[:-1]))
    return {path: _path(path, beneath, classes) for path in classes}


def _path(path: str, beneath: Mapping[str, set[tuple[str, ...]]], classes: set[str]) -> str:
    if not path:
        return ""
    around, _, own = path.rpartition("/")
    if path not in beneath:
        return f"{above}.{own}" if (above := _path(around, beneath, classes)) else own
    columns = takewhile(lambda parts: len({*parts}) == 1, zip(*beneath[path], strict=False))
    common = [parts[0] for parts in columns]
    holds_more = any(other.startswith(f"{path}/") for other in classes)
    return ".".join(common[:-1] if holds_more and len(beneath[path]) == 1 else common)


def placed(places: Sequence[Place], operators: Sequence[Operator]) -> dict[int, Place]:
    """Give operators of a program, by their index, the places of those that were traced, paired in their order."""
    names = [plain_name(operator.name) for operator in operators]
    pairs = aligned([plain_name(place.name) for place in places], names)
    return {operators[at].index: places[first] for first, at in pairs}


def computed(block: Block) -> Iterator[Operator]:
    """The operators of the main block that compute something."""
    return (op for op in block.operators if op.name not in ("parameter", "data", "feed", "fetch"))
