"""The model's own code and checkpoint, where a user says that they are here: proven before anything is imported.

A bundle names its model as `recipes.digits:build`, and whoever made the bundle chose that name. So nothing of it is
imported unless a user names the folder, and then only if the files there are those that the bundle was made of.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from exporter.base.errors import BundleError, UsageError
from exporter.base.files import sha256_file
from exporter.base.references import find_installed, find_source, split
from exporter.spec.model import Spec
from exporter.spec.recipe.source import sources
from exporter.spec.source import FACTORY

NO_SOURCE = (
    "no source was given, so eager itself was not run again and no sublayer was compared: --source DIR, the folder of "
    "the model's code, judges them too"
)
_HINT = "verify it with the code that it was made of, or without --source by its goldens alone"


@dataclass(frozen=True)
class Source:
    """The folder of the code, and the checkpoint if there is one; or why neither is at hand (`absent`)."""

    folder: Path | None = None
    checkpoint: Path | None = None
    absent: str = ""


def code_of(spec: Spec) -> dict[str, str]:
    """The digest of every file that the model and the recipe are made of, by its path below the folder of the code.

    Of an installed package it is the model's own file alone; of one without Python source there is none.
    """
    if spec.model == FACTORY:
        return file_digests(spec)
    files: dict[str, Path] = {}
    for reference in filter(None, (spec.model, spec.recipe)):
        if (module := find_source(split(reference)[0])) is not None:
            files |= _files(reference, module)
    return {name: sha256_file(path) for name, path in sorted(files.items())}


def file_digests(spec: Spec) -> dict[str, str]:
    """Return the sha256 of the program and of its parameters, where the model is a file, by the names in the spec."""
    digests = {}
    for name in _files_of_model(spec):
        sys.audit("open", name, "r", os.O_RDONLY)  # whoever watches what is read hears of it each time
        digests[name] = _digest_of_state(name, _state(name))
    return digests


def _state(name: str) -> tuple[int, ...]:
    """Return what changes with a file: device, inode, size in bytes, and the time of the last change in ns."""
    facts = Path(name).stat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_ctime_ns


@lru_cache(maxsize=16)
def _digest_of_state(name: str, _state: tuple[int, ...]) -> str:
    return sha256_file(Path(name))


def _files_of_model(spec: Spec) -> list[str]:
    return [str(spec.args[key]) for key in ("program", "parameters") if key in spec.args]


def source_in(folder: Path | None, recorded: Mapping[str, Any], spec: Spec) -> Source:
    """What is at hand in a folder of what `recorded`, the provenance of a bundle, says of its origin.

    Raises:
        UsageError: there is no such folder, module or checkpoint.
        BundleError: a file is another one than the bundle was made of; nothing of it was imported.
    """
    if folder is None:
        return Source(absent=NO_SOURCE)
    if not folder.is_dir():
        raise UsageError("no such folder", where=f"--source {folder}", hint="name the folder of the model's code")
    code, weights = recorded.get("code"), recorded.get("weights")
    if not isinstance(code, dict) or not isinstance(weights, dict):
        raise BundleError("the provenance in it tells neither code nor weights", where="manifest.json", hint=_HINT)
    root = folder.resolve()
    if spec.model == FACTORY:
        for name in _files_of_model(spec):
            _compare(root / name, code.get(name))
        return Source(root)
    for reference in filter(None, (spec.model, spec.recipe)):
        for name, path in sorted(_files(reference, _module(reference, root), root).items()):
            _compare(path, code.get(name))
    return Source(root, _checkpoint(root, weights))


def _module(reference: str, root: Path) -> Path:
    """The file of a module in the folder, or in an installed package; never one of Python's own library."""
    module = split(reference)[0]
    path = find_source(module, root) or find_installed(module)
    if path is None:
        top = module.partition(".")[0]
        raise UsageError(f"no {reference} there", where=f"--source {root}", hint=f"name the folder that holds {top}")
    return path


def _files(reference: str, module: Path, root: Path | None = None) -> dict[str, Path]:
    """The files behind a reference whose module was found, by their path below the folder that it is imported from."""
    name = split(reference)[0]
    files = {name: module}
    if not {"site-packages", "dist-packages"} & set(module.resolve().parts):
        with contextlib.suppress(UsageError):  # a file of it is not Python, so what else it imports is not known
            files = dict(sources(reference, root))
    return {_below(name, path): path for name, path in files.items()}


def _below(module: str, path: Path) -> str:
    depth = module.count(".") + 1 + (path.name == "__init__.py")
    return "/".join(path.parts[-depth:])


def _compare(path: Path, recorded: object) -> None:
    if not path.is_file():
        raise UsageError("no such file", where=str(path), hint="put it there, or leave --source out")
    own = sha256_file(path)
    if own != recorded:
        said = f"its sha256 is {own}, and the bundle records {recorded or 'none of it'}"
        raise BundleError(f"is not the code that the bundle was made of: {said}", where=str(path), hint=_HINT)


def _checkpoint(root: Path, weights: Mapping[str, Any]) -> Path | None:
    if (name := weights.get("checkpoint")) is None:
        return None
    path = root / str(name)
    if ".." in PurePosixPath(str(name)).parts or not path.is_relative_to(root):
        hint = "put it there, where the spec names it, or leave --source out"
        raise UsageError(f"the checkpoint {name} does not lie there", where=f"--source {root}", hint=hint)
    if not path.is_file():
        raise UsageError("no such checkpoint", where=str(path), hint="put it there, or leave --source out")
    _compare(path, weights.get("sha256"))
    return path
