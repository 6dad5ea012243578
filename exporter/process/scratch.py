"""Folders for temporary files, which later runs remove where the run that made them was killed.

Each is locked (`flock`) for as long as its run lives, and the lock goes with the process, however that ends. So what is
not locked is nobody's, in whatever container or by whatever process number its owner ran.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from exporter.base.errors import EnvironmentLacks
from exporter.base.files import NO_ROOM

#: How the names of these folders begin.
PREFIX = "exporter-run-"
_LOCK = ".lock"
#: So often a folder is made anew that another process took for one that is left, between its making and its lock.
_TRIES = 20
_OURS = re.compile(rf"{PREFIX}[a-z0-9_]+")


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a fresh folder for temporary files, removed afterwards.

    Raises:
        EnvironmentLacks: there is no room, or no such place.
    """
    _sweep(tempfile.gettempdir())
    for _ in range(_TRIES):
        try:
            folder = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        except OSError as error:
            raise no_room(error) from error
        with folder as name:
            lock = _locked(name)
            if lock is None:
                continue
            try:
                yield Path(name, "files")  # without the lock: a bundle may be laid there, which holds nothing else
            finally:
                os.close(lock)
            return
    raise no_room(OSError(errno.EAGAIN, "another process removes them"))


def _locked(folder: str) -> int | None:
    """Lock a new folder and make what is used of it; None where another process that sweeps was faster."""
    try:
        lock = os.open(Path(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise no_room(error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        Path(folder, "files").mkdir()
    except (BlockingIOError, FileNotFoundError):
        os.close(lock)
        return None
    except OSError as error:
        os.close(lock)
        raise no_room(error) from error
    return lock


def no_room(error: OSError) -> EnvironmentLacks:
    """What to say where temporary files cannot be written."""
    full = "no room to write" if error.errno in NO_ROOM else "cannot write"
    return EnvironmentLacks(
        f"{full} temporary files: {error.strerror}",
        where=os.environ.get("TMPDIR", "the folder for temporary files"),
        hint="free space there, or set TMPDIR to another folder",
    )


@cache
def _sweep(where: str) -> None:
    """Once for each place: remove what killed runs of this user have left. Links are never followed."""
    with suppress(OSError), os.scandir(where) as entries:
        for entry in entries:
            with suppress(OSError):
                own = entry.stat(follow_symlinks=False).st_uid == os.getuid()
                if own and _OURS.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                    _remove_unlocked(entry.path)


def _remove_unlocked(folder: str) -> None:
    """Remove a folder whose lock nobody holds; one without a lock has only just been made."""
    lock = os.open(Path(folder, _LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
