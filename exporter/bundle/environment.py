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
from functools import cache, lru_cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

from exporter.base.distribution import NAME
from exporter.base.errors import UsageError
from exporter.base.files import sha256_file

#: The name with which a requirement begins (PEP 508), and nothing that could be more of it.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?![\w.-])")


@dataclass(frozen=True)
class Package:
    """An installed package: which of its modules were imported (path -> sha256), and which packages it requires."""

    name: str
    version: str
    modules: Mapping[str, str] = field(default_factory=dict)
    requires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Environment:
    """The code that made a bundle: files of no package (`sources`, with their places), and packages.

    `exporter` is all of this package: which of it a child has loaded depends on what ran before in the same process.
    """

    sources: Mapping[str, str]
    places: tuple[Path, ...]
    exporter: Mapping[str, str]
    packages: tuple[Package, ...]


def environment(modules: Mapping[str, str], engines: Iterable[str] = ()) -> Environment:
    """Sort the modules that a child has loaded by what they belong to, and find the packages behind them.

    `engines` are packages that ran elsewhere: each counts, if it is installed.

    Paths are relative: to the folder that a module is imported from. What a child names and is no file is left out.
    """
    here = installed()
    sources: dict[str, str] = {}
    imported: dict[str, dict[str, str]] = {}
    places = []
    standard = tuple({f"{os.path.realpath(sysconfig.get_path(kind))}/" for kind in ("stdlib", "platstdlib")})
    for module, file in sorted(modules.items()):
        path = _real(file)
        if module.partition(".")[0] == "exporter" or not path.is_file():
            continue
        name = _below(module, Path(file))
        if owned := here.file(str(path)):
            owner, digest, size = owned
            imported.setdefault(owner, {})[name] = digest if path.stat().st_size == size else sha256_file(path)
        elif not str(path).startswith(standard):
            sources[name] = sha256_file(path)
            places.append(path)
    packages = tuple(
        Package(name, here.packages[name].version, imported.get(name, {}), here.requires(name))
        for name in sorted(here.closure({*imported, *map(_normal, engines), NAME}))
    )
    return Environment(sources, tuple(places), _own(), packages)


@dataclass(frozen=True)
class Metadata:
    """What a package says of itself; `requires` are requirements with their markers."""

    name: str
    version: str
    requires: tuple[str, ...]


@dataclass(frozen=True)
class Installed:
    """What the packages that can be imported say of themselves; of each file the package and its line in RECORD."""

    packages: Mapping[str, Metadata]
    records: Mapping[str, tuple[str, str]]
    _required: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def file(self, path: str) -> tuple[str, str, int] | None:
        """The package of a file, and the sha256 and size that its RECORD lists; None if none lists them."""
        owner, line = self.records.get(path, ("", ""))
        for row in csv.reader([line]):
            if len(row) == 3 and row[1].startswith("sha256=") and row[2].isdigit():
                code = row[1].removeprefix("sha256=")
                return owner, base64.urlsafe_b64decode(f"{code}=").hex(), int(row[2])
        return None

    def closure(self, names: Iterable[str]) -> set[str]:
        """These packages, as far as they are installed, and every installed one that they require."""
        whole: set[str] = set()
        waiting = [name for name in names if name in self.packages]
        while waiting:
            name = waiting.pop()
            if name not in whole:
                whole.add(name)
                waiting += self.requires(name)
        return whole

    def requires(self, name: str) -> tuple[str, ...]:
        """The installed packages that one requires. What an extra of it brings counts where it is imported."""
        if name not in self._required:
            self._required[name] = tuple(sorted(set(self._requires(name))))
        return self._required[name]

    def _requires(self, name: str) -> Iterator[str]:
        from packaging.requirements import InvalidRequirement, Requirement  # only who releases asks, and it takes 40 ms

        for line in self.packages[name].requires:
            named = _NAME.match(line)
            if named and _normal(named[0]) not in self.packages:  # most are of extras, and parsing takes its time
                continue
            try:
                need = Requirement(line)
            except InvalidRequirement:
                continue
            other = _normal(need.name)
            if other in self.packages and (need.marker is None or need.marker.evaluate({"extra": ""})):
                yield other


def installed() -> Installed:
    """Return the packages that can be imported, read once in a process, whatever is installed meanwhile."""
    return _installed(tuple(sys.path))


@lru_cache(maxsize=1)
def _installed(_path: tuple[str, ...]) -> Installed:
    found = {_normal(said.name): (said, one) for one in reversed(list(distributions())) if (said := _said(one)).name}
    records = {path: (name, line) for name, (_, one) in found.items() for path, line in _listed(one)}
    return Installed({name: said for name, (said, _) in found.items()}, records)


def _said(package: Distribution) -> Metadata:
    """The name and version of a package, and what it requires: each a line of its metadata."""
    lines = (package.read_text("METADATA") or package.read_text("PKG-INFO") or "").partition("\n\n")[0]
    said: dict[str, list[str]] = {}
    for line in re.sub(r"\n[ \t]+", " ", lines).splitlines():  # a long one goes on in the next
        key, _, value = line.partition(":")
        said.setdefault(key.lower(), []).append(value.strip())
    name, version = ((said.get(key) or [""])[0] for key in ("name", "version"))
    return Metadata(name, version, tuple(said.get("requires-dist", ())))


@cache
def _own() -> Mapping[str, str]:
    root = Path(__file__).parents[1]
    return {path.relative_to(root.parent).as_posix(): sha256_file(path) for path in sorted(root.rglob("*.py"))}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _real(file: str) -> Path:
    """Return the path of a file without links; the folder is resolved once for all its files."""
    folder, name = os.path.split(file)
    path = os.path.join(_real_folder(folder), name)  # noqa: PTH118  # Path would cost more than the look
    return Path(os.path.realpath(path) if os.path.islink(path) else path)  # noqa: PTH114


@lru_cache(maxsize=1024)
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder)


def _below(module: str, path: Path) -> str:
    """A module's file below the folder that it is imported from: `recipes/digits.py`."""
    depth = module.count(".") + 1 + (path.stem == "__init__")
    return path.name if module == "__main__" else "/".join(path.parts[-depth:])


def _listed(installed: Distribution) -> Iterator[tuple[str, str]]:
    """Yield the path of each file of a package, and its line in RECORD."""
    base = os.path.realpath(str(installed.locate_file(""))).rstrip("/")
    for line in (installed.read_text("RECORD") or "").splitlines():
        name = next(csv.reader([line]))[0] if line.startswith('"') else line.partition(",")[0]
        yield f"{base}/{name}", line


def digest_where_known(name: str) -> str:
    """The sha256 of a file that a spec names; empty where it is not at hand."""
    try:
        return sha256_file(Path(name))
    except (OSError, UsageError):
        return ""
