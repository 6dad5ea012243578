"""What the children of a release open beside what counts of its project: it only adds to what the release depends on.

Python's audit events tell of files, and of folders that are listed. What compiled code or another process opens is not
told, but for safetensors' and Paddle's (:mod:`exporter.paddle.reads`). So a child also names the packages with compiled
code that it has imported, each process that it has started and each server that it has talked to: nobody knows what
these have read outside of the project. The main process runs no code of a user; it is watched while it reads.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote, unquote, urlsplit

_quoted, _unquoted = (functools.partial(change, errors="surrogatepass") for change in (quote, unquote))
#: What a child is told by its environment: that it is to leave this file in the folder of its request.
WATCHED, SEEN = "EXPORTER_WATCHED", "seen.json"
#: The code that lists each folder of `sys.path`: the import system, the look-ups of installed packages and of plugins.
_IMPORTING = ("<frozen importlib", str(Path(importlib.__file__).parent), str(Path(__file__).with_name("registry.py")))
#: Packages with compiled code that mostly opens files through Python. What they open themselves (ONNX Runtime a model,
#: FreeType a font) counts where it is a file of the project, and else by the spec's `depends`: see docs/cache.md.
_OPEN_THROUGH_PYTHON = frozenset(
    "PIL contourpy fontTools google kiwisolver matplotlib ml_dtypes numpy onnx onnxruntime openvino paddle paddle2onnx "
    "pandas psutil pydantic_core regex rpds safetensors scipy sklearn yaml".split()
)
_STARTS = frozenset(("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"))
_TALKS = frozenset(("socket.connect", "socket.sendto", "socket.sendmsg"))
_A_PROCESS = "a process of its own"
#: Starts processes without an event, and is imported where that is done.
_STARTS_UNHEARD = "multiprocessing.popen_spawn_posix"


@dataclass
class Seen:
    """Absolute paths of files that were read before they were written, and of folders that were listed.

    A file that is opened to be changed, and not emptied, is read. `hidden` names what may have read more: packages with
    compiled code, processes, servers, and children that did not tell.
    """

    read: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, content: Mapping[str, list[str]]) -> Seen:
        """Read what a child has left.

        Raises:
            LookupError, TypeError: it is of another form.
        """
        unquoted = ({_unquoted(os.fspath(text)) for text in content[name]} for name in ("read", "listed", "hidden"))
        return cls(*unquoted)

    def content(self) -> Mapping[str, list[str]]:
        """Return it as JSON, quoted as in addresses: a path may be of any bytes."""
        return {name: sorted(map(_quoted, texts)) for name, texts in vars(self).items()}

    def add(self, other: Seen) -> None:
        """Add what a child saw."""
        for name, texts in vars(other).items():
            getattr(self, name).update(texts)


class Watch:
    """Sees what a child does from now on; what is read of files that were `written` since is not from outside."""

    def __init__(self, *, others: bool = True) -> None:
        self.seen, self.written = Seen(), set[str]()
        self._known = _unheard()  # what the server of children has imported, before anybody's code
        for hear in (self._hear_files, self._hear_folders, *([self._hear_others] if others else [])):
            sys.addaudithook(hear)
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == "safetensors":
                tell_of(module, "safe_open")

    def tell(self) -> Seen:
        """Return what was seen so far, with the files of the modules that are loaded."""
        self.seen.read |= {_absolute(file) for file in _loaded().values()}
        self.seen.hidden |= _unheard() - self._known
        return self.seen

    def _hear_files(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], bytes | str | os.PathLike):  # else the number of an open file
            self._open(_absolute(arguments[0]), arguments[2])
        elif event == "sqlite3.connect":
            for ending in ("", "-wal", "-journal"):
                self._open(_database(arguments[0]) + ending, os.O_RDWR)
        elif event == "ctypes.dlopen" and isinstance(arguments[0], str) and os.sep in arguments[0]:
            self.seen.read.add(_absolute(arguments[0]))
        elif event in ("os.rename", "os.link", "os.symlink"):
            self.written.add(_absolute(arguments[1]))

    def _hear_folders(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("os.listdir", "os.scandir") or isinstance(arguments[0], int):
            return
        if not sys._getframe(1).f_code.co_filename.startswith(_IMPORTING):
            self.seen.listed.add(_absolute("." if arguments[0] is None else arguments[0]))

    def _hear_others(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _TALKS:
            address = arguments[1]
            parts = address[:2] if isinstance(address, tuple) else [address]
            self.seen.hidden.add(f"the server {':'.join(map(str, parts))}")
        elif event in _STARTS and not _is_expected():
            program = os.fsdecode(arguments[0]).split()[:1] if arguments else []
            self.seen.hidden.add(f"the process {Path(program[0]).name}" if program else _A_PROCESS)

    def _open(self, path: str, flags: int) -> None:
        mode = flags & os.O_ACCMODE
        if mode != os.O_RDONLY and (flags & os.O_TRUNC or not os.path.lexists(path)):
            self.written.add(path)
        elif mode != os.O_WRONLY and path not in self.written:
            self.seen.read.add(path)


@functools.cache
def _own() -> Watch:
    return Watch(others=False)


def watching() -> Seen:
    """Return what this process, and no child of it, is seen to read from now on, until this is called again."""
    watch = _own()
    watch.seen, watch.written = Seen(), set()
    return watch.seen


def tell_of(module: object, *readers: str) -> None:
    """Let functions of compiled code tell of each path that they are given, as Python tells of a file: by `open`."""
    for name in readers:
        if (reader := getattr(module, name, None)) is not None:
            setattr(module, name, _telling(reader))


def _telling(reader: Any) -> Any:
    @functools.wraps(reader)
    def told(*arguments: Any, **keys: Any) -> Any:
        for path in (*arguments, *keys.values()):
            if isinstance(path, str | os.PathLike):
                sys.audit("open", path, "r", os.O_RDONLY)
        return reader(*arguments, **keys)

    return told


def _unheard() -> set[str]:
    """Name what is loaded and may open files, or start a process, without an event."""
    compiled = {name.partition(".")[0] for name, file in _loaded().items() if file.endswith((".so", ".pyd"))}
    starts = {_A_PROCESS} if _STARTS_UNHEARD in sys.modules else set()
    return compiled - sys.stdlib_module_names - _OPEN_THROUGH_PYTHON | starts


def _loaded() -> dict[str, str]:
    """Return the files of the modules that are loaded, by their names."""
    files = dict[str, str]()
    for name, module in list(sys.modules.items()):
        with contextlib.suppress(Exception):  # a lazy module may import what is not installed
            if isinstance(file := getattr(module, "__file__", None), str):
                files[name] = file
    return files


def _is_expected() -> bool:
    """Return whether a process is started by a package that is known while it is imported, or is a fork of ours."""
    frame: FrameType | None = sys._getframe(2)
    if frame is not None and frame.f_globals.get("__name__") == "exporter.process.child":
        return True
    while frame is not None:
        top = str(frame.f_globals.get("__name__")).partition(".")[0]
        if frame.f_code.co_name == "<module>" and top in _OPEN_THROUGH_PYTHON:
            return True
        frame = frame.f_back
    return False


def _database(name: Any) -> str:
    """Return the path that `sqlite3.connect` opens; for a database in memory, one of a file that is not there."""
    text = os.fsdecode(name)
    return _absolute(unquote(urlsplit(text).path) if text.startswith("file:") else text)


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - before the working folder changes
