"""The line of the model's code that an error, a text or a running frame is about.

The user's own files come first. A network that is installed as a package (PaddleNLP, PaddleClas) has no frame in them:
then it is the innermost one of an installed package that is neither Paddle nor numpy.
"""

from __future__ import annotations

import re
import site
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_PYTHON = str(Path(site.__file__).parent)
#: Folder of the code that dy2static writes and runs in place of the user's (`jit/dy2static/utils.py`, 3.3.1).
_REWRITTEN = "to_static_tmp"
_OURS = str(Path(__file__).resolve().parents[1])
_SITE = {sysconfig.get_path(name) for name in ("purelib", "platlib")} | set(site.getsitepackages())
# An environment may take packages from others: by a `.pth` file or PYTHONPATH.
_SITE |= {path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")}
_ELSEWHERE = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")} | _SITE | {_OURS})
#: Installed packages that a network calls and that are none: their lines say nothing of what to change.
_LIBRARIES = ("paddle", "numpy")


def error_line(error: BaseException) -> str:
    """`path:line` of the innermost frame of the model's code in the error's traceback; "" where there is none.

    dy2static quotes the original lines in its message, so that is looked at first.
    """
    frames = [(frame.filename, str(frame.lineno)) for frame in traceback.extract_tb(error.__traceback__)]
    return quoted_line(str(error)) or _innermost(frames)


def quoted_line(text: str) -> str:
    """As :func:`error_line`, from frames quoted as Python does (`File "…", line N`), the innermost last."""
    return _innermost(_FRAME.findall(text))


def frame_line(frame: FrameType | None) -> str:
    """As :func:`error_line`, of a frame that runs and of those that called it."""
    return _innermost([(path, str(line)) for path, line in _callers(frame)][::-1])


def origin(frame: FrameType) -> tuple[str, int]:
    """The file and line that a frame is at, in the user's source where it runs a rewritten copy of it.

    dy2static keeps a map from lines of the copy to lines of the source (jit/dy2static/origin_info.py, 3.0 to 3.3).
    """
    path, line = frame.f_code.co_filename, frame.f_lineno
    if "paddle" not in sys.modules:
        return path, line
    from exporter.paddle.private import origins

    source = origins.get((path, line))
    return (path, line) if source is None else (str(source.location.filepath), int(source.location.lineno))


@contextmanager
def reported_to(trace: Callable[[FrameType, str, Any], Any]) -> Iterator[None]:
    """Inside the block, Python reports each line that runs to a function, as `sys.settrace` describes it."""
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)


def is_librarys(frame: FrameType) -> bool:
    """Whether a frame runs code of Python's own, of a package, or of no file."""
    name = frame.f_code.co_filename
    return name.startswith(("<", _PYTHON)) or "site-packages" in name


def is_users(path: str) -> bool:
    """Whether a file in a traceback is the user's: not of Python, an installed package or this one, nor rewritten."""
    return not path.startswith((*_ELSEWHERE, "<")) and _REWRITTEN not in path and Path(path).is_file()


def is_models(path: str) -> bool:
    """Whether a file may hold a model's code: it is the user's, or an installed package's that is no library."""
    return is_users(path) or _is_installed(path)


def _callers(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    while frame is not None:
        yield origin(frame)
        frame = frame.f_back


def _innermost(frames: Sequence[tuple[str, str]]) -> str:
    """The model's innermost frame.

    Our own frames part the others: what stands before them called us, and is the model only where nothing follows (a
    rewrite of ours calls Paddle).
    """
    parts: list[list[tuple[str, str]]] = [[]]
    for frame in frames:
        if frame[0].startswith(_OURS):
            parts.append([])
        else:
            parts[-1].append(frame)
    for part in reversed(parts):
        for belongs in (is_users, _is_installed):
            for path, line in reversed(part):
                if belongs(path):
                    return f"{path}:{line}"
    return ""


def _is_installed(path: str) -> bool:
    """Whether it is of a package that is installed beside Paddle and may hold the network."""
    folders = [Path(folder) for folder in _SITE if path.startswith(f"{folder}/")]
    if not folders or path.startswith(_OURS):
        return False
    return Path(path).relative_to(max(folders, key=lambda folder: len(folder.parts))).parts[0] not in _LIBRARIES
