"""The functions of a source file and the branches in each, by line: what a branch is, and when an arm of it was taken.

Only what lines can tell: a branch whose body stands on the line of its condition is left out, and so are conditional
expressions (:mod:`exporter.prove.goldens.questions` and :mod:`exporter.prove.goldens.sides` have these). Of an
`except` on one line it is enough that its line ran.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from exporter.prove.goldens.questions import Question, questions

#: From one line to the next that ran in a frame; to 0 where the function returned.
Step: TypeAlias = tuple[int, int]

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_MADE_AT_IMPORT = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NotImplementedError"})


@dataclass(frozen=True)
class Arm:
    """One way on from a branch. Without `body` it is the way past the body of a branch that has no `else`."""

    line: int
    body: range | None
    past: range = range(0)

    def taken(self, steps: set[Step], header: range) -> bool:
        """Whether a frame went this way."""
        if self.body is not None:
            return any(end in self.body for _, end in steps)
        return any(start in header and end not in header and end not in self.past for start, end in steps)

    @property
    def what(self) -> str:
        """What to say of it where no case went this way."""
        return (
            "is reached by no case, so nothing proves it"
            if self.body is not None
            else "holds in every case, so nothing proves what follows where it does not"
        )


@dataclass(frozen=True)
class Branch:
    """A statement with arms. `header` are the lines of its condition."""

    node: ast.AST
    header: range
    arms: tuple[Arm, ...]

    @property
    def condition(self) -> ast.expr | None:
        """The condition of an `if` or `while`, what a `for` goes through or a `match` looks at, what a `try` asks."""
        for field in ("test", "iter", "subject"):
            if isinstance(found := getattr(self.node, field, None), ast.expr):
                return found
        return _asked_for(self.node) if isinstance(self.node, ast.Try) else None

    @property
    def decides(self) -> list[ast.expr | ast.pattern]:
        """The condition, and the patterns of a `match`."""
        patterns = [case.pattern for case in self.node.cases] if isinstance(self.node, ast.Match) else []
        return [*([self.condition] if self.condition is not None else []), *patterns]


@dataclass(frozen=True, eq=False)
class Function:
    """A function or method of a file; `enclosing` is the function around it."""

    path: str
    node: _Definition
    method: bool
    enclosing: Function | None

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Those that take positional arguments; `self` is not among them."""
        return self._positional[1:] if self.method else self._positional

    @cached_property
    def receiver(self) -> str:
        """What a method calls `self`."""
        return self._positional[0] if self._positional else ""

    @cached_property
    def _positional(self) -> tuple[str, ...]:
        spec = self.node.args
        return tuple(parameter.arg for parameter in (*spec.posonlyargs, *spec.args))

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """Those of its own body, not of functions inside it."""
        return tuple(branch for node in own_nodes(self.node) for branch in _branches(node))

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Those of its own body that lines do not tell."""
        return tuple(question for node in own_nodes(self.node) for question in questions(node))

    @cached_property
    def global_names(self) -> frozenset[str]:
        """What it declares `global`."""
        return frozenset(name for node in own_nodes(self.node) if isinstance(node, ast.Global) for name in node.names)


def functions(path: str) -> dict[int, Function]:
    """The functions of a file by the first line of their code objects (that of the first decorator); none if unread."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):  # a file that was changed since it was imported, or no file at all
        return {}
    found: dict[int, Function] = {}
    _collect(tree, path, None, False, found)
    return found


def _collect(node: ast.AST, path: str, enclosing: Function | None, in_class: bool, found: dict[int, Function]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in child.decorator_list)
            function = Function(path, child, in_class and not static, enclosing)
            found[min([child.lineno, *(mark.lineno for mark in child.decorator_list)])] = function
            _collect(child, path, function, False, found)
        else:
            _collect(child, path, enclosing, isinstance(child, ast.ClassDef), found)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes below a function, without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from own_nodes(child)


def _branches(node: ast.AST) -> Iterator[Branch]:
    if isinstance(node, (ast.If, ast.While)):
        header, body = range(node.lineno, _end(node.test) + 1), _lines(node.body)
        after = Arm(node.orelse[0].lineno, _lines(node.orelse)) if node.orelse else Arm(node.lineno, None, body)
        if body.start not in header:
            yield Branch(node, header, (Arm(body.start, body), after))
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        header, body = range(node.lineno, _end(node.iter) + 1), _lines(node.body)
        if body.start not in header:
            yield Branch(node, header, (Arm(body.start, body),))
    elif isinstance(node, ast.Match):
        header = range(node.lineno, _end(node.subject) + 1)
        bodies = [_lines(case.body) for case in node.cases if case.body[0].lineno > case.pattern.lineno]
        yield Branch(node, header, tuple(Arm(body.start, body) for body in bodies))
    elif isinstance(node, ast.Try):
        header = _lines(node.body)
        caught = [handler for handler in node.handlers if not names_of(handler.type) & _MADE_AT_IMPORT]
        blocks = [*(handler.body for handler in caught), *([node.orelse] if node.orelse else [])]
        yield Branch(node, header, tuple(Arm(body.start, body) for body in map(_lines, blocks)))


def may_raise(node: ast.Try) -> list[ast.expr]:
    """What decides whether the body of a `try` ends early: its calls, assertions, indices, and what is divided by."""
    below = [part for statement in node.body for part in (statement, *own_nodes(statement))]
    found: list[ast.expr] = []
    for part in below:
        if isinstance(part, ast.Call):
            found.append(part)
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load):
            found.append(part.slice)
        elif isinstance(part, ast.Assert):
            found.append(part.test)
        elif isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            found.append(part.right)
    return found


def _asked_for(node: ast.Try) -> ast.expr | None:
    """What a `try` asks for, as one expression; None where that is not known before it runs."""
    parts = may_raise(node)
    stored = {part.id for statement in node.body for part in ast.walk(statement)
              if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}  # fmt: skip
    known = not any(isinstance(part, ast.Call) or names_of(part) & stored for part in parts)
    return ast.Tuple(parts, ast.Load()) if parts and known else None


def names_of(node: ast.AST | None) -> set[str]:
    """Every name that is mentioned below a node, attributes among them."""
    below = ast.walk(node) if node is not None else ()
    return {part.id if isinstance(part, ast.Name) else part.attr for part in below
            if isinstance(part, (ast.Name, ast.Attribute))}  # fmt: skip


def _lines(body: list[ast.stmt]) -> range:
    return range(body[0].lineno, _end(body[-1]) + 1)


def _end(node: ast.expr | ast.stmt) -> int:
    return node.end_lineno or node.lineno
