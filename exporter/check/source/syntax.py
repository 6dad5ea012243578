"""Small questions about syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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


def if_around(tree: ast.AST, node: ast.AST) -> ast.If | None:
    """The `if` statement whose condition holds an expression."""
    found = (each for each in ast.walk(tree) if isinstance(each, ast.If) and node in ast.walk(each.test))
    return next(found, None)


def type_is_only_compared(tree: ast.AST, node: ast.AST) -> bool:
    """Whether `type(x)` only serves `isinstance(y, type(x))`, at once or through a name of the same function."""
    kinds = [each.args[1] for each in ast.walk(tree) if _is_isinstance(each)]
    compared = {one for kind in kinds for one in ast.walk(kind)}
    if node in compared:
        return True
    holders = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and node in inside(each)]
    if not holders:
        return False
    every = list(inside(holders[-1]))
    held = [each for each in every if isinstance(each, ast.Assign) and node in ast.walk(each.value)]
    if len(held) != 1 or not isinstance(held[0].value, (ast.Call, ast.IfExp)):
        return False
    names = {each.id for each in held[0].targets if isinstance(each, ast.Name)}
    loads = [each for each in every if isinstance(each, ast.Name) and each.id in names]
    return bool(names) and all(each in compared for each in loads if isinstance(each.ctx, ast.Load))


def _is_isinstance(node: ast.AST) -> TypeGuard[ast.Call]:
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
    return named and len(node.args) == 2  # type: ignore[attr-defined]


def handed_on_as(tree: ast.AST, node: ast.AST) -> str:
    """The keyword that an expression is the value of, if it is: `place` of `paddle.to_tensor(1, place=x.place)`."""
    found = (each.arg for each in ast.walk(tree) if isinstance(each, ast.keyword) and each.value is node)
    return next(found, None) or ""


def is_named(tree: ast.AST, node: ast.AST) -> bool:
    """Whether an expression is all that a name is given: `device = x.place`."""
    return any(isinstance(each, ast.Assign) and each.value is node for each in ast.walk(tree))


def compared_with(tree: ast.AST, node: ast.AST) -> list[ast.expr]:
    """What an expression is compared with, if it is."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Compare) and node in (sides := [each.left, *each.comparators]):
            return [one for one in sides if one is not node]
    return []


def without_effect(statement: ast.stmt) -> bool:
    """Whether a statement only checks, refuses or tells something, or names dimensions: `n = x.shape[0]`."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return statement.value is not None and _of_shape(statement.value)
    if isinstance(statement, ast.Expr):
        value = statement.value
        tells = isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in _TELLING
        return tells or isinstance(value, ast.Constant)
    return isinstance(statement, (ast.Assert, ast.Pass, ast.Raise))


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


@lru_cache(maxsize=4096)
def is_generator(node: ast.AST | None) -> bool:
    """Whether a function yields, nested functions left out."""
    if not isinstance(node, ast.FunctionDef):
        return False
    nested = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in inside(node, nested))
