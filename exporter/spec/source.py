"""A spec's `source`: a Paddle program that exists as a file, and the keys of a spec that follow from it.

The program says its inputs, outputs, dtypes and ranks. It does not say how large an open dim may be, or what the inputs
hold: the file for the runtimes beside it may (:mod:`exporter.spec.beside`), of pictures that has a usual answer, and
the rest is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from exporter.base.errors import UsageError, did_you_mean_file
from exporter.base.readers import read_program
from exporter.base.readers.base import ModelFacts, map_file
from exporter.base.readers.kinds.pdiparams import named
from exporter.base.tensors import TensorSpec
from exporter.spec.beside import Opened, Range, Told, told_by
from exporter.spec.other_files import is_of_a_model, no_program, refuse_other_file
from exporter.steps.deployed import deployed_beside

#: The keys of a spec, as its YAML holds them.
Content: TypeAlias = dict[str, Any]
#: The factory of the layer that computes what the file says; the code above this folder has it.
FACTORY = "exporter.export.sources.program:build"
#: Files that programs are usually called, the better known first.
_USUAL = ("inference.json", "model.json", "inference.pdmodel", "model.pdmodel")
_PROGRAMS = (".json", ".pdmodel")
_PARAMETERS = ".pdiparams"
#: What is promised of dims that a program leaves open, unless somebody says otherwise; most nets halve pictures five
#: times.
DIMS: Mapping[str, Range] = {
    "batch": {"min": 1, "typical": 2, "max": 4},
    "height": {"min": 64, "typical": 192, "max": 320, "multiple_of": 32},
    "width": {"min": 64, "typical": 192, "max": 320, "multiple_of": 32},
}


@dataclass(frozen=True)
class Source:
    """A program and its parameters (None: it has none), with what the program says of itself."""

    program: Path
    parameters: Path | None
    facts: ModelFacts

    @property
    def inputs(self) -> list[Opened]:
        """The inputs, with names for their open dims: batch, height, width, or `NAME_AXIS`."""
        specs = self.facts.inputs
        named = zip(_names(specs), specs, strict=True)
        return [Opened(spec.name, key, spec.dtype, _sizes(spec, key)) for key, spec in named]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs that a spec can hold."""
        return _names(self.facts.outputs)

    def told(self) -> Told:
        """Read what the file for the runtimes beside it says; nothing where there is none.

        Raises:
            UsageError: that file is damaged.
        """
        return told_by(runtime_file(self.program), self.inputs, DIMS)

    @property
    def name(self) -> str:
        """A name for its bundle: the file's, or where that is a usual one, the folder's."""
        usual = self.program.name in _USUAL
        stem = self.program.parent.resolve().name if usual else self.program.stem
        return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.") or "model"


def is_source(text: str) -> bool:
    """Return whether a command-line target means a program, or some file of a model, and neither spec nor factory."""
    path = Path(text)
    return path.is_dir() or path.suffix in _PROGRAMS or is_of_a_model(path)


def read_source(path: Path, parameters: Path | None = None) -> Source:
    """Find the program of a file or folder and its parameters, and read what it says; nothing of it runs.

    Raises:
        UsageError: there is none, or more than one; it is a file of another kind, or its parameters are not there.
        BundleError: the program is damaged, or the parameters are truncated or another program's.
    """
    program = _followed(only_program(path) if path.is_dir() else path)
    _refuse_no_file(program)
    facts = read_program(program)
    if not (facts.inputs and facts.outputs):
        what = f"the program says of no tensor that it is an {'output' if facts.inputs else 'input'}"
        hint = "save the model for inference, by paddle.jit.save or paddle.static.save_inference_model"
        raise UsageError(what, where=str(program), hint=hint)
    stored = parameters or program.with_suffix(_PARAMETERS)
    if facts.weights:
        _refuse_no_parameters(stored, program, len(facts.weights))
        named(map_file(stored), str(stored), facts.weights)
    elif parameters is not None:
        what = f"the program has no parameters, and {parameters} is given"
        raise UsageError(what, where=str(program), hint="leave --weights out")
    return Source(program, stored if facts.weights else None, facts)


def _followed(program: Path) -> Path:
    """Follow a link that stands alone to the program that it means; one with parameters beside it is a model there."""
    if not program.is_symlink() or program.with_suffix(_PARAMETERS).exists():
        return program
    target = program.resolve()
    return target if target.suffix == program.suffix and target.is_file() else program


def _refuse_no_file(program: Path) -> None:
    refuse_other_file(program)
    if program.is_symlink() and not program.exists():
        hint = "copy the file that the link means"
        raise UsageError("a link to a file that is not there", where=str(program), hint=hint)
    if not program.is_file():
        what = "not a file" if program.exists() else "no such file"
        hint = did_you_mean_file(program, "give inference.json, a .pdmodel, or the folder of one")
        raise UsageError(what, where=str(program), hint=hint)


def _refuse_no_parameters(stored: Path, program: Path, count: int) -> None:
    if stored.suffix not in ("", _PARAMETERS) and is_of_a_model(stored):
        what = f"its parameters are a .pdiparams file, and no {stored.suffix}"
        raise UsageError(what, where=str(stored), hint="give the .pdiparams that was saved with the program")
    if not stored.is_file():
        what = f"its parameters are not there: {stored.name}, with {count} tensors"
        raise UsageError(what, where=str(program), hint="put them beside it, or name them: --weights FILE.pdiparams")


def holds_program(folder: Path) -> bool:
    """Return whether a folder holds files that are called as programs are."""
    return any(file.name in _USUAL or _has_parameters(file) for file in _programs(folder))


def is_program(path: Path) -> bool:
    """Return whether a program, or a folder of one, lies at the path: to say so where a spec or a bundle is due."""
    if path.is_dir():
        return holds_program(path)
    if path.suffix not in _PROGRAMS or not path.is_file():
        return False
    with path.open("rb") as stream:
        return path.suffix == ".pdmodel" or b'"base_code"' in stream.read(1 << 10)


def _has_parameters(program: Path) -> bool:
    return program.suffix == ".pdmodel" or program.with_suffix(_PARAMETERS).is_file()


def _programs(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.suffix in _PROGRAMS and file.is_file())


def only_program(folder: Path) -> Path:
    """The program of a folder: of one that is called as usual, or is the only one with parameters.

    Raises:
        UsageError: there is none, or more than one.
    """
    files = _programs(folder)
    if usual := [folder / name for name in _USUAL if (folder / name) in files]:
        stems = {file.stem for file in usual}
        if len(stems) == 1:
            return usual[0]
        files = usual
    programs = [file for file in files if _has_parameters(file)]
    if len(programs) == 1:
        return programs[0]
    if not programs:
        within = sorted(path for path in folder.iterdir() if path.is_dir() and holds_program(path))
        raise no_program(folder, _PROGRAMS, within)
    listed = ", ".join(file.name for file in programs[:4])
    what = f"{len(programs)} programs are in this folder: {listed}"
    raise UsageError(what, where=str(folder), hint=f"name one, as in {programs[0]}")


def runtime_file(program: Path) -> Path | None:
    """The file for the runtimes that belongs to a program: beside the only one of its folder; None without one."""
    try:
        only = only_program(program.parent)
    except UsageError:  # of two programs nothing says whose it is
        return None
    return deployed_beside(program.parent) if only.stem == program.stem else None


def keys_of(source: Source, dims: Mapping[str, Range] | None = None, spec: Content | None = None) -> Content:
    """Return the keys of a spec that follow from a program: model, inputs, dims, outputs, weights.

    `dims` are ranges that somebody gave, by the names that open dims get here: batch, height, width, or `NAME_AXIS`.
    `spec` is what a spec says besides; where it gives `inputs` itself, as one with `fold: true` has to, their shapes
    name the dims.

    Raises:
        UsageError: nothing says how large a dim may be; one of the command line is none of the program's; the file for
            the runtimes beside it is damaged.
    """
    ranged, deployed, own = dict(dims or {}), source.told(), source.inputs
    described = spec.get("inputs") if spec is not None else None
    used = _words(map(_shape, described.values()) if isinstance(described, dict) else [opened.shape for opened in own])
    if strange := [name for name in ranged if name not in used and spec is None]:
        hint = f"name one of: {', '.join(used)}" if used else "leave it out: every size is fixed"
        raise UsageError(f"no input has a dim '{strange[0]}'", where="--dim", hint=hint)
    ranges = {**DIMS, **deployed.dims, **ranged}
    if lacking := [name for name in used if name not in ranges and not isinstance(described, dict)]:
        options = " ".join(f"--dim {name}=1..64" for name in lacking)
        keys = f"dims: {{{', '.join(f'{name}: {{min: 1, typical: 16, max: 64}}' for name in lacking)}}}"
        what = f"the program does not say how large {' and '.join(map(repr, lacking))} may be"
        raise UsageError(what, where=str(source.program), hint=f"say it, as in: {keys if spec else options}")
    parameters = {"parameters": _from_here(source.parameters)} if source.parameters else {}
    filled = values_of(own, deployed)
    return {
        "name": source.name,
        "model": FACTORY,
        "args": {"program": _from_here(source.program), **parameters, "inputs": [opened.key for opened in own]},
        "inputs": {
            opened.key: {"dtype": opened.dtype, "shape": list(opened.shape), "values": filled[opened.key]}
            for opened in own
        },
        "dims": {name: ranges[name] for name in [*used, *ranged] if name in ranges},
        "outputs": source.outputs,
        "weights": "factory",
    }


def _from_here(path: Path) -> str:
    """Return one way to write a path, however it was given: from the working folder, or whole where it lies outside."""
    whole = (path.parent.resolve() if ".." in path.parts else path.parent.absolute()) / path.name
    return str(whole.relative_to(Path.cwd()) if whole.is_relative_to(Path.cwd()) else whole)


def _words(shapes: Iterable[Iterable[object]]) -> list[str]:
    """The open dims of shapes, each once."""
    return list(dict.fromkeys(size for shape in shapes for size in shape if isinstance(size, str)))


def _shape(entry: object) -> list[object]:
    """The shape of an input that a spec gives; nothing of one that is none, which its reader tells."""
    shape = entry.get("shape") if isinstance(entry, dict) else None
    return shape if isinstance(shape, list) else []


def values_of(inputs: Iterable[Opened], deployed: Told) -> dict[str, str]:
    """Return what the cases of each input hold: what is told of it, else what any dtype takes."""
    return {
        opened.key: deployed.values.get(opened.key) or ("normal" if opened.real else "integers(0,2)")
        for opened in inputs
    }


def _names(specs: Iterable[TensorSpec]) -> list[str]:
    """Names that a spec can hold, each once: `sigmoid_0.tmp_0` becomes `sigmoid_0_tmp_0`."""
    names: list[str] = []
    for spec in specs:
        name = re.sub(r"\W", "_", spec.name)
        name = name if re.match(r"[A-Za-z_]", name) else f"_{name}"
        names.append(name if name not in names else f"{name}_{len(names)}")
    return names


def _sizes(spec: TensorSpec, key: str) -> list[int | str]:
    """The shape of an input, with words for its open dims."""
    shape = list[int | str](spec.shape)
    picture = {2: "height", 3: "width"} if len(shape) == 4 else {}
    names = {0: "batch", **picture}
    return [names.get(axis, f"{key}_{axis}") if size == -1 else size for axis, size in enumerate(shape)]
