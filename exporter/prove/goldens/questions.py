"""Questions that are decided within a line: which entry of a table a size takes, and which side of `a if n > 5 else b`.

Lines do not tell what was answered, so the answer is computed from the frame before the line runs. Nothing of the
user's is called for it: where an expression is more than whole numbers, names and sizes, nothing is known.
"""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from types import FrameType
from typing import Any

_METHODS = frozenset({"get", "pop", "setdefault", "add", "discard", "remove"})
#: What makes a set or the keys of a dict of a list that is written out.
_MAKES_SETS = frozenset({"set", "frozenset", "fromkeys", "Counter"})
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)
#: Tables with more entries are not looked at, and of a table so many entries are asked for: each may be one case more.
_LONGEST, _ENTRIES = 64, 8
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True, eq=False)
class Question:
    """An expression that decides: a condition, or the key that `table` is asked for.

    `guard` is the `a if … else b`, or the `if` on one line, whose condition it is.
    """

    node: ast.expr
    table: ast.expr | None = None
    guard: ast.IfExp | ast.If | None = None

    def what(self, answer: object) -> str:
        """What to say of an answer that no case gave."""
        if self.table is not None:
            return f"no case takes the entry {answer} of `{ast.unparse(self.table)}`, so nothing proves it"
        return f"`{ast.unparse(self.node)}` is {answer} in no case, so nothing proves what it decides there"

    def answered(self, frame: FrameType) -> object | None:
        """The truth of a condition, or the key: a whole number or a tuple of some. None where that is not known."""
        value: object = computed(self.node, frame)
        return bool(value) if self.table is None and value is not None else value

    def possible(self, frame: FrameType) -> frozenset[object]:
        """Both truths of a condition; of a table its entries under whole numbers, at most eight of them."""
        if self.table is None:
            return frozenset({True, False})
        keys = sorted(_keys(self.table, frame), key=lambda key: key if isinstance(key, tuple) else (key,))
        step = max(1, -(-len(keys) // _ENTRIES))
        return frozenset(keys[::step]) if len(keys) <= _LONGEST else frozenset()


def questions(node: ast.AST) -> Iterator[Question]:
    """Those that a node itself asks."""
    if isinstance(node, ast.IfExp) or (isinstance(node, (ast.If, ast.While)) and _on_one_line(node)):
        if not isinstance(node.test, ast.Constant):
            yield Question(node.test, guard=None if isinstance(node, ast.While) else node)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        if not isinstance(node.slice, (ast.Constant, ast.Slice)):
            yield Question(node.slice, node.value)
    elif (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and node.args
    ):
        yield Question(node.args[0], node.func.value)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        yield Question(node.left, node.comparators[0])
    elif isinstance(node, (ast.Set, ast.Call, ast.BinOp)):
        yield from _same(node)
    elif isinstance(node, ast.Match):
        short = [case.pattern for case in node.cases if case.body[0].lineno == case.pattern.lineno]
        values = [part.value for pattern in short for part in ast.walk(pattern) if isinstance(part, ast.MatchValue)]
        if values:
            yield Question(node.subject, ast.Set(values))


def _same(node: ast.Set | ast.Call | ast.BinOp) -> Iterator[Question]:
    """Whether two elements of a set are the same one: eagerly equal sizes are, and those of a trace never."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, _SET_OPERATORS):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, ast.Set):
                    yield from (Question(part, other) for part in one.elts if not isinstance(part, ast.Constant))
        return
    written = node.elts if isinstance(node, ast.Set) else _collected(node)
    for one, other in combinations(written[:_ENTRIES], 2):
        if not (isinstance(one, ast.Constant) and isinstance(other, ast.Constant)):
            yield Question(ast.copy_location(ast.Compare(one, [ast.Eq()], [other]), one))


def _collected(node: ast.Call) -> list[ast.expr]:
    """The elements that a call such as `set([a, b])` makes a set of."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0] if node.args else None
    return first.elts if name in _MAKES_SETS and isinstance(first, (ast.List, ast.Tuple)) else []


def _on_one_line(node: ast.If | ast.While) -> bool:
    return node.body[0].lineno <= (node.test.end_lineno or node.lineno)


def computed(node: ast.expr, frame: FrameType) -> Any:
    """The value of an expression of whole numbers, names and sizes; None where it is another."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, (ast.Name, ast.Attribute)):
        found = _bound(node, frame)
        return found if type(found) in (int, bool) else None
    if isinstance(node, ast.Subscript):
        return size_of(node, frame)
    if isinstance(node, ast.Call):
        whole = isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1
        return computed(node.args[0], frame) if whole else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        value = computed(node.operand, frame)
        return None if value is None else not value
    parts = _parts(node)
    values = [computed(part, frame) for part in parts]
    if not parts or any(value is None for value in values):
        return None
    if isinstance(node, ast.Tuple):
        return tuple(values)
    if isinstance(node, ast.BoolOp):
        return all(values) if isinstance(node.op, ast.And) else any(values)
    return _operated(node, values)


def _parts(node: ast.expr) -> list[ast.expr]:
    """The operands of an expression that is computed from them."""
    if isinstance(node, ast.Tuple):
        return node.elts
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return [node.left, *node.comparators] if isinstance(node, ast.Compare) and len(node.ops) == 1 else []


def _operated(node: ast.expr, values: list[Any]) -> Any:
    kind = node.op if isinstance(node, ast.BinOp) else node.ops[0] if isinstance(node, ast.Compare) else node
    try:
        return _OPERATORS[type(kind)](*values)
    except (KeyError, TypeError, ArithmeticError):
        return None


def _keys(table: ast.expr, frame: FrameType) -> set[Any]:
    """The whole numbers, and tuples of some, that a dict or set has for keys; none where there is no such table."""
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute) and table.func.attr == "keys":
        table = table.func.value
    if isinstance(table, (ast.Dict, ast.Set)):
        written = table.keys if isinstance(table, ast.Dict) else table.elts
        values = [computed(part, frame) for part in written if part is not None]
        return {value for value in values if value is not None}
    found = _bound(table, frame)
    if isinstance(table, ast.Attribute) and found is None:  # of the class
        found = inspect.getattr_static(looked_up(table.value, frame), table.attr, None)
    if not isinstance(found, (dict, set, frozenset)) or len(found) > _LONGEST:
        return set()
    keys = dict.keys(found) if isinstance(found, dict) else found
    return {key for key in keys if type(key) is int or (type(key) is tuple and all(type(part) is int for part in key))}


def _bound(node: ast.expr, frame: FrameType) -> Any:
    """As :func:`looked_up`, and names of the module."""
    if isinstance(node, ast.Name) and node.id not in frame.f_locals:
        return frame.f_globals.get(node.id)
    return looked_up(node, frame)


def size_of(node: ast.Subscript, frame: FrameType) -> int | None:
    """The value of `x.shape[2]`; None where that is not what it is."""
    if not isinstance(node.value, ast.Attribute) or node.value.attr != "shape":
        return None
    try:
        axis = ast.literal_eval(node.slice)
        return int(looked_up(node.value.value, frame).shape[axis])
    except (ValueError, TypeError, AttributeError, IndexError):
        return None


def looked_up(node: ast.expr, frame: FrameType) -> Any:
    """The value of `a` or `a.b.c`, by the objects' own dictionaries alone; None where that does not tell."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = looked_up(node.value, frame)
        return getattr(owner, "__dict__", {}).get(node.attr)
    return None
