"""The working folder as one object: what a node of a cluster gets, and what it gives back."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from exporter.base.errors import UsageError
from exporter.base.files import TEMPORARY, remove, replace_folder, sibling
from exporter.gate.project import walk
from exporter.process.scratch import scratch
from exporter.train.document import RUN
from exporter.weights.prune.run import PLAN

#: Bytes of a working folder that are sent: a cluster keeps them in shared memory.
MOST_BYTES = 2_000_000_000
#: Below these folders of the working folder a release leaves what it makes, besides its bundles.
RUNS = Path("runs")

#: For each file its size and the time of its last change.
Files: TypeAlias = Mapping[str, tuple[int, int]]


def packed(folder: Path, without: Collection[Path] = ()) -> bytes:
    """Return a tar of the files of a folder, but for those of tools, virtual environments, drafts and `without`.

    Of a repository the commit is sent, without its history: a bundle names it.

    Raises:
        UsageError: it is larger than a cluster should be sent.
    """
    content, size, top = io.BytesIO(), 0, folder.absolute()
    leave = tuple(f"{path.absolute()}{os.sep}" for path in without)
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in map(Path, walk(str(top))):
            if f"{path}{os.sep}".startswith(leave) or not (path.is_file() or path.is_symlink()):
                continue
            if (size := size + path.lstat().st_size) > MOST_BYTES:
                hint = "put large data on a path that every node has, or run from a smaller folder"
                what = f"the working folder has more than {MOST_BYTES / 1e9:g} GB to send to the cluster"
                raise UsageError(what, where=str(path), hint=hint)
            archive.add(path, path.relative_to(top), filter=_of_nobody)
        with scratch() as place:
            if (git := _commit_of(folder, place / "clone")) is not None:
                archive.add(git, ".git", filter=_of_nobody)
    return content.getvalue()


def unpacked(content: bytes, into: Path) -> None:
    """Lay the files of :func:`packed` into a new folder; raises tarfile.TarError where one would lie outside it."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        if hasattr(tarfile, "tar_filter"):
            archive.extractall(into, filter="tar")
        else:
            archive.extractall(into, _inside(archive, into.resolve()))  # noqa: S202 - looked at there


def _inside(archive: tarfile.TarFile, root: Path) -> Iterator[tarfile.TarInfo]:
    """What the filter `tar` lets through, for Pythons before 3.10.12 and 3.11.4 (Debian 12 has 3.11.2), which lack it.

    Each member is looked at when its turn comes: an earlier one may be a link that leads outside.
    """
    for about in archive:
        about.name = about.name.lstrip("/")
        if not (root / about.name).resolve().is_relative_to(root):
            raise tarfile.TarError(f"{about.name} would lie outside of {root}")
        about.mode &= 0o755
        yield about


def files_below(folder: Path, places: Collection[Path]) -> Files:
    """The regular files below places in a folder, by their paths in it."""
    paths = (path for place in places for path in (folder / place).rglob("*"))
    stats = {path.relative_to(folder).as_posix(): path.stat() for path in paths if path.is_file()}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def changed(folder: Path, out: Path, before: Files) -> tuple[list[str], bytes]:
    """The bundles and runs that are new or others since `before`, by their paths; and a tar of them."""
    now = files_below(folder, (out, RUNS))
    names = [PurePosixPath(name) for name, about in now.items() if before.get(name) != about]
    units = sorted({_unit(name, PurePosixPath(out.as_posix())) for name in names if TEMPORARY not in str(name)})
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for unit in units:
            archive.add(folder / unit, unit, filter=_of_nobody)
    return units, content.getvalue()


def laid(content: bytes, units: Collection[str], folder: Path) -> None:
    """Put what :func:`changed` gave in its place, each bundle and each run at once."""
    with scratch() as place:
        unpacked(content, place)
        for unit in units:
            target = folder / unit
            with sibling(target) as draft:
                if (place / unit).is_dir():
                    shutil.copytree(place / unit, draft, symlinks=True)
                    replace_folder(draft, target)
                    remove(draft)  # the earlier one, now in exchange
                else:
                    shutil.copyfile(place / unit, draft)
                    draft.replace(target)


def _unit(name: PurePosixPath, out: PurePosixPath) -> str:
    """What is exchanged as a whole: a bundle; a run, or the folder of a pruned or rounded model; or a file."""
    if name.is_relative_to(out):
        return str(PurePosixPath(*name.parts[: len(out.parts) + 2]))
    whole = len(name.parts) > 2 and (name.parts[1].endswith((".pruned", ".qat")) or name.parts[2] in (RUN, PLAN))
    return str(PurePosixPath(*name.parts[: 2 if whole else 3]))


def _of_nobody(about: tarfile.TarInfo) -> tarfile.TarInfo:
    """Whoever unpacks it owns it: git trusts no repository of somebody else."""
    about.uid = about.gid = 0
    about.uname = about.gname = ""
    return about


def _commit_of(folder: Path, into: Path) -> Path | None:
    """A `.git` with the commit of a repository and nothing before it; None where the folder is none's top."""
    if not (folder / ".git").exists():
        return None
    url = folder.resolve().as_uri()
    for command in (
        ["git", "clone", "--quiet", "--depth", "1", "--no-checkout", url, str(into)],
        ["git", "-C", str(into), "read-tree", "HEAD"],
    ):
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError:
            return None
        if done.returncode:
            return None
    return into / ".git"
