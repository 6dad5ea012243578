"""A folder of files by their content, and of records by their key; safe under several writers, believed by content.

<folder>/objects/ab/<sha256>           a file
<folder>/records/<key>/<sha256>.json   a record, named by the digest of its own bytes

Everything is written beside its place and renamed, so that a reader sees it whole or not at all. What does not have the
digest that it is named by is thrown away. Nothing is locked: what somebody else removes meanwhile is not there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.base.bounded_json import parse_json
from exporter.base.errors import EnvironmentLacks, UsageError
from exporter.base.files import canonical_json, read_regular, replace_bytes, sha256_bytes, sha256_file, translated

#: Bytes of a record: of a report with a hundred thousand claims.
_MOST_RECORD = 256 << 20
#: Of one key so many records are kept, for as many branches of a project.
_MOST_OF_A_KEY = 16
#: What a writer that was killed has left is removed after so many seconds.
_LEFT = 3600.0


@dataclass(frozen=True)
class Store:
    """A cache in `folder`, which is made where it is not there, of at most so many bytes.

    One that nobody has asked for (`demanded`) keeps nothing where it cannot be written.
    """

    folder: Path
    most: int = 4 << 30
    demanded: bool = True

    def records(self, key: str) -> Iterator[Any]:
        """The records of a key, the one that was used last first."""
        found = [(_used(path), path) for path in self._records(key).glob("*.json")]
        for _, path in sorted(found, reverse=True):
            content = self._checked(path)
            if content is not None:
                yield content

    def use(self, key: str, record: Any) -> None:
        """Say that a record is of use still, and the files that it names."""
        for path in (self._records(key) / f"{_name(record)}.json", *map(self.object, _objects(record))):
            with contextlib.suppress(OSError):
                os.utime(path)

    def put(self, key: str, record: Any, files: Iterator[Path] | list[Path]) -> None:
        """Keep a record, and the files whose digests stand in it (`record["objects"]`).

        Raises:
            UsageError: the folder cannot be written to.
            EnvironmentLacks: the disk is full.
        """
        try:
            self._put(key, record, files)
        except (UsageError, EnvironmentLacks):
            if self.demanded:
                raise

    def _put(self, key: str, record: Any, files: Iterator[Path] | list[Path]) -> None:
        with translated(self.folder):
            for path in files:
                self._copied(path)
            content = canonical_json(record)
            place = self._records(key)
            replace_bytes(place / f"{sha256_bytes(content)}.json", content)
            for path in sorted(place.glob("*.json"), key=_used)[:-_MOST_OF_A_KEY]:
                path.unlink(missing_ok=True)

    def fetch(self, digest: str, into: Path) -> bool:
        """Copy a file to its place; False where it is not here, or is damaged."""
        source = self.object(digest)
        try:
            shutil.copyfile(source, into)
        except OSError:
            return False
        if sha256_file(into) == digest:
            return True
        source.unlink(missing_ok=True)
        return False

    def shrink(self) -> None:
        """Remove what was not used for longest until the rest fits."""
        found = []
        for path in self.folder.rglob("*"):
            with contextlib.suppress(OSError):
                fact = path.lstat()
                if path.is_file():
                    found.append((fact.st_mtime, fact.st_size, path))
        newest = max((used for used, _, _ in found), default=0.0)
        total = sum(size for _, size, _ in found)
        for used, size, path in sorted(found, key=lambda one: one[:2]):
            if total > self.most or (path.name.startswith(".") and used < newest - _LEFT):
                with contextlib.suppress(OSError):
                    path.unlink()
                    total -= size

    def object(self, digest: str) -> Path:
        """Where the file of this digest lies."""
        return self.folder / "objects" / digest[:2] / digest

    def _records(self, key: str) -> Path:
        return self.folder / "records" / key

    def _checked(self, path: Path) -> Any:
        """A record; None for what is none, which is thrown away."""
        try:
            raw = read_regular(path, _MOST_RECORD)
            if sha256_bytes(raw) == path.stem:
                return parse_json(raw)
        except (UsageError, ValueError):
            pass
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        return None

    def _copied(self, path: Path) -> None:
        digest = sha256_file(path)
        place = self.object(digest)
        if not place.is_file() or sha256_file(place) != digest:
            replace_bytes(place, path.read_bytes())


def _name(record: Any) -> str:
    return sha256_bytes(canonical_json(record))


def _objects(record: Any) -> list[str]:
    return list(record["objects"].values())


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
