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
from xml.etree.ElementTree import tostring

from exporter.base.errors import BundleError, UsageError
from exporter.base.files import write_draft
from exporter.base.readers import read, refuse_others
from exporter.base.readers.base import ModelFacts
from exporter.base.readers.external import data_of, refuse_misplaced
from exporter.base.readers.kinds import openvino
from exporter.base.readers.xml import parse
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Artifact
from exporter.export.lower.stored import stored_digests, stored_tensors
from exporter.process.job import job
from exporter.process.workers import SINGLE_THREAD, Setting, call

if TYPE_CHECKING:
    import onnx

#: The format of a file, by its ending.
FORMATS: Mapping[str, str] = {".onnx": "onnx", ".json": "pir", ".pdmodel": "pdmodel", ".xml": "openvino"}
#: The file beside a program that holds its numbers, by the format.
_BESIDE = {"pir": ".pdiparams", "pdmodel": ".pdiparams", "openvino": ".bin"}


@dataclass(frozen=True)
class RenameRequest:
    """A file, where its copy goes, and the new names of its inputs and outputs, by the old ones."""

    file: Path
    into: Path
    names: Mapping[str, str]


@dataclass(frozen=True)
class Adopted:
    """A file of another tool as a variant. `traced` says that some tensor which it stores is one of the model's."""

    artifact: Artifact
    traced: bool


def format_of(file: Path, where: str) -> str:
    """Return the format of a file that is to be judged; `where` names the option or key that names the file.

    Raises:
        UsageError: it is of no format that can be.
    """
    if not file.is_file():
        what, hint = ("a folder", "name the file in it") if file.is_dir() else ("no such file", "check the path")
        raise UsageError(what, where=f"{where} {file}", hint=hint)
    if (format := FORMATS.get(file.suffix)) is None:
        hint = f"give a file that ends in {', '.join(FORMATS)}"
        raise UsageError(f"'{file.suffix}' is no format that can be judged", where=f"{where} {file}", hint=hint)
    return format


def beside(file: Path) -> Path | None:
    """Return where the numbers of a program lie; None where its format holds them itself."""
    suffix = _BESIDE.get(FORMATS.get(file.suffix, ""))
    return file.with_suffix(suffix) if suffix else None


def read_foreign(file: Path) -> ModelFacts:
    """Tell what a file is whose numbers are all there; nothing of it runs.

    Raises:
        BundleError: it is damaged, truncated, or does more than compute.
    """
    facts = read(file)
    refuse_others(replace(facts, weights=()), str(file))
    refuse_misplaced(facts.weights, file.parent)  # under whatever names: :func:`adopt` puts them where ours lie
    numbers = beside(file)
    if numbers is None or not facts.weights:
        return facts
    if not numbers.is_file():
        what = f"its numbers are not there: {numbers.name}, with {len(facts.weights)} tensors"
        raise BundleError(what, where=str(file), hint="put both files of the program side by side")
    stored_tensors((file.name, numbers.name), file.parent, facts)
    return facts


def adopt(file: Path, own: tuple[Artifact, Path], folder: Path, setting: Setting) -> Adopted:
    """Put a copy of a foreign file below the empty `folder`, under the names of one of our artifacts.

    `own` is that artifact, of any format in full precision, and the folder that it lies in.

    Raises:
        UsageError: the file takes or gives another number of tensors than the model.
        BundleError: it is damaged.
    """
    ours, our_folder = own
    facts, format = read_foreign(file), FORMATS[file.suffix]
    names = {
        **_paired("input", facts.inputs, ours.inputs, file),
        **_paired("output", facts.outputs, ours.outputs, file),
    }
    place = folder / format
    place.mkdir()
    main = place / f"model{file.suffix}"
    setting.say(f"reading {file.name}")
    numbers = beside(file)
    if numbers is not None and numbers.is_file():
        shutil.copyfile(numbers, main.with_suffix(numbers.suffix))
    call(rename, RenameRequest(file.absolute(), main, names), setting.limits, environment=SINGLE_THREAD)
    files = tuple(sorted(f"{format}/{path.name}" for path in place.iterdir()))
    written: ModelFacts = read(main)
    adopted = Artifact(
        format=format,
        precision="fp32",
        files=files,
        inputs=ours.inputs,
        outputs=ours.outputs,
        native_outputs=tuple(spec.name for spec in written.outputs),
        details={"writer": facts.writer or "unknown"},
        weights=stored_digests(files, folder, written),
    )
    known = set(ours.weights.values())
    rearranged = _rearranged(adopted, folder, ours, our_folder) if format == "openvino" else {}
    traced = bool(rearranged) or any(digest in known for digest in adopted.weights.values())
    return Adopted(replace(adopted, details={**adopted.details, "folded": rearranged}), traced)


def _rearranged(theirs: Artifact, folder: Path, ours: Artifact, our_folder: Path) -> dict[str, list[str]]:
    """Return the digests of our tensors by the names of theirs that hold the same numbers in another order or shape.

    OpenVINO transposes the weights of a matrix product when it reads an ONNX.
    """
    import numpy as np

    stored = stored_tensors(ours.files, our_folder)
    known = {}
    for name, weight in stored.weights.items():
        if weight.dtype == "float32" and weight.elements > 1:
            known[np.sort(stored.array(name).ravel()).tobytes()] = ours.weights[name]
    foreign = stored_tensors(theirs.files, folder)
    plain = set(ours.weights.values())
    others = {name: weight for name, weight in foreign.weights.items() if theirs.weights[name] not in plain}
    moved = {
        name: known.get(np.sort(foreign.array(name).ravel()).tobytes())
        for name, weight in others.items()
        if weight.dtype == "float32" and weight.elements > 1
    }
    return {name: [digest] for name, digest in moved.items() if digest is not None}


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
    elif request.file.suffix == ".xml":
        _rename_openvino(request)
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
    if any(weight.file for weight in read(request.file).weights):
        onnx.save_model(model, request.into, save_as_external_data=True, location=data_of(request.into).name)
    else:
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


def _rename_openvino(request: RenameRequest) -> None:
    """Give inputs and outputs their names at the ports, where no other name of theirs stays."""
    net = parse(request.file.read_bytes(), str(request.file))
    facts = openvino.facts_of(net, 0, str(request.file))
    new = set(request.names.values())
    for port in net.iter("port"):
        if "names" in port.attrib:
            port.set(
                "names", openvino.joined(name for name in openvino.names_of(port.get("names", "")) if name not in new)
            )
    sources = openvino.source_ports(net)
    for layer, spec in zip(openvino.main_layers(net, "Parameter"), facts.inputs, strict=True):
        for port in layer.iterfind("output/port"):
            port.set("names", openvino.joined([request.names[spec.name]]))
    for layer, spec in zip(openvino.main_layers(net, "Result"), facts.outputs, strict=True):
        name, port = request.names[spec.name], sources[layer.get("id", "")]
        layer.set("output_names", openvino.joined([name]))
        port.set("names", openvino.joined([name, *openvino.names_of(port.get("names", ""))]))
    write_draft(request.into, tostring(net, encoding="utf-8", xml_declaration=True))
