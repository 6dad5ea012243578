"""The child's side of lowering: build the layer once, then trace it and write it for each format."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from exporter.base.errors import ModelError
from exporter.base.files import room_explains
from exporter.base.readers import read
from exporter.base.readers.program import Operator, read_operators
from exporter.base.references import loaded_modules
from exporter.base.registry import Registry
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import TRACING, Artifact, Details, Format, Wish
from exporter.export.lower.onnx_program.call import OperatorRefused
from exporter.export.lower.onnx_program.effects import flat
from exporter.export.lower.pdmodel.files import PLACEHOLDER
from exporter.export.trace.blame import operator_line, placed_at_forward
from exporter.export.trace.layer import load_layer
from exporter.export.trace.outputs import NOT_RUN, Seen
from exporter.export.trace.traced import Traced, trace
from exporter.process.child import forkable, run_in_fork
from exporter.process.job import job, job_at
from exporter.process.workers import doing
from exporter.spec.inputs import Dim
from exporter.spec.model import Spec

_FORMATS: Registry[Format] = Registry("exporter.export.lower", "format")


@dataclass(frozen=True)
class LayerSource:
    """How a layer is built and traced: `fixed` are the sizes of named dims that never vary.

    `dims` are the sizes that the spec declares, `outputs` the names that it gives, or None. The inputs stand in the
    :class:`Wish`.
    """

    model: str
    checkpoint: Path | None
    seed: int
    outputs: tuple[str, ...] | None
    fixed: Mapping[str, int]
    dims: Mapping[str, Dim] = field(default_factory=dict)


@dataclass(frozen=True)
class Destination:
    """A format, and the empty folder that it is written into."""

    format: str
    into: Path


@dataclass(frozen=True)
class BuiltLayer:
    """What the job of a :class:`Trial` takes: the layer, and the spec whose inputs it is run on."""

    layer: Any
    spec: Spec


@dataclass(frozen=True)
class Trial:
    """A job that runs a layer once it is built and before it is traced: its address, and what it goes by.

    It takes a :class:`BuiltLayer` and answers with what the layer gave (:class:`~exporter.export.trace.outputs.Seen`).
    `of_file` is the job that does so with a model that is a file, where that runs without a layer.
    """

    job: str
    spec: Spec
    of_file: str = ""


@dataclass(frozen=True)
class ExportRequest:
    """What to write from the files of another format, which lie in `source`; its outputs have the names `outputs`.

    The layer is built and traced again where the writer refuses an operator, to find the line that calls it.
    """

    format: str
    into: Path
    source: Path
    outputs: tuple[str, ...]
    layer: LayerSource
    wish: Wish


@dataclass(frozen=True)
class ExportAnswer:
    """The artifact, and the file of every module that the child had loaded in the end."""

    artifact: Artifact
    modules: Mapping[str, str]


@dataclass(frozen=True)
class ExportTracedRequest:
    """What to trace and write, from one layer; `format` names the formats of all destinations.

    `seen` is what eager gave, where it is known and no trial is asked for.
    """

    format: str
    destinations: tuple[Destination, ...]
    layer: LayerSource
    wish: Wish
    trial: Trial | None = None
    seen: Seen = NOT_RUN


@dataclass(frozen=True)
class TracedFormat:
    """One format that was traced and written.

    `outputs` are those of the trace (-1 where a size varies), `parameters` the digests of the layer's tensors, `names`
    what the program calls each of them, `modules` as in :class:`ExportAnswer`. `stateless` is a program that reads none
    of the layer's tensors.
    """

    artifact: Artifact
    outputs: tuple[TensorSpec, ...]
    parameters: Mapping[str, str]
    names: Mapping[str, str]
    modules: Mapping[str, str]
    stateless: bool = False


@dataclass(frozen=True)
class ExportTracedAnswer:
    """What was written, by format, and what eager gave in the trial."""

    written: Mapping[str, TracedFormat]
    seen: Seen = NOT_RUN


@job(reuse="writing {format}")
def export(request: ExportRequest) -> ExportAnswer:
    """Write a format from the files of another into a folder, and return the artifact.

    The parent reads the files and compares (:func:`exporter.export.lower.convert.convert_all`).

    Raises:
        ModelError: the format cannot hold the program; names the line of the user's where it is known.
    """
    destination, wish = Destination(request.format, request.into), request.wish
    plugin = _FORMATS[request.format].chosen(wish)
    with room_explains(request.into):
        try:
            details = _write(plugin, destination, None, request.source, wish)
        except OperatorRefused as error:
            raise _refusal(error, request.source, _traced_again(plugin, request)) from error
    return ExportAnswer(_artifact(destination, wish, request.outputs, request.outputs, details), loaded_modules())


@job(reuse="writing {format}")
def export_traced(request: ExportTracedRequest) -> ExportTracedAnswer:
    """Trace one layer for each destination and write it there; return what was written, by format.

    Tracing marks the layer and patches Paddle, so each but the last is written in a fork. A process with threads cannot
    be forked: it writes only the first, and the caller asks again for the others.

    Raises:
        UsageError: the factory, the checkpoint or the inputs are wrong.
        ModelError: the trial failed, or a format cannot hold the program.
    """
    layer = _built(request.layer)
    seen = _try(layer, request.trial) if request.trial else request.seen
    wanted = request.destinations if forkable() else request.destinations[:1]
    written: dict[str, TracedFormat] = {}
    for destination in wanted:
        doing(f"tracing for {destination.format}", format=destination.format)
        with room_explains(destination.into):
            write = partial(_traced_and_written, layer, destination, request, seen)
            last = destination is wanted[-1]
            written[destination.format] = write() if last else run_in_fork(write, TracedFormat)
    return ExportTracedAnswer(written, seen)


def _traced_and_written(layer: Any, destination: Destination, request: ExportTracedRequest, seen: Seen) -> TracedFormat:
    name, wish = destination.format, request.wish
    plugin = _FORMATS[name].chosen(wish)
    with plugin.session(wish.target), tempfile.TemporaryDirectory() as folder:
        traced = _trace(layer, request.layer, wish)
        with placed_at_forward(layer):
            traced = replace(traced, outputs=seen.promised(traced.outputs))
        source = None
        if plugin.after is not None:
            source = Path(folder)
            doing(f"writing {plugin.after} for {name}")
            _FORMATS[plugin.after].write(traced, None, source, Wish())
        try:
            details = _write(plugin, destination, traced, source, wish)
        except OperatorRefused as error:
            assert source is not None  # noqa: S101  # else nothing would have been read
            raise _refusal(error, source, traced) from error
        program = destination.into / plugin.model if source is None else source / _FORMATS[str(plugin.after)].model
        stateless = {weight.name for weight in read(program).weights} <= {PLACEHOLDER}
    outputs = tuple(output.name for output in traced.outputs)
    artifact = _artifact(destination, wish, outputs, traced.native_outputs, details)
    modules, names = loaded_modules(), _names(traced.layer)
    return TracedFormat(artifact, traced.outputs, traced.parameters, names, modules, stateless)


def _write(plugin: Format, destination: Destination, traced: Traced | None, source: Path | None, wish: Wish) -> Details:
    gc.freeze()  # Paddle's objects are many and stay: no collection has to walk through them again
    doing(f"writing {destination.format}")
    return plugin.write(traced, source, destination.into, wish)


def _artifact(
    destination: Destination, wish: Wish, outputs: tuple[str, ...], native: tuple[str, ...], details: Details
) -> Artifact:
    into = destination.into
    files = tuple(sorted(f"{into.name}/{path.name}" for path in into.iterdir()))
    inputs = tuple(spec.name for spec in wish.inputs)
    return Artifact(destination.format, "fp32", files, inputs, outputs, native, dict(details))


def _refusal(error: OperatorRefused, source: Path, traced: Traced) -> ModelError:
    """The same error, told of the user's line."""
    line = _line_of(error.operator, source, traced)
    return ModelError(error.what, where=line or error.where, hint=error.hint)


def _traced_again(plugin: Format, request: ExportRequest) -> Traced:
    layer = _built(request.layer)
    with plugin.session(request.wish.target):
        return _trace(layer, request.layer, request.wish)


def _line_of(operator: Operator, source: Path, traced: Traced) -> str:
    """The user's line that calls an operator of the program in the folder `source`, which tells no lines."""
    program = flat(read_operators(source / "model.json"))
    alike = [candidate.index for candidate in program if candidate.name == operator.name]
    return operator_line(traced.layer, operator.name, alike.index(operator.index), len(alike))


def _names(layer: Any) -> dict[str, str]:
    """The layer's own name of each parameter and buffer -> what the program calls it."""
    held = {**layer.state_dict(), **dict(layer.named_buffers())}
    return {name: tensor.name for name, tensor in held.items()}


def _built(source: LayerSource) -> Any:
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    doing("building the layer")
    return load_layer(source.model, source.checkpoint, source.seed)


def _try(layer: Any, trial: Trial) -> Seen:
    """Run a trial in a fork: what `forward` leaves in the layer is not traced."""
    return run_in_fork(lambda: job_at(trial.job)(BuiltLayer(layer, trial.spec)), Seen)


def _trace(layer: Any, source: LayerSource, wish: Wish) -> Traced:
    doing(TRACING)
    return trace(layer, wish.inputs, source.outputs, source.fixed, source.dims)
