"""What a step reads besides what it is given and what counts of the project: files, and folders that it lists.

Told by Python's audit events (`open`, `os.listdir`, `os.scandir`, `ctypes.dlopen`, `sqlite3.connect`), in the main
process and in its children; in these also by the modules that are loaded in the end. It only adds to what a release
depends on, and excuses nothing. What compiled code or another process opens by itself is not seen, but for
safetensors' and Paddle's (:mod:`exporter.paddle.reads`). So a child also names the packages with compiled code that it
has imported, each process that it has started and each server that it has talked to: nobody knows what these have read
outside of the project.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import unquote, urlsplit

#: What a child is told by its environment: that it is to leave this file in the folder of its request.
WATCHED, SEEN = "EXPORTER_WATCHED", "seen.json"
_PATHS = ("read", "listed", "hidden")
#: The code that lists each folder of `sys.path`: the import system, and the look-up of installed packages.
_IMPORTING = ("<frozen importlib", str(Path(importlib.__file__).parent))
#: Packages with compiled code that opens a file only through Python, or only one that its caller has opened or asked
#: about before; the engines among them run what a request names. By what their modules are called.
_OPEN_THROUGH_PYTHON = frozenset(
    "PIL contourpy fontTools google kiwisolver matplotlib ml_dtypes numpy onnx onnxruntime openvino paddle paddle2onnx "
    "pandas psutil pydantic_core regex rpds safetensors scipy sklearn yaml".split()
)
#: What starts a process, whose events nobody hears.
_STARTS = frozenset(("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"))
#: What talks to another process.
_TALKS = frozenset(("socket.connect", "socket.sendto", "socket.sendmsg"))
#: Modules of the standard library that are imported where they are used, and start processes without an event.
_WITHOUT_EVENTS = {"multiprocessing.popen_spawn_posix": "a process of its own"}


@dataclass
class Seen:
    """Absolute paths that were read before they were written, or listed.

    `hidden` names what may have read files that nobody
    saw: packages with compiled code, processes that were started, servers. A file that is opened to be changed, and not
    emptied, is read.

    `blind`: a child has not told what it saw, so that all of this is too little.
    """

    read: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    blind: bool = False
    written: set[str] = field(default_factory=set)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event."""
        if getattr(_OWN, "unseen", False):
            return
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, bytes | str | os.PathLike):  # else it is the number of a file that is open
                self._opened(_absolute(path), mode if isinstance(mode, str) else "", flags)
        elif event == "sqlite3.connect":
            if (database := _database(arguments[0])) is not None:
                for path in (database, f"{database}-wal", f"{database}-journal"):
                    self._opened(path, "r+", os.O_RDWR)
        elif event in ("os.listdir", "os.scandir") and not isinstance(arguments[0], int) and not _imports():
            self.listed.add(_absolute("." if arguments[0] is None else arguments[0]))
        elif event == "ctypes.dlopen" and isinstance(arguments[0], str) and os.sep in arguments[0]:
            self.read.add(_absolute(arguments[0]))
        elif event in ("os.rename", "os.link", "os.symlink"):
            self.written.add(_absolute(arguments[1]))

    def _opened(self, path: str, mode: str, flags: int) -> None:
        """A file that is about to be opened, as `open` or `os.open` are asked to."""
        writes = flags & os.O_ACCMODE != os.O_RDONLY or set(mode) & set("wxa+")
        if path in self.written:
            return
        if writes and (flags & os.O_TRUNC or set(mode) & set("wx") or not _is_there(path)):
            self.written.add(path)
        elif flags & os.O_ACCMODE != os.O_WRONLY:
            self.read.add(path)

    def add(self, other: Seen) -> None:
        """Add what another watcher saw for the same purpose."""
        for name in _PATHS:
            getattr(self, name).update(getattr(other, name))
        self.blind |= other.blind

    def to_json(self) -> dict[str, list[str]]:
        """As a child leaves it."""
        return {name: sorted(getattr(self, name)) for name in _PATHS}


def listing(hidden: Iterable[str]) -> str:
    """Return the names of what may have read unseen as a list in words: `a, b and c`."""
    *others, last = sorted(hidden)
    return f"{', '.join(others)} and {last}" if others else last


def not_seen(hidden: Iterable[str]) -> str:
    """Return a message: what may have read files unseen, and what to do about it."""
    return f"nobody sees which files {listing(hidden)} may have read: name them in the spec's `depends`"


_OWN = threading.local()


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """Hide what this thread reads inside the block from those who watch."""
    before = getattr(_OWN, "unseen", False)
    _OWN.unseen = True
    try:
        yield
    finally:
        _OWN.unseen = before


_ACTIVE: list[Seen] = []
_HEARING: list[bool] = []


@contextlib.contextmanager
def watching() -> Iterator[Seen]:
    """In the main process: what is read and listed inside the block, by this process and by its children."""
    if not _HEARING:  # a hook stays for good
        _HEARING.append(True)
        sys.addaudithook(_hear)
    seen = Seen()
    _ACTIVE.append(seen)
    try:
        yield seen
    finally:
        _ACTIVE.remove(seen)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    for seen in _ACTIVE:
        seen.hear(event, arguments)


def watched() -> bool:
    """Return whether anyone watches now."""
    return bool(_ACTIVE)


def saw(other: Seen) -> None:
    """Tell whoever watches what a child saw."""
    for seen in _ACTIVE:
        seen.add(other)


def watch() -> Callable[[], Seen]:
    """In a child: watch from now on; the function that is returned tells what was seen so far."""
    seen = Seen()
    ours = _compiled()  # what the server of children has imported, before anybody's code
    sys.addaudithook(seen.hear)
    sys.addaudithook(functools.partial(_hear_starts, seen))
    _hear_safetensors()

    def tell() -> Seen:
        files = {str(file) for module in list(sys.modules.values()) if isinstance(file := _file_of(module), str)}
        seen.read |= {_absolute(file) for file in files}
        seen.hidden |= _compiled() - ours
        return seen

    return tell


def _compiled() -> set[str]:
    """The packages that are loaded and may open files without an event, or start a process."""
    found = set()
    for name, module in list(sys.modules.items()):
        file = _file_of(module)
        if isinstance(file, str) and file.endswith((".so", ".pyd")):
            found.add(name.partition(".")[0])
    silent = {who for name, who in _WITHOUT_EVENTS.items() if name in sys.modules}
    return found - sys.stdlib_module_names - _OPEN_THROUGH_PYTHON | silent


def _hear_starts(seen: Seen, event: str, arguments: tuple[Any, ...]) -> None:
    """An audit event that starts a process or talks to one, but for those of Paddle while it is imported."""
    if event in _TALKS and not getattr(_OWN, "unseen", False):
        seen.hidden.add(f"the server {_server(arguments[1])}")
    if event in _STARTS and not getattr(_OWN, "unseen", False) and not _imports_a_known_package():
        program = os.fsdecode(arguments[0]).split()[:1] if arguments else []
        seen.hidden.add(f"the process {Path(program[0]).name}" if program else "a process of its own")


def _imports_a_known_package() -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        top = str(frame.f_globals.get("__name__")).partition(".")[0]
        if frame.f_code.co_name == "<module>" and top in _OPEN_THROUGH_PYTHON:
            return True
        frame = frame.f_back
    return False


def _file_of(module: object) -> object:
    with contextlib.suppress(Exception):  # a lazy module may import what is not installed
        return getattr(module, "__file__", None)
    return None


def _hear_safetensors() -> None:
    """Its compiled code opens files without an event; other modules may hold its function already."""
    opened: Callable[..., Any] = vars(importlib.import_module("safetensors"))["safe_open"]

    def audited(filename: Any, *arguments: Any, **keys: Any) -> Any:
        sys.audit("open", filename, "r", os.O_RDONLY)
        return opened(filename, *arguments, **keys)

    loaded: list[Any] = [module for name, module in sys.modules.items() if name.partition(".")[0] == "safetensors"]
    for module in loaded:
        if vars(module).get("safe_open") is opened:
            module.safe_open = audited


def _server(address: object) -> str:
    """Return the address of a socket as text: host and port, or the path of a local one."""
    parts = address[:2] if isinstance(address, tuple) else (address,)
    return ":".join(os.fsdecode(part) if isinstance(part, bytes) else str(part) for part in parts)


def _database(name: Any) -> str | None:
    """The file that `sqlite3.connect` opens; None for a database in memory."""
    text = os.fsdecode(name) if isinstance(name, bytes | str | os.PathLike) else ""
    if text.startswith("file:"):
        text = unquote(urlsplit(text).path)
    return None if text in ("", ":memory:") else _absolute(text)


def _is_there(path: str) -> bool:
    with unseen():
        return os.path.lexists(path)


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - before the working folder changes


def _imports() -> bool:
    """Return whether the caller is Python's import of a module, or the look-up of an installed package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(_IMPORTING)


def read_seen(content: object) -> Seen:
    """Read what a child process saw from its JSON, which is not trusted; raise ValueError if it has another form."""
    if not isinstance(content, dict):
        raise ValueError("not what a child saw")
    paths = [content.get(name) for name in _PATHS]
    if not all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in paths):
        raise ValueError("not what a child saw")
    read, listed, hidden = (set(names or ()) for names in paths)
    return Seen(read, listed, hidden)
