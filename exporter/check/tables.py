"""The tables of the interpreter, put together from the files of `interpret/` and `models/`: each is found by its place.

A file may hold any of `EXPRESSIONS` and `STATEMENTS` (by class of syntax), `CALLERS` and `READERS` (by class of value:
what calling it gives, what its attributes are), `FUNCTIONS` (by qualified name) and `PACKAGES` (by its first part).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from exporter.check import interpret, models
from exporter.check.state.run import Tables


@cache
def tables() -> Tables:
    """All tables.

    Raises:
        ValueError: two files say how one thing is interpreted.
    """
    files = [*_files(interpret), *_files(models)]
    names = ("EXPRESSIONS", "STATEMENTS", "CALLERS", "READERS", "FUNCTIONS", "PACKAGES")
    return Tables(*(_together(name, files) for name in names))


def _files(room: ModuleType) -> Iterator[ModuleType]:
    for file in pkgutil.iter_modules(room.__path__):
        yield import_module(f"{room.__name__}.{file.name}")


def _together(name: str, files: list[ModuleType]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for file in files:
        table = getattr(file, name, {})
        if twice := found.keys() & table.keys():
            raise ValueError(f"{file.__name__}.{name}: another file has {sorted(map(str, twice))}")
        found |= table
    return found
