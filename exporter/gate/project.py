"""The files of a project, by content: what git tracks or would add; without git, all in the working folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from exporter.base.bounded_json import parse_json
from exporter.base.errors import ExporterError
from exporter.base.files import ASIDE, TEMPORARY, canonical_json, replace_bytes, sha256_bytes, sha256_file
from exporter.base.git import git_output

#: A project of more files is not looked through: nothing of it is reused.
MOST_FILES = 100_000
#: Folders of tools, which no git names where there is no repository.
_OF_TOOLS = frozenset(
    (".git", ".hg", ".svn", "__pycache__", "node_modules", ".mypy_cache", ".ruff_cache", ".tox", ".nox")
)
#: A file that changed less than so many nanoseconds ago may change again without another time.
_RACY = 2_000_000_000
#: Size, times of the last changes of content and of inode (ns), and inode: who changes a file changes one of them.
_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class Project:
    """Files by their paths, as seen from the working folder (`../x` above it), with a digest and a stamp of each."""

    digests: Mapping[str, str]
    stamps: Mapping[str, _Stamp | None]

    @cached_property
    def digest(self) -> str:
        """Return one digest of all of them."""
        return digest_of(self.digests)

    def changed(self, paths: Iterable[str]) -> str:
        """Name the first of these files that is not as it was when the project was looked through, if any."""
        return next((path for path in paths if _stamp(path) != self.stamps[path]), "")


class TooLargeError(Exception):
    """A project has more files than are looked through."""


def digest_of(digests: Mapping[str, str]) -> str:
    """Return one digest of files by their paths."""
    return sha256_bytes(canonical_json(sorted(digests.items())))


def look_through(without: Iterable[Path], index: Path) -> Project:
    """Return the files of the project around the working folder, but for what lies below the paths `without`.

    `index` keeps the digests of files whose size, times and inode are what they were, as git's own index does.

    Raises:
        TooLargeError: there are more than `MOST_FILES`.
    """
    leave = tuple(f"{path.absolute()}{os.sep}" for path in without)
    here, before, kept = Path.cwd(), _read_index(index), dict[str, tuple[_Stamp, str]]()
    digests, stamps, new = dict[str, str](), dict[str, _Stamp | None](), False
    for path in _listed(here):
        if f"{path}{os.sep}".startswith(leave):
            continue
        if len(digests) == MOST_FILES:
            raise TooLargeError
        name, stamp = os.path.relpath(path, here), _stamp(path)
        known = before.get(path)
        if known is None or known[0] != stamp:
            digest, new = _content(path), True
        else:
            digest = known[1]
        digests[name], stamps[name] = digest, stamp
        if stamp is not None and stamp[2] < time.time_ns() - _RACY and not os.path.islink(path):  # noqa: PTH114
            kept[path] = (stamp, digest)
    if new:
        _write_index(index, {**before, **kept})
    return Project(digests, stamps)


def _listed(here: Path) -> Iterator[str]:
    """Yield the absolute paths of the project, each once, in order."""
    top = git_output(here, "rev-parse", "--show-toplevel")
    if top is None:
        yield from _walk(str(here))
    else:
        yield from sorted(set(_tracked(Path(top.removesuffix("\n")))))


def _tracked(top: Path) -> Iterator[str]:
    """Yield what git tracks in a repository or would add to it, and in the repositories inside it."""
    names = git_output(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if names is None:  # it will not say: then all that lies there counts
        yield from _walk(str(top))
        return
    for name in filter(None, names.split("\0")):
        path = os.path.join(top, name)  # noqa: PTH118 - of many
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
            inner = Path(path)
            yield from _tracked(inner) if (inner / ".git").exists() else _walk(path)
        else:
            yield path


def _walk(folder: str) -> Iterator[str]:
    """Yield every file below a folder but drafts, virtual environments and folders of tools; follow no links."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name in _OF_TOOLS or entry.name.startswith((TEMPORARY, ASIDE)):
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield entry.path
            elif not os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):  # noqa: PTH110, PTH118
                yield from _walk(entry.path)


def _content(path: str) -> str:
    """Return a digest of a regular file, of a link with where it leads; empty for what cannot be read."""
    link = ""
    with contextlib.suppress(OSError, ExporterError):
        if os.path.islink(path):  # noqa: PTH114
            link = f"link to {os.readlink(path)} "  # noqa: PTH115
        if os.path.isfile(path):  # noqa: PTH113
            return link + sha256_file(Path(path))
    return link


def _stamp(path: str) -> _Stamp | None:
    """Return None where nothing is, and for a link the stamp of the file that it leads to."""
    try:
        about = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino


def _read_index(path: Path) -> dict[str, tuple[_Stamp, str]]:
    """Read an index; one that cannot be read is empty, and each file is read then."""
    try:
        content = parse_json(path.read_bytes())
        return {name: ((int(a), int(b), int(c), int(d)), str(digest)) for name, (a, b, c, d, digest) in content.items()}
    except (OSError, ValueError, TypeError, AttributeError, ExporterError):
        return {}


def _write_index(path: Path, index: Mapping[str, tuple[_Stamp, str]]) -> None:
    content = {name: [*stamp, digest] for name, (stamp, digest) in index.items() if os.path.exists(name)}  # noqa: PTH110
    with contextlib.suppress(OSError, ExporterError):
        replace_bytes(path, canonical_json(content))
