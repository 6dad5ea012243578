"""The names by which a user's recipes import from us, wherever the modules lie: `exporter.recipe` is all of them.

A module has one identity under both names, so that a `Recipe` is the same class whoever made it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

#: The public name of a package -> where it lies.
PUBLIC = {"exporter.recipe": "exporter.spec.recipe"}


class _Alias:
    """A finder and loader that gives a module of ours under its public name."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return a spec for a public name, None for any other."""
        del path, target
        if _place(name) is None:
            return None
        return ModuleSpec(name, self, is_package=name in PUBLIC)  # type: ignore[arg-type]  # has what a loader needs

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module itself, imported by its own name."""
        module = importlib.import_module(_place(spec.name) or spec.name)
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing, since it has run: only its own spec is put back, which the import system has exchanged."""
        module.__spec__ = self._own


def _place(name: str) -> str | None:
    for public, own in PUBLIC.items():
        if name == public or name.startswith(f"{public}."):
            return own + name.removeprefix(public)
    return None


def offer() -> None:
    """Let Python find the public names; a second call changes nothing."""
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Alias())  # before the finder of files, to which the package shows its folder
