"""What a step depends on besides what it is given: files it reads, folders it lists, what it misses, variables.

Told by Python's audit events (`open`, `os.listdir`, `os.scandir`) in the main process and in its children, and in these
also by the modules that are loaded in the end, by `os.stat` where it finds nothing, and by look-ups in `os.environ`.
What compiled code opens by itself is not seen, but for safetensors'.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: What a child is told by its environment: that it is to leave this file in the folder of its request.
WATCHED, SEEN = "EXPORTER_WATCHED", "seen.json"
_PATHS = ("read", "listed", "missed")
#: The code that lists each folder of `sys.path`: the import system, and the look-up of installed packages.
_IMPORTING = ("<frozen importlib", str(Path(importlib.__file__).parent))
#: Variables that differ from run to run and are no business of what runs.
_PASSING = frozenset(("TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "TERM", "COLUMNS", "LINES", "EXPORTER_EVENTS_FD"))


@dataclass
class Seen:
    """Absolute paths that were read before they were written, listed or not found; variables, None for unset.

    `blind`: a child has not told what it saw, so that all of this is too little.
    """

    read: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    missed: set[str] = field(default_factory=set)
    variables: dict[str, str | None] = field(default_factory=dict)
    blind: bool = False
    written: set[str] = field(default_factory=set)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event."""
        if getattr(_OWN, "unseen", False):
            return
        if event == "open":
            path, mode, flags = arguments
            writes = flags & os.O_ACCMODE != os.O_RDONLY or (isinstance(mode, str) and set(mode) & set("wxa+"))
            if not isinstance(path, bytes | str | os.PathLike):  # the number of a file that is open
                return
            if writes:
                self.written.add(_absolute(path))
            elif (found := _absolute(path)) not in self.written:
                self.read.add(found)
        elif event in ("os.listdir", "os.scandir") and not isinstance(arguments[0], int) and not _imports():
            self.listed.add(_absolute("." if arguments[0] is None else arguments[0]))
        elif event in ("os.rename", "os.link", "os.symlink"):
            self.written.add(_absolute(arguments[1]))

    def add(self, other: Seen) -> None:
        """What somebody else saw for the same purpose."""
        for name in _PATHS:
            getattr(self, name).update(getattr(other, name))
        self.variables.update(other.variables)
        self.blind |= other.blind

    def to_json(self) -> dict[str, Any]:
        """As a child leaves it."""
        return {**{name: sorted(getattr(self, name)) for name in _PATHS}, "variables": self.variables}


_OWN = threading.local()


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """What is looked at inside the block, by this thread, is no business of whoever watches."""
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
    """Whether somebody wants to know what is seen now."""
    return bool(_ACTIVE)


def saw(other: Seen) -> None:
    """Tell whoever watches what a child saw."""
    for seen in _ACTIVE:
        seen.add(other)


def watch() -> Callable[[], Seen]:
    """In a child: watch from now on; the function that is returned tells what was seen so far."""
    seen = Seen()
    sys.addaudithook(seen.hear)
    _hear_safetensors()
    os.stat = _stat(seen)
    environ: Any = type(os.environ)
    environ.__getitem__ = _getitem(environ.__getitem__, seen)

    def tell() -> Seen:
        files = {str(file) for module in list(sys.modules.values()) if isinstance(file := _file_of(module), str)}
        seen.read |= {_absolute(file) for file in files}
        here = Path.cwd()  # a file that is laid there later would be imported in the place of an installed module
        tops = {name.partition(".")[0] for name in sys.modules}
        seen.missed |= {str(path) for top in tops for path in (here / f"{top}.py", here / top / "__init__.py")}
        return seen

    return tell


def _file_of(module: object) -> object:
    with contextlib.suppress(Exception):  # a lazy module may import what is not installed
        return getattr(module, "__file__", None)
    return None


def _stat(seen: Seen) -> Callable[..., os.stat_result]:
    stat = os.stat

    def noted(path: Any, **how: Any) -> os.stat_result:
        try:
            return stat(path, **how)
        except FileNotFoundError:
            if isinstance(path, bytes | str | os.PathLike):
                seen.missed.add(_absolute(path))
            raise

    return noted


def _getitem(look_up: Callable[[Any, str], str], seen: Seen) -> Callable[[Any, str], str]:
    def noted(environ: Any, name: str) -> str:
        try:
            value = look_up(environ, name)
        except KeyError:
            if name not in _PASSING:
                seen.variables[name] = None
            raise
        if name not in _PASSING:
            seen.variables[name] = value
        return value

    return noted


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


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - before the working folder changes


def _imports() -> bool:
    """Whether the import of a module asks, or the look-up of an installed package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(_IMPORTING)


def read_seen(content: object) -> Seen:
    """What a child has left, which it may have made up; raises ValueError where it is no such thing."""
    if not isinstance(content, dict):
        raise ValueError("not what a child saw")
    paths = {name: content.get(name) for name in _PATHS}
    variables = content.get("variables")
    fits = all(isinstance(found, list) and all(isinstance(one, str) for one in found) for found in paths.values())
    if not fits or not isinstance(variables, dict):
        raise ValueError("not what a child saw")
    if not all(isinstance(name, str) and isinstance(value, str | None) for name, value in variables.items()):
        raise ValueError("not what a child saw")
    read, listed, missed = (set(found or ()) for found in paths.values())
    return Seen(read, listed, missed, variables)
