"""Files of a model that are no Paddle program: what each is, and what to give in its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.base.errors import UsageError

_WEIGHTS = ("a file of weights without a program", "give module:factory of the layer, and these as --weights")
_ARCHIVE = ("an archive", "give the folder that it holds, unpacked")
_CONVERTED = "give the Paddle program that it was made from"
#: By suffix, or by the whole name where there is none.
_KINDS: dict[str, tuple[str, str]] = {
    ".pdparams": _WEIGHTS,
    ".pdopt": ("the state of an optimizer", "give the program, inference.json or .pdmodel"),
    ".pdiparams": (
        "a file of parameters without a program",
        "give the program that they belong to: .json or .pdmodel beside it",
    ),
    ".nb": ("a model of Paddle Lite, which cannot be turned back", _CONVERTED),
    ".onnx": ("ONNX already", f"{_CONVERTED}; `verify --artifact` judges an ONNX file"),
    ".xml": ("an OpenVINO IR, or no model", f"{_CONVERTED}; `verify --artifact` judges an IR"),
    ".safetensors": _WEIGHTS,
    ".pt": ("a model of PyTorch", "give a Paddle program: .json or .pdmodel"),
    ".pth": ("a model of PyTorch", "give a Paddle program: .json or .pdmodel"),
    "__model__": (
        "a program under its name of before Paddle 2",
        "rename it to inference.pdmodel, and `__params__` beside it to inference.pdiparams",
    ),
    "__params__": ("a file of parameters without a program", "give the program that they belong to"),
    **dict.fromkeys((".tar", ".tgz", ".gz", ".bz2", ".xz", ".zip", ".7z"), _ARCHIVE),
}


def is_of_a_model(path: Path) -> bool:
    """Return whether a file is called as a file of a model that is no program."""
    return _kind(path) is not None


def refuse_other_file(path: Path) -> None:
    """Refuse a file of a model that is no program.

    Raises:
        UsageError: what it is, and what to give in its place.
    """
    if kind := _kind(path):
        raise UsageError(f"this is {kind[0]}", where=str(path), hint=kind[1])


def no_program(folder: Path, suffixes: Sequence[str], within: Sequence[Path]) -> UsageError:
    """Return the error about a folder without a program: what lies there in its place.

    `suffixes` are those of programs, `within` the folders in it that hold one.
    """
    what, where = "no Paddle program is in this folder", str(folder)
    if within:
        more = ", …" if len(within) > 1 else ""
        return UsageError(what, where=where, hint=f"name a folder in it: {within[0]}{more}")
    files = sorted(file for file in folder.iterdir() if not file.is_dir())
    if lost := [file for file in files if file.suffix in suffixes and file.is_symlink() and not file.exists()]:
        what = f"{what}: {lost[0].name} is a link to a file that is not there"
        return UsageError(what, where=where, hint="copy the files that the links mean")
    for file in files:
        if kind := _kind(file):
            return UsageError(f"{what}, but {file.name}, {kind[0]}", where=where, hint=kind[1])
    hint = "give a folder that holds inference.json or inference.pdmodel, and inference.pdiparams"
    return UsageError(what, where=where, hint=hint)


def _kind(path: Path) -> tuple[str, str] | None:
    return _KINDS.get(path.name) or _KINDS.get(path.suffix)
