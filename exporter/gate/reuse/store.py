"""A folder of files by their content, and of records by their key; safe under several writers, believed by content.

<folder>/objects/ab/<sha256>           a file
<folder>/records/<key>/<sha256>.json   a record, named by the digest of its own bytes

Everything is written beside its place and renamed, so that a reader sees it whole or not at all. What does not have the
digest that it is named by is thrown away. Nothing is locked: what somebody else removes meanwhile is not there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from exporter.base.errors import EnvironmentLacks, ExporterError, UsageError
from exporter.base.files import read_regular, replace_bytes, sha256_bytes, sha256_file, translated

T = TypeVar("T")
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
        for path in sorted(self._records(key).glob("*.json"), key=_used, reverse=True):
            if (content := self._checked(path)) is not None:
                yield content

    def find(self, key: str, judge: Callable[[Any], T | str], why: str) -> T | str:
        """Return what `judge` makes of the first record of a key that holds; else why the latest does not, or `why`."""
        for at, record in enumerate(self.records(key)):
            try:
                judged = judge(record)
            except (AttributeError, LookupError, TypeError, ValueError, ExporterError, OSError):
                continue  # a record of another make
            if not isinstance(judged, str):
                self.use(key, record)
                return judged
            why = why if at else judged
        return why

    def use(self, key: str, record: Any) -> None:
        """Say that a record is of use still, and the files that it names."""
        name = sha256_bytes(_written(record))
        for path in (self._records(key) / f"{name}.json", *map(self.object, record["objects"].values())):
            with contextlib.suppress(OSError):
                os.utime(path)

    def put(self, key: str, record: Any, files: Iterator[Path] | list[Path]) -> None:
        """Keep a record, and the files whose digests stand in it (`record["objects"]`).

        Raises:
            UsageError: the folder cannot be written to.
            EnvironmentLacks: the disk is full.
        """
        place, content = self._records(key), _written(record)
        try:
            with translated(self.folder):
                for path in files:
                    self._copied(path)
                replace_bytes(place / f"{sha256_bytes(content)}.json", content)
                for path in sorted(place.glob("*.json"), key=_used)[:-_MOST_OF_A_KEY]:
                    path.unlink(missing_ok=True)
        except (UsageError, EnvironmentLacks):
            if self.demanded:
                raise

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
        with contextlib.suppress(UsageError, ValueError, RecursionError):
            raw = read_regular(path, _MOST_RECORD)
            if sha256_bytes(raw) == path.stem:
                return json.loads(raw)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        return None

    def _copied(self, path: Path) -> None:
        digest = sha256_file(path)
        place = self.object(digest)
        if not place.is_file() or sha256_file(place) != digest:
            replace_bytes(place, path.read_bytes())


def _written(record: Any) -> bytes:
    """Return a record as it is kept: in ASCII, since the name of a file may be of any bytes."""
    return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()


def _used(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0
