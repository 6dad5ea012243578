"""A plugin is a file in a folder `kinds/`, found by its place; its name is the file's name.

A file ends in ``plugin: Engine = OnnxRuntime()``, so mypy checks the contract where it is written; what needs more than
a file is a folder whose ``__init__.py`` ends so. Packages outside add theirs by an entry point in the group that is
called like the folder above, such as ``exporter.engines``. Two plugins of one name are an error.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from exporter.base.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


class Registry(Generic[T]):
    """The plugins of one package, such as ``exporter.engines``: the files in its folder ``kinds``, by name."""

    def __init__(self, package: str, noun: str) -> None:
        self.package = package
        self.noun = noun

    @cached_property
    def _places(self) -> dict[str, str | EntryPoint]:
        kinds, spec = f"{self.package}.kinds", None
        with suppress(ModuleNotFoundError):  # a module above it is no package
            spec = importlib.util.find_spec(kinds)
        if spec is None or spec.submodule_search_locations is None:
            raise LookupError(f"{kinds} is not a package")
        places: dict[str, str | EntryPoint] = {
            module.name: f"{kinds}.{module.name}"
            for module in pkgutil.iter_modules(spec.submodule_search_locations)
            if not module.name.startswith("_")
        }
        for point in _entry_points(self.package):
            if point.name in places:
                raise UsageError(
                    f"two plugins are called {self.noun} '{point.name}'",
                    where=point.value,
                    hint="uninstall one of them, or rename its entry point",
                )
            places[point.name] = point
        return dict(sorted(places.items()))

    def names(self) -> tuple[str, ...]:
        """Return every name, sorted, without importing a plugin."""
        return tuple(self._places)

    def __getitem__(self, name: str) -> T:
        """Import and return one plugin.

        Raises:
            UsageError: no plugin has that name; the hint says which is closest.
        """
        place = self._places.get(name)
        if place is None:
            raise UsageError(f"unknown {self.noun} '{name}'", hint=did_you_mean(name, self.names()))
        if isinstance(place, str):
            return cast(T, importlib.import_module(place).plugin)
        return cast(T, place.load())

    def all(self) -> Iterator[tuple[str, T]]:
        """Yield every plugin with its name; imports them."""
        for name in self.names():
            yield name, self[name]


def declared(group: str) -> tuple[str, ...]:
    """Return the names of the plugins that other packages declare for a group, sorted; imports nothing of theirs."""
    return tuple(sorted(point.name for point in _entry_points(group)))


def _entry_points(group: str) -> tuple[EntryPoint, ...]:
    """The plugins that installed packages declare; `importlib.metadata` is slow to load, so it is asked only then."""
    declared = _declared(tuple(sys.path))
    if declared is not None and f"[{group}]" not in declared:
        return ()
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


@lru_cache(maxsize=1)
def _declared(places: tuple[str, ...]) -> str | None:
    """All that installed packages declare, as text; None where a part of the path is no folder and cannot be read."""
    found = []
    for place in dict.fromkeys(places):
        folder = Path(place)
        if folder.is_dir():
            names = [name for name in os.listdir(folder) if name.endswith("-info")]  # noqa: PTH208 - as imports do
            files = [folder / name / "entry_points.txt" for name in names]
            found += [file.read_text(encoding="utf-8") for file in files if file.is_file()]
        elif folder.exists():
            return None
    return "\n".join(found)
