"""A first spec for a program that is a file: what it and the file for the runtimes say is in it, the rest is marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.cli.skeleton import refuse_places, write
from exporter.cli.yaml_names import yaml_text
from exporter.spec.beside import Opened, Range, Told
from exporter.spec.source import DIMS, Source, read_source, values_of

#: What is guessed of a dim that nothing is known of.
_UNKNOWN: Range = {"min": 1, "typical": 16, "max": 64}


@dataclass(frozen=True)
class StartedFromFile:
    """The files that were written, the names of inputs and outputs, and what was guessed: `width`, `values of ids`."""

    written: tuple[Path, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    guessed: tuple[str, ...]


def start_from_file(name: str, model: Path, folder: Path) -> StartedFromFile:
    """Write `specs/NAME.yaml` below the folder, and `.gitignore` if there is none; nothing of the program runs.

    Raises:
        UsageError: the name has another form, a file is there already; or as :func:`read_source`.
        BundleError: the program is damaged, or its parameters are.
    """
    path = folder / "specs" / f"{name}.yaml"
    refuse_places(name, [path])
    source = read_source(model)
    deployed = source.told()
    guessed = [dim for dim in _dims(source.inputs) if dim not in deployed.dims]
    guessed += [f"values of {opened.key}" for opened in source.inputs if opened.key not in deployed.values]
    written = write({path: _text(name, model, source, deployed)}, folder)
    inputs = tuple(opened.key for opened in source.inputs)
    return StartedFromFile(written, inputs, tuple(source.outputs), tuple(guessed))


def _text(name: str, model: Path, source: Source, deployed: Told) -> str:
    """A valid spec; ranges that are guesses say so."""
    says = f", {deployed.path.name} what these hold" if deployed.path and deployed.values else ""
    dims = [f"  {line}" for line in _ranges(source.inputs, deployed)]
    return "\n".join(
        [
            f"# What is exported, and what is promised of it. `exporter release specs/{name}.yaml` does the whole way.",
            f"name: {yaml_text(name)}",
            "# version: 1.0.0              # else it comes from the content",
            "",
            f"source: {yaml_text(str(model))}   # the program, with the parameters beside it",
            "",
            f"inputs:   # the program says names, dtypes and shapes{says}",
            *(f"  {line}" for line in _inputs(source, deployed)),
            "  # a word in a shape is a named dim; values: normal, uniform(a,b), integers(a,b) or FILE.npy",
            *(["dims:   # what the artifact must serve", *dims] if dims else ["# dims: the program fixes every size"]),
            f"outputs: [{', '.join(map(yaml_text, source.outputs))}]",
            "",
            "formats: [pir, pdmodel, onnx]",
            "engines: [jit_load, paddle_inference, onnxruntime]",
            "budget: 4                     # how many times the program's own rounding error an engine may err",
            "# targets: [paddle_inference>=2.6]   # the oldest consumer that must load the files",
            "",
        ]
    )


def _inputs(source: Source, deployed: Told) -> Iterator[str]:
    filled = values_of(source.inputs, deployed)
    for opened in source.inputs:
        mark = "" if opened.key in deployed.values else "   # GUESSED: the values"
        shape = ", ".join(map(str, opened.shape))
        values = f'"{filled[opened.key]}"' if "," in filled[opened.key] else filled[opened.key]  # a comma ends an entry
        yield f"{yaml_text(opened.key)}: {{dtype: {opened.dtype}, shape: [{shape}], values: {values}}}{mark}"


def _dims(inputs: Sequence[Opened]) -> list[str]:
    return list(dict.fromkeys(size for opened in inputs for size in opened.shape if isinstance(size, str)))


def _ranges(inputs: Sequence[Opened], deployed: Told) -> Iterator[str]:
    for name in _dims(inputs):
        known = deployed.dims.get(name)
        sizes = ", ".join(f"{key}: {size}" for key, size in (known or DIMS.get(name, _UNKNOWN)).items())
        mark = f"   # {deployed.path.name}" if known and deployed.path else "   # GUESSED"
        yield f"{name}: {{{sizes}}}{mark}"
