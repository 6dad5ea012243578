"""An artifact that somebody else's tool wrote, as a variant that can be judged: a copy under our names.

Tools give inputs and outputs names of their own, so those at the same places are taken for the same. Nothing else of
the file is changed, and none of its numbers.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import UsageError
from exporter.base.files import write_draft
from exporter.base.readers import read, read_program
from exporter.base.readers.base import ModelFacts
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Artifact
from exporter.export.lower.stored import stored_digests
from exporter.process.job import job
from exporter.process.workers import SINGLE_THREAD, Setting, call

if TYPE_CHECKING:
    import onnx

#: The format of a file, by its ending.
FORMATS: Mapping[str, str] = {".onnx": "onnx", ".json": "pir", ".pdmodel": "pdmodel"}


@dataclass(frozen=True)
class RenameRequest:
    """A file, where its copy goes, and the new names of its inputs and outputs, by the old ones."""

    file: Path
    into: Path
    names: Mapping[str, str]


def format_of(file: Path) -> str:
    """Return the format of a file that is to be judged.

    Raises:
        UsageError: it is of no format that can be.
    """
    if not file.is_file():
        raise UsageError("no such file", where=f"--artifact {file}", hint="check the path")
    if (format := FORMATS.get(file.suffix)) is None:
        hint = f"give a file that ends in {', '.join(FORMATS)}"
        raise UsageError(f"'{file.suffix}' is no format that can be judged", where=f"--artifact {file}", hint=hint)
    return format


def adopt(file: Path, own: Artifact, folder: Path, setting: Setting) -> Artifact:
    """Put a copy of a foreign file in the place of our own artifact of its format, below `folder`.

    Raises:
        UsageError: it takes or gives another number of tensors than the model.
        BundleError: the file is damaged.
    """
    facts = read_program(file)
    names = {**_paired("input", facts.inputs, own.inputs, file), **_paired("output", facts.outputs, own.outputs, file)}
    place = folder / own.variant
    shutil.rmtree(place)
    place.mkdir()
    main = place / Path(own.main).name
    setting.say(f"reading {file.name}")
    parameters = file.with_suffix(".pdiparams")
    if own.format != "onnx" and parameters.is_file():
        shutil.copyfile(parameters, main.with_suffix(".pdiparams"))
    call(rename, RenameRequest(file.absolute(), main, names), setting.limits, environment=SINGLE_THREAD)
    files = tuple(sorted(f"{own.variant}/{path.name}" for path in place.iterdir()))
    written: ModelFacts = read(main)
    return replace(
        own,
        files=files,
        native_outputs=tuple(spec.name for spec in written.outputs),
        details={"writer": facts.writer or "unknown"},
        weights=stored_digests(files, folder, written),
        origins={},
    )


def _paired(kind: str, theirs: Sequence[TensorSpec], ours: Sequence[str], file: Path) -> dict[str, str]:
    """Return our names by theirs: the same where all are alike, else by place."""
    names = [spec.name for spec in theirs]
    if len(names) != len(ours):
        what = f"it has {len(names)} {kind}s ({', '.join(names)}), and the reference {len(ours)} ({', '.join(ours)})"
        raise UsageError(what, where=str(file), hint="give a file that was made of this model")
    return dict(zip(names, names if set(names) == set(ours) else ours, strict=True))


@job
def rename(request: RenameRequest) -> None:
    """Copy a file, with the names of its inputs and outputs changed."""
    if request.file.suffix == ".onnx":
        _rename_onnx(request)
    elif request.file.suffix == ".json":
        _rename_pir(request)
    else:
        _rename_pdmodel(request)


def _all_names(names: Mapping[str, str], used: Iterable[str]) -> dict[str, str]:
    """Return the new name of every value; an inner one that has such a name already makes room for it."""
    taken = set(names.values())
    return {**{name: f"{name}.inner" for name in used if name in taken and name not in names}, **names}


def _rename_onnx(request: RenameRequest) -> None:
    import onnx

    model = onnx.load(request.file)
    graph = model.graph
    used = {name for node in graph.node for name in (*node.input, *node.output)}
    used |= {tensor.name for tensor in graph.initializer}
    _rename_graph(graph, _all_names(request.names, used))
    write_draft(request.into, model.SerializeToString(deterministic=True))


def _rename_graph(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        value.name = names.get(value.name, value.name)
    for node in graph.node:
        _rename_list(node.input, names)
        _rename_list(node.output, names)
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                _rename_graph(inner, names)


def _rename_list(values: MutableSequence[str], names: Mapping[str, str]) -> None:
    for place, name in enumerate(values):
        values[place] = names.get(name, name)


def _rename_pir(request: RenameRequest) -> None:
    program = json.loads(request.file.read_text())
    for operator in program["program"]["regions"][0]["blocks"][0]["ops"]:
        for attribute in operator["A"] if operator["#"] in ("1.data", "1.fetch") else ():
            if attribute["N"] == "name":
                attribute["AT"]["D"] = request.names[attribute["AT"]["D"]]
    write_draft(request.into, json.dumps(program, separators=(",", ":")).encode())


def _rename_pdmodel(request: RenameRequest) -> None:
    from exporter.paddle.private import framework_pb2

    program = framework_pb2.ProgramDesc.FromString(request.file.read_bytes())
    names = _all_names(request.names, [variable.name for block in program.blocks for variable in block.vars])
    for block in program.blocks:
        for variable in block.vars:
            variable.name = names.get(variable.name, variable.name)
        for operator in block.ops:
            for slot in (*operator.inputs, *operator.outputs):
                _rename_list(slot.arguments, names)
    write_draft(request.into, program.SerializeToString(deterministic=True))
