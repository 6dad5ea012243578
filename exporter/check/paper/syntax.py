"""Small questions about syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator


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


def changed_names(tree: ast.Module) -> frozenset[str]:
    """Names and attributes that hold a container which some function, constructors left out, changes or replaces."""
    found: set[str] = set()
    aliases: dict[str, str] = {}
    for node in (each for function in _functions(tree) for each in inside(function)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
                found.add(last_name(node.func.value))
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            found.add(last_name(node))
        elif isinstance(node, ast.AugAssign):
            found.add(last_name(node.target))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            aliases[node.targets[0].id] = last_name(node.value)
    return frozenset(found | {held for alias, held in aliases.items() if alias in found})


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        for each in getattr(waiting.pop(), "body", ()):
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if each.name != "__init__":
                    yield each
            elif isinstance(each, (ast.ClassDef, ast.If, ast.Try)):
                waiting.append(each)


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
