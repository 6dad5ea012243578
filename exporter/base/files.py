"""Writing so that nothing is ever half there: a temporary sibling, fsync, rename.

A reader sees the old content or the new, whatever interrupts the writer. Also hashing and safe relative paths.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import glob
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from exporter.base.errors import BundleError, EnvironmentLacks, ExporterError, UsageError

#: Prefix of temporary siblings; what bears it was left by a writer that died and may be deleted.
TEMPORARY = ".tmp-"
#: Prefix of a last good folder that had to step aside; nobody deletes it but the writer that moved it.
ASIDE = ".old-"
#: What the system says when a disk, a quota or a limit on file size is full.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: Bytes from which a file is looked through for holes, and how many pieces between holes are counted.
_LARGE, _PIECES = 64 << 20, 100_000


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn an `OSError` of writing to `path` into an error that says what to do."""
    try:
        yield
    except OSError as error:
        where = str(path)
        if error.errno in NO_ROOM:
            raise EnvironmentLacks(
                f"no room to write: {error.strerror}",
                where=where,
                hint="free space, or choose another folder with --out",
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise UsageError(
                f"cannot write here: {error.strerror}", where=where, hint="choose a folder you may write to with --out"
            ) from error
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG):
            raise UsageError(
                f"cannot write here: {error.strerror}", where=where, hint="choose another --out"
            ) from error
        raise


def fsync_path(path: Path) -> None:
    """Flush one file or folder entry to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fsync_tree(folder: Path) -> None:
    """Flush every file of a folder, and the folders themselves."""
    for path in sorted(folder.rglob("*")):
        fsync_path(path)
    fsync_path(folder)


@contextmanager
def sibling(path: Path) -> Iterator[Path]:
    """Yield a fresh temporary path beside `path`, removed afterwards if it is still there.

    What earlier writers of the same path left when they were killed is removed first.

    Raises:
        UsageError: the path is the working folder, the root or a parent, which cannot be replaced; or as `translated`.
        EnvironmentLacks: as `translated`.
    """
    if path.name in ("", ".."):
        raise UsageError("cannot be replaced by a bundle", where=str(path), hint="choose a new folder with --out")
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f"{TEMPORARY}{glob.escape(path.name)}-*"):
            if not _alive(left.name.rsplit("-", 2)[-2]):
                remove(left)
    temporary = path.with_name(f"{TEMPORARY}{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with translated(path):
            yield temporary
    finally:
        remove(temporary)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream to the file that a user named; what is written takes its place at once or not at all.

    A link stays, and the file that it leads to is replaced. A pipe, a device, and what `/dev/stdout` leads to cannot be
    replaced without harm: they are opened and written into.

    Raises:
        UsageError: it cannot be written to.
        EnvironmentLacks: the disk is full, or nobody reads the pipe to its end.
    """
    if is_stream(path):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC)
            with os.fdopen(handle, "wb") as stream:
                yield stream
        except OSError as error:
            kind = EnvironmentLacks if error.errno in (*NO_ROOM, errno.EPIPE) else UsageError
            what, hint = f"cannot be written to: {error.strerror}", "name a file"
            raise kind(what, where=str(path), hint=hint) from error
        return
    with _replaced(Path(os.path.realpath(path)) if path.is_symlink() else path) as stream:
        yield stream


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    with sibling(path) as temporary:
        with temporary.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        fsync_path(path.parent)


def is_stream(path: Path) -> bool:
    """Whether bytes go into what `path` names, and never in its place: it is there, and no file or folder of a disk."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    if not stat.S_ISREG(mode):
        return not stat.S_ISDIR(mode)
    while path.is_symlink():  # the system lists under /proc what a process has open
        if os.path.realpath(path.parent).startswith("/proc/"):
            return True
        path = path.parent / path.readlink()
    return False


def write_bytes(path: Path, content: bytes) -> None:
    """Write the file that a user named: as :func:`written`."""
    with written(path) as stream:
        stream.write(content)


def replace_bytes(path: Path, content: bytes) -> None:
    """Replace `path` by `content`, at once or not at all, and a link as well: where others write, it may lead anywhere.

    Raises:
        UsageError: the folder cannot be written to.
        EnvironmentLacks: the disk is full.
    """
    with _replaced(path) as stream:
        stream.write(content)


def write_draft(path: Path, *pieces: bytes | memoryview) -> None:
    """As :func:`replace_bytes`, in a folder that is flushed as a whole when it is finished (:func:`replace_folder`).

    A flush waits for the disk, and what is overwritten or thrown away needs none.
    """
    with sibling(path) as temporary:
        with temporary.open("wb") as stream:
            stream.writelines(pieces)
        temporary.replace(path)


@contextmanager
def room_explains(folder: Path) -> Iterator[None]:
    """When a block that writes into `folder` fails, see first whether the disk is full.

    Paddle's writers in C++ leave a truncated file and say nothing (3.3.1); what fails is whoever reads it again. So a
    file larger than any that was written is tried.

    Raises:
        EnvironmentLacks: in place of what the block raised, where there is no room for that file.
    """
    try:
        yield
    except (ExporterError, OSError, ValueError):
        largest = max((path.stat().st_size for path in folder.iterdir()), default=0)
        with sibling(folder / "room") as probe, probe.open("wb") as stream:
            stream.write(bytes(largest + (64 << 10)))
            os.fsync(stream.fileno())
        raise


def total_size(paths: Iterable[Path]) -> int:
    """Bytes of all these files together; one that is missing has none, which whoever reads it will say."""
    return sum(path.stat().st_size for path in paths if path.is_file())


def user_cache(name: str) -> Path:
    """A folder of ours in the user's cache, as the system wants it: `~/.cache/exporter/NAME`, or `XDG_CACHE_HOME`.

    Raises:
        EnvironmentLacks: the user has no home.
    """
    import platformdirs

    path = platformdirs.user_cache_path("exporter", appauthor=False) / name
    if not path.is_absolute():
        raise EnvironmentLacks("this user has no folder for caches", where=name, hint="set XDG_CACHE_HOME to a folder")
    return path


def write_json(path: Path, value: Any) -> None:
    """Replace `path` by the readable JSON of `value`: keys sorted, two spaces, one newline at the end."""
    replace_bytes(path, readable_json(value))


def readable_json(value: Any) -> bytes:
    """The one way we lay out JSON files; NaN and infinity are refused with a `ValueError`."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def canonical_json(value: Any) -> bytes:
    """The form whose sha256 is a digest: keys sorted, separators `,` and `:`, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def sha256_bytes(content: bytes) -> str:
    """Hex sha256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def sha256_file(path: Path) -> str:
    """Hex sha256 of a regular file, read in pieces; raises as :func:`open_regular`."""
    digest = hashlib.sha256()
    with open_regular(path) as (stream, size):
        while size > 0 and (piece := stream.read(min(1 << 20, size))):
            digest.update(piece)
            size -= len(piece)
    return digest.hexdigest()


@contextmanager
def open_regular(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open a file for reading, with the number of bytes that may be read of it.

    A pipe, a terminal and a device may never end, and so may a file of the kernel (`/proc/kmsg` is a regular file of
    0 bytes whose reader waits): nothing is opened in a way that waits, and no more is read than the size says.

    Raises:
        UsageError: it is no regular file.
        OSError: it is not there, or may not be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise UsageError("not a regular file", where=str(path), hint="name a file; copy what a pipe gives to one")
        yield stream, about.st_size


def is_mostly_hole(path: Path) -> bool:
    """Whether most of a large file takes no room on the disk: so a few bytes can be made to look like terabytes.

    Raises as :func:`open_regular`.
    """
    with open_regular(path) as (stream, size):
        if size < _LARGE or not hasattr(os, "SEEK_DATA"):
            return False
        data = position = 0
        for _ in range(_PIECES):
            try:
                start = os.lseek(stream.fileno(), position, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:  # this file system cannot tell
                    return False
                break  # nothing but a hole is left
            position = os.lseek(stream.fileno(), start, os.SEEK_HOLE)
            data += position - start
        return data < size // 4


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        UsageError: it is larger, is no regular file, is not there, or may not be read.
    """
    try:
        with open_regular(path) as (stream, size):
            if size > most:
                raise UsageError(
                    f"{size:,} bytes, and at most {most:,} are read here", where=str(path), hint="name another file"
                )
            return stream.read(size)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path), hint="name another file") from error


def safe_relative(name: str, where: str) -> PurePosixPath:
    """Return `name` as a path that stays below the folder it is read against.

    Raises:
        BundleError: it is absolute, climbs out, or is not in its plain form.
    """
    path = PurePosixPath(name)
    plain = path.as_posix() == name and "\\" not in name and "\0" not in name
    if not plain or path.is_absolute() or ".." in path.parts or not path.parts:
        raise BundleError(f"unsafe path {name!r}", where=where, hint="do not use this bundle; ask for a fresh one")
    return path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One process at a time decides what takes which place in a folder; the lock ends with the process.

    Of a file system that locks no folder (NFS: EBADF) nothing is asked.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP):
                raise
        yield
    finally:
        os.close(handle)


def place_folder(temporary: Path, final: Path) -> None:
    """Put a finished folder where nothing lies yet, all at once; the kernel refuses to rename onto what holds files.

    Raises:
        UsageError: something lies there (by now), or it is where another disk is mounted.
    """
    fsync_tree(temporary)
    try:
        temporary.rename(final)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise UsageError(
                "is there, and nothing is overwritten", where=str(final), hint="choose another --out"
            ) from error
        if error.errno in (errno.EBUSY, errno.EXDEV):
            raise UsageError("is a disk of its own", where=str(final), hint="choose a folder in it") from error
        raise
    fsync_path(final.parent)


def replace_folder(temporary: Path, final: Path) -> None:
    """Put a finished folder in the place of an earlier one, which a reader or a kill never finds missing.

    POSIX cannot rename a folder onto a full one, so the two are exchanged in one step (`renameat2`, Linux 3.15).
    Where the file system cannot, the earlier one moves aside for the moment between two renames; a kill in just that
    moment leaves it there under its other name.
    """
    fsync_tree(temporary)
    if not final.exists():
        temporary.rename(final)
    elif not _exchange(temporary, final):
        aside = final.with_name(f"{ASIDE}{final.name}-{os.getpid()}-{secrets.token_hex(4)}")
        final.rename(aside)
        temporary.rename(final)
        remove(aside)
    fsync_path(final.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two paths atomically; false where this system or file system has no such call."""
    exchange, at_fdcwd = 2, -100  # RENAME_EXCHANGE and AT_FDCWD, linux/fs.h and fcntl.h
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    return bool(renameat2(at_fdcwd, os.fsencode(one), at_fdcwd, os.fsencode(other), exchange) == 0)
