"""The probe's fourth child: the lines at which eager code does what a program does not.

Python reports each line of the model's code that runs. In the eager run it is known after which line something that
outlives the call had another value; and a line that ran eagerly, and not while the model was traced, was left out by
the condition above it. Runs in children only, and only for a model whose program is wrong.
"""

from __future__ import annotations

import ast
import functools
import sys
import types
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exporter.check.probe.child import Subject, build, cases, static
from exporter.paddle.user_line import is_librarys, origin, reported_to
from exporter.process.job import job
from exporter.process.workers import doing

_MOST_PLACES, _MOST_LOOKS = 2000, 3000
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


@dataclass(frozen=True)
class BlameRequest:
    """Find the lines to blame in a model's file. Where `values` differ, it is traced as well."""

    subject: Subject
    values: bool


@dataclass(frozen=True)
class Blamed:
    """Lines of the model's file; 0, or none, where there are none.

    `returned` is the last `return` of forward, `kept` are those that change what outlives a call, and `skipped` is a
    condition that a trace decides otherwise.
    """

    returned: int = 0
    kept: tuple[int, ...] = ()
    skipped: int = 0


@job(reuse="probing {subject[path]}: the line to blame")
def blamed(request: BlameRequest) -> Blamed:
    """Run the model line by line, and trace it so where its values differ."""
    subject = request.subject
    layer = build(subject)
    watch = Watch(layer, str(subject.path))
    doing("running the model line by line")
    for case in cases(subject):
        watch.run(case)
    skipped = 0
    if request.values:
        doing("tracing the model line by line")
        traced = _traced(build(subject), subject)
        skipped = _condition_above(subject.path, watch.lines - traced) if traced else 0
    return Blamed(watch.returned, tuple(watch.kept()), skipped)


class Watch:
    """Eager runs of a model, with what each line of its file changed."""

    def __init__(self, layer: Any, path: str) -> None:
        self.layer, self.path = layer, path
        self.module = next((m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == path), None)
        self.lines: set[int] = set()
        self.returned = 0
        self._at = 0
        self._looks = 0
        self._before: dict[str, object] = {}
        self._ends: list[dict[str, object]] = []
        self._changes: dict[str, int] = {}

    def run(self, case: list[Any]) -> None:
        """Call the model once."""
        import paddle

        tensors = [paddle.to_tensor(each.copy()) for each in case]
        self._before = self._state()
        self._ends.append(self._before)
        with reported_to(self._enter):
            self.layer(*tensors)
        self._look()
        self._ends.append(self._before)

    def kept(self) -> list[int]:
        """The lines behind which something had another value that the next call found so, plain values first."""
        found: dict[int, int] = {}
        for place, line in self._changes.items():
            values = [state.get(place, "nothing") for state in self._ends]
            if len(set(map(repr, values))) > 1:
                found[line] = min(found.get(line, 9), 0 if isinstance(values[-1], _PLAIN) else 1)
        return [line for line, _ in sorted(found.items(), key=lambda one: (one[1], one[0]))]

    def _enter(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != self.path:
            return None
        self._look()
        self._at = frame.f_lineno
        return self._step

    def _step(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        self._look()
        if event == "return":
            if frame.f_code.co_name == "forward":
                self.returned = frame.f_lineno
            caller = frame.f_back
            while caller is not None and caller.f_code.co_filename != self.path:
                caller = caller.f_back
            self._at = caller.f_lineno if caller is not None else self._at
        elif event == "line":
            self._at = frame.f_lineno
            self.lines.add(self._at)
        return self._step

    def _look(self) -> None:
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            return
        sys.settrace(None)
        try:
            state = self._state()
        finally:
            sys.settrace(self._enter)
        for place in {**state, **self._before}:  # what is gone has changed too
            if self._before.get(place, self) != state.get(place, self):
                self._changes.setdefault(place, self._at)
        self._before = state

    def _state(self) -> dict[str, object]:
        found: dict[str, object] = {}
        waiting: deque[tuple[str, Any]] = deque([("layer", self.layer)])
        waiting += [] if self.module is None else _members(self.module)
        seen: set[int] = set()
        while waiting and len(found) < _MOST_PLACES:
            place, value = waiting.popleft()
            found[place] = _token(value)
            if id(value) not in seen and not isinstance(value, _PLAIN):
                seen.add(id(value))
                waiting += [(f"{place}.{name}", each) for name, each in _parts(value, self.path)]
        return found


def _token(value: Any) -> object:
    """What a value is compared by: itself if plain, else its identity, and how often it was written."""
    import paddle

    if isinstance(value, _PLAIN):
        return repr(value) if isinstance(value, float) else value
    if isinstance(value, paddle.Tensor):
        return id(value), value.inplace_version
    if isinstance(value, np.ndarray):
        return id(value), value.tobytes()[:256]
    return (type(value).__name__, len(value)) if isinstance(value, (list, dict, set, deque)) else id(type(value))


def _parts(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What a value holds, as far as a model may keep state in it."""
    import paddle

    if isinstance(value, paddle.nn.Layer):
        yield from _parts_of_layer(value, path)
    elif isinstance(value, (list, tuple, deque)):
        yield from ((str(at), each) for at, each in enumerate(value))
    elif isinstance(value, dict):
        yield from ((str(key), each) for key, each in value.items())
    elif isinstance(value, types.FunctionType) and value.__code__.co_filename == path:
        yield from _kept_by(value)
    elif isinstance(value, types.MethodType):
        yield from (("self", value.__self__), ("function", value.__func__))
    elif isinstance(value, functools.partial):
        yield from (("function", value.func), ("arguments", value.args), ("keywords", value.keywords))
    elif isinstance(value, type) and _is_users(value, path):
        yield from _members(value)
    elif _is_users(type(value), path):
        slots = getattr(type(value), "__slots__", ())
        yield from ((name, getattr(value, name, None)) for name in (*getattr(value, "__dict__", {}), *slots))


def _parts_of_layer(layer: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name in ("_parameters", "_buffers", "_sub_layers", "_forward_pre_hooks", "_forward_post_hooks"):
        yield from vars(layer)[name].items()
    if _is_users(type(layer), path):
        yield from vars(layer).items()
    yield "training", layer.training


def _kept_by(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, _content(cell)
    yield from vars(function).items()
    yield "defaults", function.__defaults__ or ()


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is not bound yet
        return None


def _members(owner: Any) -> Iterator[tuple[str, Any]]:
    """What a module or class of the user's holds; what it imports is not followed."""
    for name, each in list(vars(owner).items()):
        if not name.startswith("__") and not isinstance(each, types.ModuleType):
            yield name, each


def _is_users(kind: type, path: str) -> bool:
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None) == path


def _traced(layer: Any, subject: Subject) -> set[int]:
    """The lines that ran while the model was traced."""
    path, ran = str(subject.path), set[int]()

    def step(frame: types.FrameType, event: str, arg: Any) -> Any:
        ran.add(line_of(frame, path))
        return step

    def enter(frame: types.FrameType, event: str, arg: Any) -> Any:
        return None if is_librarys(frame) else step

    traced = static(layer, subject)
    with reported_to(enter):
        traced.forward.concrete_program  # noqa: B018 - this traces it
    return ran - {0}


def line_of(frame: types.FrameType, path: str) -> int:
    """The line of a file that a frame is at; dy2static knows which of it each line of its own code stands for."""
    if frame.f_code.co_filename == path:
        return frame.f_lineno
    file, line = origin(frame)
    return line if file == path else 0


def _condition_above(path: Path, skipped: set[int]) -> int:
    """The line of the innermost condition that lines which were not traced stand under; 0 if there is none."""
    tree = ast.parse(path.read_text(encoding="utf-8-sig"))
    found: list[tuple[int, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While, ast.Match)):
            bodies = [each.body for each in node.cases] if isinstance(node, ast.Match) else [node.body, node.orelse]
            inner = {
                each.lineno for body in bodies for one in body for each in ast.walk(one) if hasattr(each, "lineno")
            }
            if inner & skipped and node.lineno not in skipped:
                found.append((len(inner), node.lineno))
    return min(found)[1] if found else 0
