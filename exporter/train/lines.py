"""In a child: what each line of the model's own code has made, line by line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from exporter.paddle.user_line import is_models
from exporter.train.passes import tensors_of


@dataclass(frozen=True)
class Line:
    """A line that has run, and the sublayer whose code it is; `loss` behind all of them."""

    path: str
    number: int
    place: str

    def __str__(self) -> str:
        return f"{Path(self.path).name}:{self.number}"


#: Is told of each line when it has run, with the tensors that its function holds then.
Look = Callable[[Line, Iterator[Any]], None]


@contextlib.contextmanager
def line_by_line(place: Callable[[], str], look: Look) -> Iterator[None]:
    """Within it, `look` sees each line of code that belongs neither to Python, to Paddle nor to this package.

    `place` is asked for the sublayer that runs. A debugger or a coverage that traces is put off meanwhile.
    """
    before = sys.gettrace()
    sys.settrace(_tracer(place, look))
    try:
        yield
    finally:
        sys.settrace(before)


def _tracer(place: Callable[[], str], look: Look) -> Callable[[FrameType, str, Any], Any]:
    known: dict[str, bool] = {}

    def called(frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        path = frame.f_code.co_filename
        if path not in known:
            known[path] = is_models(path)
        if not known[path]:
            return None
        where, line = place(), frame.f_lineno

        def stepped(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal line
            if event in ("line", "return"):
                look(Line(path, line, where), _held(frame, argument if event == "return" else None))
            line = frame.f_lineno
            return stepped

        return stepped

    return called


def _held(frame: FrameType, result: Any) -> Iterator[Any]:
    """The tensors that a function returns, and those in its variables and in the attributes of its `self`."""
    yield from tensors_of(result)
    for value in list(frame.f_locals.values()):
        yield from tensors_of(value)
    yield from tensors_of(dict(vars(frame.f_locals["self"])) if hasattr(frame.f_locals.get("self"), "__dict__") else {})


class Writes:
    """Which lines wrote in place to what a backward pass needs; `look` is for :func:`line_by_line`.

    Paddle hands over each tensor that it saves for a gradient, which counts the writes to it from then on.
    """

    def __init__(self) -> None:
        self._saved: list[tuple[Any, int]] = []
        self.found: dict[Line, Any] = {}  # each line with the tensor that it wrote to

    def look(self, line: Line, held: Iterator[Any]) -> None:
        """Note the tensors that were written to since the last line."""
        del held
        written = [tensor for tensor, version in self._saved if tensor.inplace_version != version]
        self._saved = [(tensor, version) for tensor, version in self._saved if tensor.inplace_version == version]
        if written:
            self.found.setdefault(line, written[0])

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Within it, what forward saves is watched."""
        import paddle

        def save(tensor: Any) -> Any:
            self._saved.append((tensor, tensor.inplace_version))
            return tensor

        with paddle.autograd.saved_tensors_hooks(save, lambda tensor: tensor):
            yield


class FirstWrong:
    """The first line that holds a wrong tensor; `look` is for :func:`line_by_line`."""

    def __init__(self, wrong: Callable[[Any], bool]) -> None:
        self._wrong = wrong
        self._right: dict[tuple[int, int], Any] = {}
        self.line: Line | None = None

    def look(self, line: Line, held: Iterator[Any]) -> None:
        """Look at each tensor once, as long as none was wrong."""
        for value in held:
            key = (id(value), value.inplace_version)
            if self.line is None and key not in self._right:
                self._right[key] = value
                if self._wrong(value):
                    self.line = line


class Ran:
    """Which lines ran, in their order; `look` is for :func:`line_by_line`."""

    def __init__(self) -> None:
        self.lines: dict[Line, None] = {}

    def look(self, line: Line, held: Iterator[Any]) -> None:
        """Note the line."""
        del held
        self.lines[line] = None
