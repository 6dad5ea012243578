"""Which branches of the model's own code the cases took, and which of the rest an input could make it take.

A branch that no case takes is a branch that nothing proves. Looked at are the functions of the user's files that ran
while eager answered; not Paddle's code, and not `__init__`. An arm counts if inputs have a say in it: by values, or by
sizes that are not the same in all cases (:mod:`exporter.prove.goldens.influence`). Files are read once, when they
first run. Of what is decided within a line, each answer that a promised size can give counts
(:mod:`exporter.prove.goldens.questions`), and both sides of `a if … else b` (:mod:`exporter.prove.goldens.sides`).

Only functions of the user's are traced line by line. The interpreter's own tracing is used, since a report of the
`coverage` package reads and parses every file anew: 2 s for a forward of 0.03 s, measured on PaddleOCR.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, TypeAlias

import exporter
from exporter.prove.goldens.branches import Arm, Branch, Function, Step, functions
from exporter.prove.goldens.influence import FIXED, SIZE, VALUE, Followed, Influence
from exporter.prove.goldens.questions import Question, looked_up, size_of
from exporter.prove.goldens.sides import Sides, passed_by

_ELSEWHERE = (
    "<",
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
    str(Path(exporter.__file__).parent),
)
#: Different values of one condition that are noted in one case; conditions with more are taken to vary.
_NOTED = 64
#: The longest tuple or list whose elements are noted.
_LONG = 16
#: Longer texts in a condition name no sizes.
_LONGEST_TEXT = 64

_PLAIN = (bool, int, float, str)
_Local: TypeAlias = Any  # a trace function returns itself


@dataclass(frozen=True, order=True)
class Unreached:
    """An arm that no case took: what is to be said of it. `by` is what decides it, SIZE or VALUE.

    `numbers` are the whole numbers in its condition: sizes near them are worth a try.
    """

    path: str
    line: int
    what: str
    by: int
    numbers: tuple[int, ...]


class TooLong(BaseException):
    """A forward that was only tried out ran for longer than it may; no `except Exception` of a user's stops this."""


@dataclass
class _Answers:
    """Of one question the answers that were possible and those that were given; and, case by case, what decided."""

    possible: set[Any] = field(default_factory=set)
    given: set[Any] = field(default_factory=set)
    held: dict[int, set[Any]] = field(default_factory=dict)


@dataclass
class _Seen:
    """What is known of one code object: the steps that it took, and the values in its conditions, case by case."""

    function: Function
    globals: Mapping[str, object]
    inputs: frozenset[str]
    sides: Sides
    steps: set[Step] = field(default_factory=set)
    values: dict[int, dict[int, set[Any]]] = field(default_factory=dict)
    truths: dict[ast.AST, set[bool]] = field(default_factory=dict)
    calls: dict[int, set[Function]] = field(default_factory=dict)
    answers: dict[Question, _Answers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.conditions = {branch.header.start: branch.condition for branch in self.function.branches}
        self.questions: dict[int, list[Question]] = {}
        for question in self.function.questions:
            self.questions.setdefault(question.node.lineno, []).append(question)

    def answer(self, given: Sequence[tuple[Question, bool]]) -> None:
        """Note the sides of conditions that were taken."""
        for question, side in given:
            answers = self.answers.setdefault(question, _Answers())
            answers.possible |= {True, False}
            answers.given.add(side)


class Coverage:
    """Watches the user's functions while eager runs; `unreached` says what is left."""

    def __init__(self, layer: Any, inputs: tuple[str, ...], sizes: Sequence[range] = ()) -> None:
        """`sizes` are those that the spec promises, dim by dim: an entry of a table under another is not asked for."""
        self._sizes = sizes
        self._root = getattr(inspect.unwrap(type(layer).forward), "__code__", None)
        self._inputs = frozenset(inputs)
        self._files: dict[str, dict[int, Function]] = {}
        self._codes: dict[CodeType, _Seen | None] = {}
        self._influence = Influence(())
        self._changed = True
        self._case = 0
        self._limit: int | None = None
        self._lines = 0
        #: The most lines that one run took.
        self.longest = 0

    @contextmanager
    def watching(self, limit: int | None = None) -> Iterator[None]:
        """Note what runs meanwhile, as one case.

        Raises:
            TooLong: more than `limit` lines ran.
        """
        self._case, self._lines, self._limit = self._case + 1, 0, limit
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)
            self.longest = max(self.longest, self._lines)

    def unreached(self) -> list[Unreached]:
        """The arms that inputs decide and no case took; sorted."""
        seen = [one for one in self._codes.values() if one is not None]
        if self._changed:
            self._influence = Influence([Followed(one.function, one.globals, one.inputs, one.calls) for one in seen])
            self._changed = False
        arms = {left for one in seen for left in self._left(one, self._influence)}
        return sorted(arms.union(*(self._unanswered(one, self._influence) for one in seen)))

    def _unanswered(self, seen: _Seen, influence: Influence) -> Iterator[Unreached]:
        """The answers that no case gave: to questions that sizes decide, and to conditions that values do."""
        for question, answers in seen.answers.items():
            by = influence.of(question.node)
            decided = _varies(answers.held) if by == SIZE else by == VALUE and question.guard is not None
            if not decided or not answers.given:
                continue
            if isinstance(question.node, ast.BoolOp) and not all(map(influence.of, question.node.values)):
                continue  # configuration may settle it
            path, condition = str(Path(seen.function.path).resolve()), question.table is None
            for answer in answers.possible - answers.given:
                key = answer if isinstance(answer, tuple) else (answer,)
                if condition or any(number in sizes for number in key for sizes in self._sizes):
                    numbers = _numbers([question.node], answers.held, seen) if condition else key
                    yield Unreached(path, question.node.lineno, question.what(answer), by, numbers)

    def _left(self, seen: _Seen, influence: Influence) -> Iterator[Unreached]:
        for branch in seen.function.branches:
            by = influence.of(branch.node)
            ran = any(end in branch.header for _, end in seen.steps)
            if not by or not ran or (by == SIZE and not _varies(seen.values.get(branch.header.start))):
                continue
            numbers = _numbers(branch.decides, seen.values.get(branch.header.start, {}), seen)
            for arm in branch.arms:
                if not arm.taken(seen.steps, branch.header) and not _settled(branch, arm, seen, influence):
                    path = str(Path(seen.function.path).resolve())
                    yield Unreached(path, arm.line, arm.what, by, numbers)

    # ---- tracing

    def _called(self, frame: FrameType, _event: str, _argument: Any) -> _Local:
        code = frame.f_code
        seen = self._codes[code] if code in self._codes else self._first(frame)
        if seen is None:
            return None
        self._called_from(frame, seen.function)
        steps, conditions, questions, last = seen.steps, seen.conditions, seen.questions, 0
        asked = set[Question]()
        frame.f_trace_opcodes = bool(seen.sides)

        def local(frame: FrameType, event: str, _argument: Any) -> _Local:
            nonlocal last
            if event == "opcode":
                seen.answer(seen.sides.ran(frame.f_lasti, asked))
            elif event == "line":
                line = frame.f_lineno
                seen.answer(passed_by(asked, line))
                steps.add((last, line))
                last = line
                self._count()
                if (condition := conditions.get(line)) is not None:
                    self._note(seen, line, condition, frame)
                for question in questions.get(line, ()):
                    self._ask(seen, question, frame)
            elif event == "return":
                steps.add((last, 0))
                seen.answer(passed_by(asked, 0))
            elif event == "exception":  # so that what an exception leads to is not taken for the way of a condition
                last = -1
                asked.clear()
            return local

        return local

    def _first(self, frame: FrameType) -> _Seen | None:
        """Whether a code object is to be followed: a function of the user's, in a file that can be read."""
        code, path = frame.f_code, frame.f_code.co_filename
        self._codes[code] = None
        if path.startswith(_ELSEWHERE) or code.co_name == "__init__":
            return None
        if path not in self._files:
            self._files[path] = functions(path)
        function = self._files[path].get(code.co_firstlineno)
        if function is not None and function.node.name == code.co_name:
            inputs = self._inputs if code is self._root else frozenset[str]()
            self._codes[code] = _Seen(function, frame.f_globals, inputs, Sides(code, function.questions))
            self._changed = True
        return self._codes[code]

    def _called_from(self, frame: FrameType, function: Function) -> None:
        """Note the user's line that the call comes from, by way of Paddle or not."""
        caller = frame.f_back
        while caller is not None and (seen := self._codes.get(caller.f_code)) is None:
            caller = caller.f_back
        if caller is not None and seen is not None:
            functions = seen.calls.setdefault(caller.f_lineno, set())
            self._changed |= function not in functions
            functions.add(function)

    def _count(self) -> None:
        self._lines += 1
        if self._limit is not None and self._lines > self._limit:
            raise TooLong

    def _ask(self, seen: _Seen, question: Question, frame: FrameType) -> None:
        answer = question.answered(frame)
        if answer is not None or question.guard is not None:
            answers = seen.answers.setdefault(question, _Answers())
            if answer is not None:
                answers.possible |= question.possible(frame)
                answers.given.add(answer)
            held = answers.held.setdefault(self._case, set())
            if len(held) < _NOTED:
                held.add(tuple(_plain(value) for value in _parts(question.node, frame)))

    def _note(self, seen: _Seen, line: int, condition: ast.expr, frame: FrameType) -> None:
        noted = seen.values.setdefault(line, {}).setdefault(self._case, set())
        if len(noted) < _NOTED:
            noted.add(tuple(_plain(value) for value in _parts(condition, frame)))
        if isinstance(condition, ast.BoolOp):
            for operand in condition.values:
                if (truth := _truth(operand, frame)) is not None:
                    seen.truths.setdefault(operand, set()).add(truth)


def _settled(branch: Branch, arm: Arm, seen: _Seen, influence: Influence) -> bool:
    """Whether configuration settles an `and` that is false without inputs, or an `or` that is true without them."""
    condition = branch.condition
    if not isinstance(condition, ast.BoolOp) or not isinstance(branch.node, (ast.If, ast.While)):
        return False
    wanted = isinstance(condition.op, ast.And)  # what every operand must be for the operator not to be settled by one
    of_body = arm is branch.arms[0]
    fixed = [operand for operand in condition.values if not influence.of(operand)]
    return of_body is wanted and any(seen.truths.get(operand) == {not wanted} for operand in fixed)


def _varies(by_case: Mapping[int, set[Any]] | None) -> bool:
    """Whether what stands in a condition is not the same in all cases; where only one came by, nobody knows."""
    sets = list((by_case or {}).values())
    return len(sets) < 2 or any(one != sets[0] or len(one) == _NOTED for one in sets)


def _parts(node: ast.AST, frame: FrameType) -> Iterator[Any]:
    """The values of the names, plain attributes and sizes in a condition. Nothing is called for them."""
    if isinstance(node, ast.Subscript) and (size := size_of(node, frame)) is not None:
        yield size
    elif isinstance(node, ast.Attribute):
        found = looked_up(node, frame)
        if node.attr == "shape":
            yield looked_up(node.value, frame)  # of a tensor its sizes are what is noted
        elif node.attr not in FIXED:
            yield from _parts(node.value, frame) if found is None else (found,)
    elif isinstance(node, ast.Name):
        yield frame.f_locals.get(node.id)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _parts(child, frame)


def _truth(operand: ast.expr, frame: FrameType) -> bool | None:
    """Whether an operand such as `self.training`, `not flag`, `x is None` or `isinstance(x, dict)` is true.

    None where it is anything else, or no plain value: nothing of the user's is called for it.
    """
    if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not):
        inner = _truth(operand.operand, frame)
        return None if inner is None else not inner
    if isinstance(operand, ast.Compare) and len(operand.ops) == 1:
        return _compared(operand, frame)
    if isinstance(operand, ast.Call) and ast.unparse(operand.func) == "isinstance" and len(operand.args) == 2:
        kinds = operand.args[1].elts if isinstance(operand.args[1], ast.Tuple) else [operand.args[1]]
        classes = [_bound(kind, frame) for kind in kinds]
        known = _is_bound(operand.args[0], frame) and all(isinstance(one, type) for one in classes)
        return isinstance(looked_up(operand.args[0], frame), tuple(classes)) if known else None
    value = looked_up(operand, frame)
    return bool(value) if isinstance(value, _PLAIN) else None


def _compared(node: ast.Compare, frame: FrameType) -> bool | None:
    right, operator = node.comparators[0], node.ops[0]
    if not isinstance(right, ast.Constant) or not _is_bound(node.left, frame):
        return None
    value = looked_up(node.left, frame)
    if right.value is None and isinstance(operator, (ast.Is, ast.IsNot)):
        return (value is None) is isinstance(operator, ast.Is)
    if isinstance(value, _PLAIN) and isinstance(operator, (ast.Eq, ast.NotEq)):
        return (value == right.value) is isinstance(operator, ast.Eq)
    return None


def _is_bound(node: ast.expr, frame: FrameType) -> bool:
    """Whether a local name stands for a value, so that None is what it holds and not that nothing is known."""
    return (isinstance(node, ast.Name) and node.id in frame.f_locals) or looked_up(node, frame) is not None


def _bound(node: ast.expr, frame: FrameType) -> Any:
    """What `dict` or `paddle.Tensor` is: a name of the module or of Python, then attributes of modules."""
    if isinstance(node, ast.Name):
        return frame.f_globals.get(node.id, frame.f_builtins.get(node.id))
    return (
        vars(owner).get(node.attr)
        if isinstance(node, ast.Attribute) and isinstance(owner := _bound(node.value, frame), ModuleType)
        else None
    )


def _plain(value: Any) -> Any:
    """What of a value can be compared from case to case: plain values themselves, of tensors the sizes."""
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple)):
        return len(value), *(_plain(part) for part in value[:_LONG])
    shape = getattr(type(value), "shape", None) and value.shape
    return ("sizes", *shape) if isinstance(shape, (list, tuple)) else type(value).__name__


def _numbers(nodes: Sequence[ast.expr | ast.pattern], held: Mapping[int, set[Any]], seen: _Seen) -> tuple[int, ...]:
    """Whole numbers that a condition asks by: written in it, of the module, or what its names hold in every case.

    In a text they count as well: `str(list(x.shape)).startswith("[3, ")` asks for a size. Where it asks by several
    sizes, also what they are in the first case: it may compare them, as `h == w` does.
    """
    parts = [part for node in nodes for part in ast.walk(node)]
    cases = [{value for values in noted for value in values} for noted in held.values()]
    sizes = {number for value in next(iter(cases), ()) for number in _sizes_in(value)}
    every = [
        *(sizes if len(sizes) > 1 else ()),
        *(part.value for part in parts if isinstance(part, ast.Constant)),
        *(seen.globals.get(part.id) for part in parts if isinstance(part, ast.Name)),
        *(set.intersection(*cases) if cases else ()),
    ]
    return tuple(sorted({number for value in every for number in _whole(value)}))


def _whole(value: object) -> list[int]:
    """A whole number, or those in a short text."""
    if type(value) is str and len(value) <= _LONGEST_TEXT:
        return [int(digits) for digits in re.findall(r"\d{1,9}", value)]
    return [value] if type(value) is int else []


def _sizes_in(value: Any) -> tuple[Any, ...]:
    """The whole numbers in what :func:`_plain` notes: of a tensor its sizes."""
    of_tensor = isinstance(value, tuple) and value[:1] == ("sizes",)
    return tuple(number for number in (value[1:] if of_tensor else (value,)) if type(number) is int)


__all__ = ["SIZE", "VALUE", "Coverage", "TooLong", "Unreached"]
