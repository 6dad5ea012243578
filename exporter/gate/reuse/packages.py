"""The installed packages by content: their records of files, and the files themselves where nobody recorded them."""

from __future__ import annotations

import hashlib
import os
import site
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from exporter.base.bounded_json import parse_json

#: This package as it is installed: its code counts by itself, wherever it was imported from.
_OURS = "paddle_exporter"
#: Code and data of a package that was installed in place, and nothing of tools.
_NO_CODE = frozenset(("__pycache__", ".git", "node_modules", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox"))


@cache
def packages() -> dict[str, str]:
    """Return for each package a digest of its RECORD, and for what is in none a digest of its files."""
    digests, own = dict[str, str](), set[str]()
    for place in _places():
        recorded, loose = set[str](), list[Path]()
        for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
            if entry.name.endswith((".dist-info", ".egg-info")):
                name, record = _name(entry.name), Path(entry.path, "RECORD")
                recorded.add(entry.name)
                if record.is_file():
                    raw = record.read_bytes()
                    digests.setdefault(name, hashlib.sha256(raw).hexdigest())
                    recorded |= {_top(line) for line in raw.decode("utf-8", "replace").splitlines()}
                own |= _in_place(Path(entry.path)) if name.partition(" ")[0] != _OURS else set()
            elif entry.name != "__pycache__":
                loose.append(Path(entry.path))
        for path in loose:
            if path.name not in recorded:
                digests[f"{path.name} in {place}"] = _digest(path)
    for folder in sorted(own):
        digests[folder] = _digest(Path(folder))
    return dict(sorted(digests.items()))


def _top(line: str) -> str:
    """Return the first part of a path in a RECORD."""
    return line.partition("/")[0].partition(",")[0]


def _places() -> list[str]:
    """List the folders of installed packages; not sys.path, where setuptools puts one of its own when imported."""
    asked = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    named = [path for path in asked if any(Path(path).glob("*.dist-info"))]
    named += [*site.getsitepackages(), site.getusersitepackages()]
    places = [*named, *(path for place in named for path in _linked(Path(place)))]
    return [path for path in dict.fromkeys(places) if os.path.isdir(path)]  # noqa: PTH112 - of many


def _linked(place: Path) -> Iterator[str]:
    """Yield folders of packages that `.pth` files add; others hold code of a project, which counts with it."""
    for path in sorted(place.glob("*.pth")):
        for line in path.read_text("utf-8", "replace").splitlines():
            folder = place / line.strip()
            if line.strip() and not line.startswith(("import", "#")) and any(folder.glob("*.dist-info")):
                yield str(folder)


def _in_place(info: Path) -> set[str]:
    """Return the folder of a package that was installed in place, as its installer wrote it down."""
    try:
        about = parse_json((info / "direct_url.json").read_bytes())
        url, edits = str(about["url"]), bool(about.get("dir_info", {}).get("editable"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return set()
    folder = url.removeprefix("file://")
    known = any(path.is_relative_to(folder) for path in (Path.cwd(), Path(__file__)))  # a project counts by its files
    return {folder} if edits and url.startswith("file://") and not known else set()


def _name(folder: str) -> str:
    """Return `name 1.0` of `name-1.0.dist-info`."""
    return folder.rpartition(".")[0].replace("-", " ", 1)


def _digest(path: Path) -> str:
    """Return a digest of a file, or of each file below a folder."""
    hashed = hashlib.sha256()
    for file in [path] if path.is_file() else _files(path):
        hashed.update(f"{file.relative_to(path)}\0".encode(errors="replace"))
        try:
            hashed.update(hashlib.sha256(file.read_bytes()).digest())
        except OSError:
            continue
    return hashed.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for where, inner, names in os.walk(folder):
        inner[:] = sorted(
            name for name in inner if name not in _NO_CODE and not Path(where, name, "pyvenv.cfg").exists()
        )
        yield from (Path(where, name) for name in sorted(names) if Path(where, name).is_file())
