"""Files that are given as a checkpoint and are none: what each is, and which file to give instead."""

from __future__ import annotations

import shlex
from pathlib import Path

from exporter.base.errors import UsageError, closest
from exporter.base.pickles.state import SUFFIXES
from exporter.spec.source import is_program

_WRITE = "give the file that paddle.save(layer.state_dict(), 'net.pdparams') wrote"
_ENDS = (SUFFIXES[0], ".safetensors")
_OF_TORCH = (".pt", ".pth", ".ckpt", ".bin")
_TEXT = (".yaml", ".yml", ".py", ".json", ".txt", ".md", ".csv")


def refuse_other_files(path: Path) -> None:
    """Make sure that a file can be a checkpoint, by its name alone; what is in it is read later.

    Raises:
        UsageError: there is no such file, or it is a folder, an optimizer's state, a program, its parameters, a file of
            another framework, or text; the hint names the checkpoint beside it, if there is one.
    """
    where = str(path)
    if path.is_dir():
        raise UsageError("is a folder, not a checkpoint", where=where, hint=_beside(path / path.name))
    if not path.exists():
        stems = {near.stem: near for end in _ENDS for near in path.parent.glob(f"*{end}")}
        near = stems.get(closest(path.stem, stems)) if not path.suffix or path.suffix in _ENDS else None
        hint = f"give '{near}'" if near else "check the path, or train it first"
        raise UsageError("no such checkpoint", where=where, hint=hint)
    suffix = path.suffix
    if suffix == ".pdopt":
        raise UsageError("holds the state of an optimizer, and no weights", where=where, hint=_beside(path))
    if suffix == ".pdiparams":
        program = next((file for end in (".json", ".pdmodel") if (file := path.with_suffix(end)).is_file()), None)
        what = "holds the parameters of an exported program, which have the names of the program and not of the layer"
        raise UsageError(what, where=where, hint=_of_program(program, path))
    if suffix in (".json", ".pdmodel") and is_program(path):
        raise UsageError("is an exported program, and no checkpoint", where=where, hint=_of_program(path, path))
    if suffix in _OF_TORCH:
        raise UsageError(f"{suffix} is a checkpoint of another framework", where=where, hint=_beside(path))
    if suffix == ".onnx" or suffix in _TEXT:
        raise UsageError(f"{suffix} is no checkpoint", where=where, hint=_beside(path))
    if not path.is_file():
        raise UsageError("no such checkpoint", where=where, hint="check the path: a checkpoint is a regular file")


def _beside(path: Path) -> str:
    """Return the hint that names the checkpoint in the same folder, where there is just one or one of the same name."""
    bundle = (path.parent / "manifest.json").exists()  # whose tensors are inputs and outputs
    near = [] if bundle else sorted(file for end in _ENDS for file in path.parent.glob(f"*{end}"))
    same = [file for file in near if file.stem == path.stem] or near
    return f"give '{same[0]}'" if len(same) == 1 else _WRITE


def _of_program(program: Path | None, path: Path) -> str:
    hint = _beside(path)
    if program is None or hint != _WRITE:
        return hint
    return f"exporter convert {shlex.quote(str(program))}, which takes the program with its parameters; or {_WRITE}"
