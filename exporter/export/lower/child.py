"""The child's side of lowering: build the layer once, then trace it and write it for each format."""

from __future__ import annotations

import gc
import importlib
import tempfile
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from exporter.base.errors import ModelError
from exporter.base.files import room_explains
from exporter.base.readers.program import Operator, read_operators
from exporter.base.references import loaded_modules
from exporter.base.registry import Registry
from exporter.export.lower.base import TRACING, Artifact, Format, Wish
from exporter.export.lower.onnx_program.call import OperatorRefused
from exporter.export.lower.onnx_program.effects import flat
from exporter.export.trace.blame import operator_line
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import Traced, specs_from_json, trace
from exporter.process.child import forkable, run_in_fork
from exporter.process.workers import doing


def export(request: dict[str, Any]) -> dict[str, Any]:
    """Write one format into a folder; answer with the artifact, the interface and the digests of the parameters.

    The parent reads the files and compares (:func:`exporter.export.lower.convert.convert_all`).
    """
    with room_explains(Path(request["into"])):
        return _written(request, _built(request) if request["source"] is None else None)


def export_traced(request: dict[str, Any]) -> dict[str, Any]:
    """Write each of `traced` from one layer; answer with what :func:`export` tells of it, by format.

    Tracing marks the layer and patches Paddle, so each but the last is written in a fork. A process with threads cannot
    be forked: it writes only the first, and whoever asked asks again for the others.
    """
    layer = _built(request)
    wanted = request["traced"] if forkable() else request["traced"][:1]
    written: dict[str, Any] = {}
    for wish in wanted:
        asked = {**request, **wish}
        doing(f"tracing for {asked['format']}", format=asked["format"])
        with room_explains(Path(asked["into"])):
            write = partial(_written, asked, layer)
            written[asked["format"]] = write() if wish is wanted[-1] else run_in_fork(write, dict[str, Any])
    return {"written": written}


def _written(request: dict[str, Any], layer: Any) -> dict[str, Any]:
    name, into = request["format"], Path(request["into"])
    formats: Registry[Format] = Registry("exporter.export.lower", "format")
    wish = Wish(request["opset"], request["target"], specs_from_json(request["inputs"]), request["writer"])
    plugin = formats[name].chosen(wish)
    source = Path(request["source"]) if request["source"] else None
    traced = None
    session = plugin.session(request["target"]) if layer is not None else nullcontext()
    with session, tempfile.TemporaryDirectory() as folder:
        if layer is not None:
            traced = _trace(layer, request)
        if source is None and plugin.after is not None:
            source = Path(folder)
            doing(f"writing {plugin.after} for {name}")
            formats[plugin.after].write(traced, None, source, Wish())
        gc.freeze()  # Paddle's objects are many and stay: no collection has to walk through them again
        doing(f"writing {name}")
        try:
            details = dict(plugin.write(traced, source, into, wish))
        except OperatorRefused as error:
            assert source is not None  # noqa: S101  # else nothing would have been read
            line = _line_of(error.operator, source, traced or _traced_again(plugin, request))
            raise ModelError(error.what, where=line or error.where, hint=error.hint) from error
    outputs = tuple(request["outputs"]) if traced is None else tuple(one.name for one in traced.outputs)
    inputs = tuple(item["name"] for item in request["inputs"])
    files = tuple(sorted(f"{into.name}/{path.name}" for path in into.iterdir()))
    native = traced.native_outputs if traced else outputs
    artifact = Artifact(name, "fp32", files, inputs, outputs, native, details)
    return {
        "artifact": asdict(artifact),
        "outputs": [asdict(one) for one in traced.outputs] if traced else None,
        "parameters": dict(traced.parameters) if traced else None,
        "names": _names(traced.layer) if traced else None,
        "modules": loaded_modules(),
    }


def _traced_again(plugin: Format, request: dict[str, Any]) -> Traced:
    layer = _built({**request, "tried": None})  # it was tried before, if that was asked for
    with plugin.session(request["target"]):
        return _trace(layer, request)


def _line_of(operator: Operator, source: Path, traced: Traced) -> str:
    """The user's line that calls an operator of the program in the folder `source`, which tells no lines."""
    alike = [one.index for one in flat(read_operators(source / "model.json")) if one.name == operator.name]
    return operator_line(traced.layer, operator.name, alike.index(operator.index), len(alike))


def _names(layer: Any) -> dict[str, str]:
    """The layer's own name of each parameter and buffer -> what the program calls it."""
    held = {**layer.state_dict(), **dict(layer.named_buffers())}
    return {name: tensor.name for name, tensor in held.items()}


def _built(request: dict[str, Any]) -> Any:
    """The layer, after it was tried in a fork, if that was asked for: what `forward` leaves in it is not traced."""
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    doing("building the layer")
    layer = load_layer(request["model"], request["checkpoint"], request["seed"])
    if tried := request.get("tried"):
        module, _, name = tried["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        run_in_fork(lambda: function(layer, tried), dict[str, Any])
    return layer


def _trace(layer: Any, request: dict[str, Any]) -> Traced:
    doing(TRACING)
    names = tuple(request["outputs"]) if request["outputs"] else None
    return trace(layer, specs_from_json(request["inputs"]), names, request["fixed"])
