"""A plugin is a file, found by its place; its name is the file's name.

A file ends in ``plugin: Engine = OnnxRuntime()``, so mypy checks the contract where it is written. Packages outside
add theirs by an entry point in the group ``exporter.<folder>``. Two plugins of one name are an error.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from exporter.errors import UsageError

T = TypeVar("T")


class Registry(Generic[T]):
    """The plugins of one folder (a package such as ``exporter.engines``), by name."""

    def __init__(self, package: str, noun: str) -> None:
        self.package = package
        self.noun = noun

    @cached_property
    def _places(self) -> dict[str, str | EntryPoint]:
        spec = importlib.util.find_spec(self.package)
        if spec is None or spec.submodule_search_locations is None:
            raise LookupError(f"{self.package} is not a package")
        places: dict[str, str | EntryPoint] = {
            module.name: f"{self.package}.{module.name}"
            for module in pkgutil.iter_modules(spec.submodule_search_locations)
            # A folder inside is no plugin: it holds another kind, as the precisions beside the formats.
            if not module.ispkg and not module.name.startswith("_") and module.name != "base"
        }
        for point in entry_points(group=self.package):
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
            close = difflib.get_close_matches(name, self.names(), n=1)
            known = ", ".join(self.names())
            hint = f"did you mean '{close[0]}'? known: {known}" if close else f"known: {known}"
            raise UsageError(f"unknown {self.noun} '{name}'", hint=hint)
        if isinstance(place, EntryPoint):
            return cast(T, place.load())
        return cast(T, importlib.import_module(place).plugin)

    def all(self) -> Iterator[tuple[str, T]]:
        """Yield every plugin with its name; imports them."""
        for name in self.names():
            yield name, self[name]
