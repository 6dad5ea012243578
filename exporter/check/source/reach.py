"""Whether the value of an expression may reach what its function gives, or ends in messages and names never read.

By the text of one function, whatever the order of its lines: what is not seen to end there reaches. A silent fault is
one only where it does.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from exporter.check.source.syntax import asked_once, blocks, definition_around, inside, without_effect

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Statements that may hold what is done: they do something if one of theirs does.
_AROUND = (ast.For, ast.While, ast.With, ast.Try, ast.If)
_WAITS = ("sleep",)


def may_reach(tree: ast.AST, node: ast.AST, measures: bool = False) -> bool:
    """Return whether what an expression gives may reach the outputs of its function, or decide them.

    `measures`: it is a time, which ends in attributes that the same function does not read, in code of the project's
    own that is handed it, and where a plain function gives it back as it is.
    """
    function = definition_around(tree, node)
    return not isinstance(function, _FUNCTIONS) or _Ways(function, measures).on(node)


def does_something(tree: ast.AST, statements: Iterable[ast.stmt]) -> bool:
    """Return whether it may matter to the function around some of its statements that they run."""
    listed = [*statements]
    function = definition_around(tree, listed[0]) if listed else None
    ways = _Ways(function, False) if isinstance(function, _FUNCTIONS) else None
    return bool(listed) and (ways is None or any(map(ways.matters, listed)))


@asked_once
def _parents(function: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: parent for parent in (function, *inside(function)) for child in ast.iter_child_nodes(parent)}


@asked_once
def _reads(function: ast.AST) -> dict[str, list[ast.AST]]:
    """Find where each name and attribute of a function is read."""
    reads: dict[str, list[ast.AST]] = {}
    for node in inside(function):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            reads.setdefault(node.id if isinstance(node, ast.Name) else f".{node.attr}", []).append(node)
    return reads


class _Ways:
    """The ways of values through one function; each node is followed once."""

    def __init__(self, function: ast.AST, measures: bool) -> None:
        self._parents, self._reads, self._measures = _parents(function), _reads(function), measures
        self._plain = isinstance(function, _FUNCTIONS) and [parameter.arg for parameter in function.args.args[:1]] != [
            "self"
        ]
        self._followed: set[ast.AST] = set()

    def on(self, node: ast.AST) -> bool:
        """Return whether the value of a node reaches, from where it stands."""
        if node in self._followed:
            return False
        self._followed.add(node)
        around = self._parents.get(node)
        if isinstance(around, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            return self._given(around)
        if isinstance(around, ast.NamedExpr):
            return self._read(around.target.id) or self.on(around)
        if isinstance(around, ast.Expr):  # of a call that is dropped, what it is given may be changed
            arguments = node.args if isinstance(node, ast.Call) else ()
            return any(self._takes(argument) for argument in arguments if not isinstance(argument, ast.Constant))
        if isinstance(around, ast.If):
            return any(map(self.matters, (*around.body, *around.orelse)))
        if isinstance(around, ast.Call):
            statement = self._parents.get(around)
            if isinstance(statement, ast.Expr):
                return self._changed(around, statement)
            return not (self._measures and node in around.args and _hands_on(around)) and self.on(around)
        if isinstance(around, ast.Return) and self._measures and self._plain and isinstance(node, ast.Call):
            return False
        if isinstance(around, (ast.expr, ast.keyword, ast.comprehension)):
            return self.on(around)
        return True

    def _changed(self, call: ast.Call, statement: ast.Expr) -> bool:
        """Return whether a call that is dropped does something with what it is given."""
        if self._measures and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            return self.matters(statement) and self._read_for_more(call.func.value)
        return self.matters(statement)

    def _read_for_more(self, name: ast.Name) -> bool:
        return any(self.on(read) for read in self._reads.get(name.id, ()) if read is not name)

    def matters(self, statement: ast.stmt) -> bool:
        """Return whether it may matter that a statement runs."""
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            return self._given(statement)
        if isinstance(statement, ast.Expr):
            return not (without_effect(statement) or _waits(statement.value))
        if isinstance(statement, _AROUND):
            return any(map(self.matters, blocks(statement)))
        return not isinstance(statement, (ast.Pass, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal))

    def _given(self, statement: ast.Assign | ast.AugAssign | ast.AnnAssign) -> bool:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(self._takes(single) for target in targets for single in _single(target))

    def _takes(self, target: ast.expr) -> bool:
        if isinstance(target, ast.Name):
            return self._read(target.id)
        if isinstance(target, ast.Attribute):
            return not self._measures or self._read(f".{target.attr}")
        if isinstance(target, ast.Subscript):
            return self._takes(target.value)
        return True

    def _read(self, name: str) -> bool:
        return any(map(self.on, self._reads.get(name, ())))


def _single(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [single for part in target.elts for single in _single(part)]
    return [target.value if isinstance(target, ast.Starred) else target]


def _hands_on(call: ast.Call) -> bool:
    """Return whether a call goes to code of the project's own, by its name."""
    if not isinstance(call.func, ast.Name):
        return (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "self"
        )
    return not hasattr(builtins, call.func.id)


def _waits(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in _WAITS
