"""The files of a project, by content: what git tracks or would add; without git, all in the working folder."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import ExporterError
from exporter.base.files import ASIDE, TEMPORARY, replace_bytes, sha256_bytes, sha256_file
from exporter.base.git import git_output

#: A project of more files is not looked through: nothing of it is reused.
MOST_FILES = 100_000
#: Folders of tools, which hold nothing of a project.
_OF_TOOLS = frozenset(".git .hg .svn __pycache__ node_modules .mypy_cache .ruff_cache .pytest_cache .tox .nox".split())
#: A file that changed less than so many nanoseconds ago may change again without another time.
_RACY = 2_000_000_000
#: Size, times of the last changes of content and of inode (ns), and inode: who changes a file changes one of them.
_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True)
class Project:
    """Files by their paths, as seen from the working folder (`../x` above it), with a digest and a stamp of each."""

    digests: Mapping[str, str]
    stamps: Mapping[str, _Stamp | None]

    def changed(self, paths: Iterable[str]) -> str:
        """Name the first of these files that is not as it was when the project was looked through, if any."""
        return next((path for path in paths if stamp_of(path) != self.stamps[path]), "")


class TooLargeError(Exception):
    """A project has more files than are looked through."""


def look_through(without: Iterable[Path], index: Path) -> Project:
    """Return the files of the project around the working folder, but for what lies below the paths `without`.

    `index` keeps the digests of files whose size, times and inode are what they were, as git's own index does.

    Raises:
        TooLargeError: there are more than `MOST_FILES`.
    """
    leave = tuple(f"{path.absolute()}{os.sep}" for path in without)
    here, before, after = f"{Path.cwd()}{os.sep}", _read_index(index), dict[str, tuple[_Stamp, str]]()
    digests, stamps = dict[str, str](), dict[str, _Stamp | None]()
    for path in _listed(Path.cwd()):
        if f"{path}{os.sep}".startswith(leave):
            continue
        if len(digests) == MOST_FILES:
            raise TooLargeError
        stamp, (known, digest) = stamp_of(path), before.get(path, (None, ""))
        if known != stamp or known is None:
            digest = content_of(path)
        name = path[len(here) :] if path.startswith(here) else os.path.relpath(path)
        digests[name], stamps[name] = digest, stamp
        if stamp is not None and stamp[2] < time.time_ns() - _RACY and not os.path.islink(path):  # noqa: PTH114
            after[path] = (stamp, digest)
    if after.items() - before.items():
        there = {path: about for path, about in {**before, **after}.items() if os.path.exists(path)}  # noqa: PTH110
        content = {path: [*stamp, digest] for path, (stamp, digest) in there.items()}
        with contextlib.suppress(OSError, ExporterError):
            replace_bytes(index, json.dumps(content).encode())  # in ASCII, since a name may be of any bytes
    return Project(digests, stamps)


def _listed(here: Path) -> Iterable[str]:
    """Return the absolute paths of the project, each once, in order."""
    top = git_output(here, "rev-parse", "--show-toplevel")
    return walk(str(here)) if top is None else sorted(set(_tracked(Path(top.removesuffix("\n")))))


def _tracked(top: Path) -> Iterator[str]:
    """Yield what git tracks in a repository or would add to it, and in the repositories inside it."""
    names = git_output(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if names is None:  # it will not say: then all that lies there counts
        yield from walk(str(top))
        return
    for name in filter(None, names.split("\0")):
        path = os.path.join(top, name)  # noqa: PTH118 - of many
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
            yield from _tracked(Path(path)) if Path(path, ".git").exists() else walk(path)
        else:
            yield path


def walk(folder: str) -> Iterator[str]:
    """Yield every file below a folder but drafts, virtual environments and folders of tools; follow no links."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name in _OF_TOOLS or entry.name.startswith((TEMPORARY, ASIDE)):
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield entry.path
            elif not os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):  # noqa: PTH110, PTH118
                yield from walk(entry.path)


def digest_of(digests: Mapping[str, str]) -> str:
    """Return one digest of files by their paths."""
    return sha256_bytes(json.dumps(sorted(digests.items())).encode())


def digest_below(folder: str) -> str:
    """Return one digest of a file, or of every file below a folder."""
    return digest_of({path[len(folder) :]: content_of(path) for path in walk(folder)} or {"": content_of(folder)})


def content_of(path: str) -> str:
    """Return a digest of a regular file, of a link with where it leads; empty for what cannot be read."""
    link = ""
    with contextlib.suppress(OSError, ExporterError):
        if os.path.islink(path):  # noqa: PTH114
            link = f"link to {os.readlink(path)} "  # noqa: PTH115
        if os.path.isfile(path):  # noqa: PTH113
            return link + sha256_file(Path(path))
    return link


def stamp_of(path: str) -> _Stamp | None:
    """Return None where nothing is, and for a link the stamp of the file that it leads to."""
    with contextlib.suppress(OSError):
        about = os.stat(path)  # noqa: PTH116
        return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino
    return None


def _read_index(path: Path) -> dict[str, tuple[_Stamp, str]]:
    """Read an index; one that cannot be read is empty, and each file is read then."""
    try:
        content = json.loads(path.read_bytes())
        return {name: ((int(a), int(b), int(c), int(d)), str(digest)) for name, (a, b, c, d, digest) in content.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
