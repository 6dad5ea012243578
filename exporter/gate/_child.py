"""In a child: which files a model's factory and its recipe's data read."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from exporter.recipe.load import load_data, load_recipe
from exporter.references import loaded_modules
from exporter.trace.layer import load_layer
from exporter.workers import Json, doing

_IMPORTING = "<frozen importlib"


def watch(request: Json) -> Json:
    """Build the layer and load the data; the files below `within` that were read, and the folders that were listed.

    What compiled code opens by itself is not seen (sys.addaudithook: events `open`, `os.listdir`, `os.scandir`).

    Raises:
        UsageError, ModelError: the model cannot be built, or its data cannot be loaded.
    """
    read, listed = set[str](), set[str]()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if flags & os.O_ACCMODE != os.O_WRONLY:
                _note(path, read)
        elif event in ("os.listdir", "os.scandir") and not _imports():
            _note("." if arguments[0] is None else arguments[0], listed)

    sys.addaudithook(hook)
    doing("building the model, to see which files it opens")
    load_layer(request["model"], None, request["seed"])
    if request["recipe"]:
        doing("loading the data, to see which files it opens")
        load_data(load_recipe(request["recipe"]), request["recipe"])
    read |= set(loaded_modules().values())
    return {"read": _below(read, request["within"]), "listed": _below(listed, request["within"])}


def _note(path: object, into: set[str]) -> None:
    if isinstance(path, bytes | str | os.PathLike):  # else the number of a file that is open
        into.add(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 - before the working folder changes


def _imports() -> bool:
    """Whether the import of a module asks, which lists each folder that it looks into."""
    return sys._getframe(2).f_code.co_filename.startswith(_IMPORTING)


def _below(paths: set[str], folder: str) -> list[str]:
    resolved = {Path(path).resolve() for path in paths}
    return sorted(str(path) for path in resolved if path.is_relative_to(folder))
