"""Small questions about syntax."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeGuard


def loaded(target: ast.expr) -> ast.expr:
    """The expression that reads what an assignment writes."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load())
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    return target


def none_test(test: ast.expr) -> tuple[str, bool]:
    """The name that a test compares with None, and whether it asks for None."""
    if (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and isinstance(test.ops[0], (ast.Is, ast.IsNot))
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    ):
        return test.left.id, isinstance(test.ops[0], ast.Is)
    return "", False


def flag_set_for_good(node: ast.If) -> str:
    """The attribute that a test asks for and its body sets to a constant: `if not self.ready: self.ready = True`.

    Or to what the test compares it with: `if self.size != size: self.size = size`.
    """
    asked: ast.expr = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
    wanted = ""
    if isinstance(asked, ast.Compare) and isinstance(asked.ops[0], ast.NotEq):
        wanted = ast.unparse(asked.comparators[0])
        asked = asked.left
    if not isinstance(asked, ast.Attribute):
        return ""
    for each in node.body:
        value = each.value if isinstance(each, ast.Assign) else None
        known = isinstance(value, ast.Constant) if not wanted else value is not None and ast.unparse(value) == wanted
        targets = each.targets if isinstance(each, ast.Assign) and known else []
        if any(isinstance(one, ast.Attribute) and one.attr == asked.attr for one in targets):
            return asked.attr
    return ""


#: Methods that change the container they belong to.
MUTATORS = frozenset(
    "append extend insert pop remove clear add update setdefault popleft appendleft popitem "
    "reverse sort discard".split()
)


_MUTATES = re.compile(rf"\.({'|'.join(sorted(MUTATORS))})\(")


def changed_names(tree: ast.Module, lines: Sequence[str]) -> frozenset[str]:
    """Names and attributes that hold a container which some function, constructors left out, changes or replaces.

    Expressions are looked into only where the text of the line has a method that changes something: to walk through
    all of them costs a check of many files a tenth of its time.
    """
    found: set[str] = set()
    aliases: dict[str, str] = {}
    hot = {number for number, line in enumerate(lines, 1) if _MUTATES.search(line)}
    for statement in _statements(tree):
        body = getattr(statement, "body", None)
        end = body[0].lineno if body else statement.end_lineno or statement.lineno
        if not hot.isdisjoint(range(statement.lineno, end + 1)):
            calls = (each.func for each in inside(statement) if isinstance(each, ast.Call))
            found |= {last_name(e.value) for e in calls if isinstance(e, ast.Attribute) and e.attr in MUTATORS}
        if isinstance(statement, (ast.Assign, ast.Delete)):
            found |= {last_name(one) for each in statement.targets for one in _parts(each)}
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                aliases[statement.targets[0].id] = last_name(statement.value)
        elif isinstance(statement, ast.AugAssign):
            found.add(last_name(statement.target))
    return frozenset(found | {held for alias, held in aliases.items() if alias in found})


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    """The items and attributes that an assignment writes; a plain name is bound anew, what it held stays."""
    for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,):
        if isinstance(each, (ast.Subscript, ast.Attribute)):
            yield each


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement inside of a function that is no constructor."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, inner = waiting.pop()
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            for each in getattr(node, block, ()):
                function = isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
                if inner and isinstance(each, ast.stmt):
                    yield each
                if not (function and each.name == "__init__"):
                    waiting.append((each, inner or function))


def last_name(node: ast.AST) -> str:
    """The name or attribute that an expression begins from: `parts` of `self.parts[0]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def inside(node: ast.AST, without: tuple[type, ...] = ()) -> Iterator[ast.AST]:
    """The nodes below a node, in no order; those of the kinds `without` and what is below them are left out.

    It does what `ast.walk` does in a third of the time, which a check of many files notices.
    """
    waiting = [node]
    while waiting:
        for value in vars(waiting.pop()).values():
            for each in value if value.__class__ is list else (value,):
                if isinstance(each, ast.AST) and not isinstance(each, without):
                    yield each
                    waiting.append(each)


@lru_cache(maxsize=4096)
def assigned_calls(function: ast.AST) -> tuple[ast.expr, ...]:
    """What dy2static makes an assignment to a call of.

    That is `append` or `pop`, below an `if`, `for` or `while`, of what is no name, as in `found.get(key).append(x)`;
    and an attribute `shape` that is assigned to.
    """
    nodes = list(inside(function))
    blocks = [each for each in nodes if isinstance(each, (ast.If, ast.For, ast.While))]
    found: dict[ast.expr, None] = {each: None for one in blocks for each in inside(one) if _is_stray_append(each)}
    shapes = [each for each in nodes if isinstance(each, ast.Attribute) and each.attr == "shape"]
    return (*found, *(each for each in shapes if isinstance(each.ctx, ast.Store)))


def _is_stray_append(node: ast.AST) -> TypeGuard[ast.Call]:
    method = node.func if isinstance(node, ast.Call) else None
    changes = isinstance(method, ast.Attribute) and method.attr in ("append", "pop")
    return changes and not isinstance(method.value, _TARGETS)  # type: ignore[union-attr]


_TARGETS = (ast.Name, ast.Attribute, ast.Subscript)


@lru_cache(maxsize=4096)
def unpacked_enumerates(function: ast.AST) -> tuple[ast.For, ...]:
    """Loops through `enumerate` that take their items apart, and that a `return` or a `break` of their own leaves."""
    loops = (each for each in inside(function) if isinstance(each, ast.For) and _takes_apart(each))
    return tuple(each for each in loops if _left_early(each))


def _takes_apart(loop: ast.For) -> bool:
    function = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    counted = isinstance(function, ast.Name) and function.id == "enumerate"
    parts = loop.target.elts if isinstance(loop.target, (ast.Tuple, ast.List)) else []
    return counted and not all(isinstance(each, ast.Name) for each in parts)


def _left_early(loop: ast.For) -> bool:
    functions, loops = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda), (ast.For, ast.While)
    if any(isinstance(each, ast.Return) for each in inside(loop, functions)):
        return True
    own = [each for each in loop.body if not isinstance(each, loops)]
    return any(isinstance(each, ast.Break) for one in own for each in (one, *inside(one, (*loops, *functions))))


def if_around(tree: ast.AST, node: ast.AST) -> ast.If | None:
    """The `if` statement whose condition holds an expression."""
    found = (each for each in ast.walk(tree) if isinstance(each, ast.If) and node in ast.walk(each.test))
    return next(found, None)


def compared_with(tree: ast.AST, node: ast.AST) -> list[ast.expr]:
    """What an expression is compared with, if it is."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Compare) and node in (sides := [each.left, *each.comparators]):
            return [one for one in sides if one is not node]
    return []


def without_effect(statement: ast.stmt) -> bool:
    """Whether a statement only checks or tells something, or names dimensions: `n = x.shape[0]`."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return statement.value is not None and _of_shape(statement.value)
    if isinstance(statement, ast.Expr):
        value = statement.value
        tells = isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in _TELLING
        return tells or isinstance(value, ast.Constant)
    return isinstance(statement, (ast.Assert, ast.Pass))


_TELLING = frozenset("print debug info warning warn error log".split())


def _of_shape(node: ast.expr) -> bool:
    """Whether an expression is a shape or made of its dimensions."""
    if isinstance(node, ast.Attribute):
        return node.attr == "shape"
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).endswith(".shape") or (
            ast.unparse(node.func) in ("int", "list", "tuple") and all(map(_of_shape, node.args))
        )
    if isinstance(node, ast.Subscript):
        return _of_shape(node.value)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(_of_shape, node.elts)) and bool(node.elts)
    return isinstance(node, ast.BinOp) and _of_shape(node.left) and isinstance(node.right, ast.Constant)
