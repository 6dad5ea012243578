"""What was seen while something was made, as it is kept: by content; and whether it is still so."""

from __future__ import annotations

import glob
import os
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """Digests of files, of the names in folders and by patterns, paths where something or nothing lay, and variables.

    Where a folder was listed, the folders of results (`made`) do not count. Paths below the working folder are relative
    to it, so that another checkout finds the same. `hidden` may have read more, for which the patterns answer.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    present: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    variables: Mapping[str, str | None] = field(default_factory=dict)
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
        yield from (f"{name} is gone" for name in self.present if not os.path.lexists(name))
        yield from (f"{name} is there now" for name in self.missing if os.path.lexists(name))
        for name, digest in self.folders.items():
            if _listing(Path(name), self.made) != digest:
                yield f"other files lie in {name}"
        for pattern, digest in self.patterns.items():
            if _digest_of_names(_named(pattern)) != digest:
                yield f"'{pattern}' names other files"
        for name, value in self.variables.items():
            if os.environ.get(name) != value:
                yield f"the variable {name} is {os.environ.get(name, 'not set')}, and was {value or 'not set'}"


def depends(seen: Seen, made: Iterable[Path], named: Iterable[str] = ()) -> Depends:
    """What was seen but for what lies below `made`, belongs to the installation, or was there for a while only.

    A file of the project that was asked about counts as read: compiled code opens what Python has looked for. Files of
    the patterns `named` count in any case.
    """
    patterns = {pattern: _named(pattern) for pattern in named}
    results = tuple(sorted({str(path.absolute()) for path in made}))
    leave = (*_KERNEL, *_installed(), *(f"{path}/" for path in results), f"{tempfile.gettempdir()}/exporter-run-")
    read = [path for path in sorted(seen.read) if not path.startswith(leave)]
    read += [os.path.abspath(path) for paths in patterns.values() for path in paths]  # noqa: PTH100 - no link is followed
    folders = [path for path in sorted(seen.listed) if not f"{path}/".startswith(leave)]
    met, missed = (
        [path for path in sorted(paths) if path.startswith(_here()) and not f"{path}/".startswith(leave)]
        for paths in (seen.met, seen.missed)
    )
    own = tuple(map(_short, results))
    return Depends(
        {_short(path): digest for path in (*read, *met) if (digest := _digest(Path(path)))},
        {_short(path): digest for path in folders if (digest := _listing(Path(path), own))},
        tuple(_short(path) for path in met if os.path.lexists(path)),
        tuple(_short(path) for path in missed if not os.path.lexists(path)),
        {name: value for name, value in sorted(seen.variables.items()) if os.environ.get(name) == value},
        own,
        {pattern: _digest_of_names(paths) for pattern, paths in patterns.items()},
        tuple(sorted(seen.hidden)),
    )


def too_little_seen(seen: Seen, named: Sequence[str]) -> str:
    """Why nobody knows what was read, in words; empty where it is known, or the spec's patterns name it."""
    if seen.blind:
        return "a child did not tell what it read"
    return not_seen(seen.hidden) if seen.hidden and not named else ""


def excused(found: Depends) -> str:
    """What the spec's `depends` was believed for, in words; empty where it was not needed."""
    return f"its `depends` answers for what {listing(found.hidden)} may have read" if found.hidden else ""


def read_depends(content: Any) -> Depends:
    """From JSON; raises ValueError or LookupError where it is none."""
    maps = [dict(content[name]) for name in ("files", "folders", "patterns", "variables")]
    lists = [tuple(content[name]) for name in ("present", "missing", "made", "hidden")]
    texts = [one for names in lists for one in names] + [
        one for pairs in maps for pair in pairs.items() for one in pair
    ]
    if not all(isinstance(one, str) or one is None for one in texts):
        raise ValueError("not what was seen")
    (files, folders, patterns, variables), (present, missing, made, hidden) = maps, lists
    return Depends(files, folders, present, missing, variables, made, patterns, hidden)


def changed_since(moment: int, found: Depends) -> str:
    """The first file that changed after a moment (ns): nobody knows whether it was read before or after."""
    return next((name for name in found.files if Path(name).stat().st_ctime_ns >= moment), "")


@cache
def _installed() -> tuple[str, ...]:
    """Where packages and the standard library lie, whose versions stand for them; and this package."""
    places = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")}
    places |= {os.path.dirname(os.__file__), str(Path(__file__).parents[2])}  # noqa: PTH120
    resolved = {str(Path(place).resolve()) for place in places}
    return tuple(f"{place}/" for place in sorted(places | resolved))


def _here() -> str:
    return f"{Path.cwd()}/"


def _short(path: str) -> str:
    """Relative to the working folder where it lies there."""
    return path.removeprefix(_here()) or "."


def _digest(path: Path) -> str:
    """Of a regular file; empty for what is none or cannot be read."""
    try:
        return sha256_file(path) if path.is_file() and "__pycache__" not in path.parts else ""
    except (OSError, ExporterError):
        return ""


def _listing(path: Path, made: Iterable[str]) -> str:
    """Of the names in a folder, without the folders of results and drafts; empty where there is none."""
    folder = path.absolute()
    inside = (Path(one).absolute() for one in made)
    own = {part for one in inside if one.is_relative_to(folder) for part in one.relative_to(folder).parts[:1]}
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
