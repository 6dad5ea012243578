"""Turn what Paddle raises into an error that names the user's line and, where there is one, the operator."""

from __future__ import annotations

import contextlib
import inspect
import re
import site
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from exporter.errors import ExporterError, ModelError

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
#: C++ parsers of the operators that were sunk in Paddle 3.2 say this of a legacy program's variables.
_SUNK = re.compile(r"(\w+)\(\): argument (?:'\w+' )?\(position \d+\) must be Value, but got (?:Variable|None)")
#: Folder of the code that dy2static writes and runs in place of the user's (`jit/dy2static/utils.py`, 3.3.1).
_REWRITTEN = "to_static_tmp"
_OURS = str(Path(__file__).resolve().parents[1])
_SITE = {sysconfig.get_path(name) for name in ("purelib", "platlib")} | set(site.getsitepackages())
_ELSEWHERE = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")} | _SITE | {_OURS})
#: Installed packages that a network calls and that are none: their lines say nothing of what to change.
_LIBRARIES = ("paddle", "numpy")


@contextlib.contextmanager
def blamed(stage: str, layer: Any = None) -> Iterator[None]:
    """Whatever the block raises that is not ours becomes a `ModelError` of that stage, at the user's line.

    User code and Paddle may raise anything at all in a trace, `SystemExit` included, so no narrower type would do.
    """
    try:
        yield
    except (ExporterError, KeyboardInterrupt):
        raise
    except BaseException as error:  # of any type: user code and Paddle raised it
        text = str(error)
        where = user_line(error) or (f"{type(layer).__module__}.{type(layer).__name__}" if layer is not None else "")
        raise ModelError(f"{stage}: {_what(error, text)}", where=where, hint=_hint(text)) from error


@contextlib.contextmanager
def placed_at_forward(layer: Any) -> Iterator[None]:
    """A `ModelError` of the block without a place is of what `forward` returns: it stands where that is defined."""
    try:
        yield
    except ModelError as error:
        if error.where:
            raise
        code = getattr(inspect.unwrap(type(layer).forward), "__code__", None)
        where = f"{code.co_filename}:{code.co_firstlineno}" if code else "forward"
        raise ModelError(error.what, where=where, hint=error.hint) from error


def user_line(error: BaseException) -> str:
    """Return `path:line` of the innermost frame of the model's code; empty where there is none.

    The user's own files come first. A network that is installed as a package (PaddleNLP, PaddleClas) has no frame in
    them: then it is the innermost one of an installed package that is neither Paddle nor numpy.
    dy2static runs a rewritten copy of the code and quotes the original lines in its message, so that is looked at too.
    """
    frames = [(frame.filename, str(frame.lineno)) for frame in traceback.extract_tb(error.__traceback__)]
    return quoted_line(str(error)) or _innermost(frames)


def quoted_line(text: str) -> str:
    """As :func:`user_line`, from frames quoted as Python does (`File "…", line N`), the innermost last."""
    return _innermost(_FRAME.findall(text))


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


def operator_line(static: Any, name: str, turn: int, count: int) -> str:
    """As :func:`user_line`, of the operator `turn` of the `count` called `name` in the file of a traced layer.

    Where the trace has more of them than the file, whose unread ones are gone, it is the line of the first.
    """
    alike = list(_operators(static.forward.concrete_program.main_program.global_block(), f"pd_op.{name}"))
    chosen = alike[turn if len(alike) == count else 0 :][:1]
    return quoted_line("\n".join(chosen[0].callstack)) if chosen else ""


def _operators(block: Any, name: str) -> Iterator[Any]:
    for operator in block.ops:
        if operator.name() == name:
            yield operator
        for inner in operator.blocks():
            yield from _operators(inner, name)


def is_users(path: str) -> bool:
    """Whether a file in a traceback is the user's: not of Python, an installed package or this one, nor rewritten."""
    return not path.startswith((*_ELSEWHERE, "<")) and _REWRITTEN not in path and Path(path).is_file()


def _is_installed(path: str) -> bool:
    """Whether it is of a package that is installed beside Paddle and may hold the network."""
    folders = [Path(folder) for folder in _SITE if path.startswith(f"{folder}/")]
    if not folders or path.startswith(_OURS):
        return False
    return Path(path).relative_to(max(folders, key=lambda folder: len(folder.parts))).parts[0] not in _LIBRARIES


def _what(error: BaseException, text: str) -> str:
    if sunk := _SUNK.search(text):
        return f"operator '{sunk.group(1)}' cannot be written as .pdmodel by this Paddle: it takes no legacy variable"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"^(\w*Error|\(\w+\)|AssertionError|\w*Exception)\b", line)]
    said, kind = (telling or lines or ["no message"])[-1][:400], f"{type(error).__name__}: "
    return said if said.startswith(kind) else kind + said


def _hint(text: str) -> str:
    if _SUNK.search(text):
        return "leave pdmodel out of formats; pir and onnx do not have this limit"
    return "run with --debug for Paddle's whole message; `exporter check` names constructs that cannot be traced"
