"""What a bundle was made with: every module that was imported, with its digest, and every package behind them.

The digest of a module of an installed package is the one that the package's own RECORD lists, which pip checked when it
installed it; it is computed where the file is not of the size that RECORD says, or not listed. All others are computed.
"""

from __future__ import annotations

import base64
import csv
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from exporter.distribution import NAME
from exporter.errors import UsageError
from exporter.files import sha256_file


@dataclass(frozen=True)
class Package:
    """An installed package: which of its modules were imported (path -> sha256), and which packages it requires."""

    name: str
    version: str
    modules: Mapping[str, str] = field(default_factory=dict)
    requires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Environment:
    """The code that made a bundle: files of no package (`sources`, with their places), Python's own, and packages.

    `exporter` is all of this package: which of it a child has loaded depends on what ran before in the same process.
    """

    sources: Mapping[str, str]
    places: tuple[Path, ...]
    python: Mapping[str, str]
    exporter: Mapping[str, str]
    packages: tuple[Package, ...]


def environment(modules: Mapping[str, str], engines: Iterable[str] = ()) -> Environment:
    """Sort the modules that a child has loaded by what they belong to, and find the packages behind them.

    `engines` are packages that ran elsewhere: each counts, if it is installed.

    Paths are relative: to the folder that a module is imported from. What a child names and is no file is left out.
    """
    here = installed()
    sources: dict[str, str] = {}
    python: dict[str, str] = {}
    imported: dict[str, dict[str, str]] = {}
    places = []
    standard = tuple({f"{os.path.realpath(sysconfig.get_path(kind))}/" for kind in ("stdlib", "platstdlib")})
    for module, file in sorted(modules.items()):
        path = Path(os.path.realpath(file))
        if module.partition(".")[0] == "exporter" or not path.is_file():
            continue
        name = _below(module, Path(file))
        if str(path) in here.files:
            owner, digest, size = here.files[str(path)]
            imported.setdefault(owner, {})[name] = digest if path.stat().st_size == size else sha256_file(path)
        elif str(path).startswith(standard):
            python[name] = sha256_file(path)
        else:
            sources[name] = sha256_file(path)
            places.append(path)
    packages = tuple(
        Package(name, here.packages[name].version, imported.get(name, {}), here.requires[name])
        for name in sorted(here.closure({*imported, *map(_normal, engines), NAME}))
    )
    return Environment(sources, tuple(places), python, _own(), packages)


@dataclass(frozen=True)
class Installed:
    """The packages that can be imported, which of them each requires, and their files: package, sha256 and size."""

    packages: Mapping[str, Distribution]
    requires: Mapping[str, tuple[str, ...]]
    files: Mapping[str, tuple[str, str, int]]

    def closure(self, names: Iterable[str]) -> set[str]:
        """These packages, as far as they are installed, and every installed one that they require."""
        whole: set[str] = set()
        waiting = [name for name in names if name in self.packages]
        while waiting:
            name = waiting.pop()
            if name not in whole:
                whole.add(name)
                waiting += self.requires[name]
        return whole


def installed() -> Installed:
    """What can be imported. A process reads it once: it goes on with what it has, whatever is installed meanwhile."""
    return _installed(tuple(sys.path))


@lru_cache(maxsize=1)
def _installed(_path: tuple[str, ...]) -> Installed:
    packages = {_normal(one.metadata["Name"] or ""): one for one in reversed(list(distributions()))}
    requires = {name: tuple(sorted(set(_requires(one, packages)))) for name, one in packages.items()}
    files = {path: (name, *told) for name, one in packages.items() for path, told in _listed(one).items()}
    return Installed(packages, requires, files)


def _own() -> dict[str, str]:
    root = Path(__file__).parents[1]
    return {path.relative_to(root.parent).as_posix(): sha256_file(path) for path in sorted(root.rglob("*.py"))}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _below(module: str, path: Path) -> str:
    """A module's file below the folder that it is imported from: `recipes/digits.py`."""
    depth = module.count(".") + 1 + (path.stem == "__init__")
    return path.name if module == "__main__" else "/".join(path.parts[-depth:])


def _listed(installed: Distribution) -> dict[str, tuple[str, int]]:
    """The files of a package as its RECORD lists them: where each lies -> its sha256 (hex) and its size."""
    base = os.path.realpath(str(installed.locate_file("")))
    rows = csv.reader((installed.read_text("RECORD") or "").splitlines())
    found = {}
    for row in rows:
        if len(row) == 3 and row[1].startswith("sha256=") and row[2].isdigit():
            code = row[1].removeprefix("sha256=")
            found[f"{base.rstrip('/')}/{row[0]}"] = (base64.urlsafe_b64decode(f"{code}=").hex(), int(row[2]))
    return found


def _requires(one: Distribution, installed: Mapping[str, Distribution]) -> Iterator[str]:
    for line in one.requires or ():
        try:
            need = Requirement(line)
        except InvalidRequirement:
            continue
        # Extras are not recorded: what an extra brings counts where it was imported.
        name = _normal(need.name)
        if name in installed and (need.marker is None or need.marker.evaluate({"extra": ""})):
            yield name


def digest_where_known(name: str) -> str:
    """The sha256 of a file that a spec names; empty where it is not at hand."""
    try:
        return sha256_file(Path(name))
    except (OSError, UsageError):
        return ""
