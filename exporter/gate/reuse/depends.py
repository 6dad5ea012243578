"""What was seen to be read beside what counts of a project, as it is kept: by content; and whether it is still so."""

from __future__ import annotations

import glob
import os
import sysconfig
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from exporter.base.errors import ExporterError
from exporter.base.files import TEMPORARY, sha256_bytes, sha256_file
from exporter.base.watch import Seen, listing, not_seen

_KERNEL = ("/proc", "/sys", "/dev")


@dataclass(frozen=True)
class Depends:
    """Digests of files, of the names in folders and by patterns.

    Where a folder was listed, the folders of results (`made`) do not count. Paths below the working folder are relative
    to it, so that another checkout finds the same. `hidden` may have read more, for which the patterns answer.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()

    def difference(self) -> str:
        """The first thing that is not as it was, in words; empty where all is."""
        return next(self._differences(), "")

    def _differences(self) -> Iterator[str]:
        for name, digest in self.files.items():
            if _digest(Path(name)) != digest:
                yield f"{name} {'changed' if os.path.lexists(name) else 'is gone'}"
        for name, digest in self.folders.items():
            if _listing(Path(name), self.made) != digest:
                yield f"other files lie in {name}"
        for pattern, digest in self.patterns.items():
            if _digest_of_names(_named(pattern)) != digest:
                yield f"'{pattern}' names other files"


def depends(seen: Seen, made: Iterable[Path], named: Iterable[str], counted: Collection[str]) -> Depends:
    """What was seen but for what lies below `made`, belongs to the installation, or is `counted` with the project.

    Files of the patterns `named` count in any case.
    """
    patterns = {pattern: _named(pattern) for pattern in named}
    results = tuple(sorted({str(path.absolute()) for path in made}))
    leave = (*_KERNEL, *_installed(), *(f"{path}/" for path in results), f"{tempfile.gettempdir()}/exporter-run-")
    read = [path for path in sorted(seen.read) if not path.startswith(leave)]
    read += [os.path.abspath(path) for paths in patterns.values() for path in paths]  # noqa: PTH100 - no link is followed
    folders = [path for path in sorted(seen.listed) if not f"{path}/".startswith(leave)]
    own = tuple(map(_short, results))
    return Depends(
        {
            _short(path): digest
            for path in read
            if os.path.relpath(path) not in counted and (digest := _digest(Path(path)))
        },
        {_short(path): digest for path in folders if (digest := _listing(Path(path), own))},
        own,
        {pattern: _digest_of_names(paths) for pattern, paths in patterns.items()},
        tuple(sorted(seen.hidden)),
    )


def too_little_seen(seen: Seen, named: Sequence[str]) -> str:
    """Why nobody knows what was read, in words; empty where it is known, or the spec's patterns name it."""
    if seen.blind:
        return "a child did not tell what it read"
    return not_seen(seen.hidden) if seen.hidden and not named else ""


def excused(known: Depends) -> str:
    """What the spec's `depends` was believed for, in words; empty where it was not needed."""
    return f"its `depends` answers for what {listing(known.hidden)} may have read" if known.hidden else ""


def read_depends(content: Any) -> Depends:
    """From JSON; raises ValueError or LookupError where it is none."""
    files, folders, patterns = (dict(content[name]) for name in ("files", "folders", "patterns"))
    made, hidden = (tuple(content[name]) for name in ("made", "hidden"))
    pairs = [text for pairs in (files, folders, patterns) for pair in pairs.items() for text in pair]
    if not all(isinstance(text, str) for text in (*made, *hidden, *pairs)):
        raise ValueError("not what was seen")
    return Depends(files, folders, made, patterns, hidden)


def changed_since(moment: int, known: Depends) -> str:
    """The first file that changed after a moment (ns): nobody knows whether it was read before or after."""
    return next((name for name in known.files if Path(name).stat().st_ctime_ns >= moment), "")


@cache
def _installed() -> tuple[str, ...]:
    """Where packages and the standard library lie, whose records stand for them; and this package."""
    places = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")}
    places |= {os.path.dirname(os.__file__), str(Path(__file__).parents[2])}  # noqa: PTH120
    resolved = {str(Path(place).resolve()) for place in places}
    return tuple(f"{place}/" for place in sorted(places | resolved))


def _short(path: str) -> str:
    """Relative to the working folder where it lies there."""
    return path.removeprefix(f"{Path.cwd()}/") or "."


def _digest(path: Path) -> str:
    """Of a regular file; empty for what is none or cannot be read."""
    try:
        return sha256_file(path) if path.is_file() and "__pycache__" not in path.parts else ""
    except (OSError, ExporterError):
        return ""


def _listing(path: Path, made: Iterable[str]) -> str:
    """Of the names in a folder, without the folders of results and drafts; empty where there is none."""
    folder = path.absolute()
    inside = (Path(result).absolute() for result in made)
    own = {part for result in inside if result.is_relative_to(folder) for part in result.relative_to(folder).parts[:1]}
    try:
        names = sorted(name for name in os.listdir(path) if name not in own and not name.startswith(TEMPORARY))  # noqa: PTH208
    except OSError:
        return ""
    return _digest_of_names(names)


def _named(pattern: str) -> list[str]:
    """The files of a pattern, in order."""
    return sorted(path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))  # noqa: PTH113, PTH207 - absolute ones too


def _digest_of_names(names: Iterable[str]) -> str:
    return sha256_bytes("\0".join(names).encode("utf-8", "surrogateescape"))
