"""Which names, attributes and containers code reads and writes, by its text alone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from exporter.check.source.syntax import blocks, inside, last_name, of_kind


def asked_and_set(node: ast.If) -> frozenset[str]:
    """Attributes that a test asks for and its body gives a value that they have no part in.

    A mark or a key of what the body keeps: `if not self.ready: self.ready = True`, or
    `if size > self.size: self.size = size`.
    """
    asked = {each.attr for each in (node.test, *inside(node.test)) if isinstance(each, ast.Attribute)}
    found: set[str] = set()
    for each in node.body if asked else ():
        if isinstance(each, ast.Assign):
            names = {one.attr for one in each.targets if isinstance(one, ast.Attribute)}
            own = {one.attr for one in (each.value, *inside(each.value)) if isinstance(one, ast.Attribute)}
            found |= (names & asked) - own
    return frozenset(found)


#: Methods that change the container they belong to.
MUTATORS = frozenset(
    "append extend insert pop remove clear add update setdefault popleft appendleft popitem "
    "reverse sort discard".split()
)
#: What the text of a function holds that calls one of them.
_CALLED = tuple(f".{name}" for name in sorted(MUTATORS))


def changed_names(
    tree: ast.Module, mentions: Callable[[ast.FunctionDef | ast.AsyncFunctionDef, Iterable[str]], bool]
) -> frozenset[str]:
    """Names and attributes that hold a container which some function, constructors left out, changes or replaces."""
    found: set[str] = set()
    aliases: dict[str, str] = {}
    for node in _running(tree):
        if isinstance(node, _FUNCTIONS) and mentions(node, _CALLED):
            calls = (call.func for call in of_kind(node, ast.Call))
            found |= {last_name(e.value) for e in calls if isinstance(e, ast.Attribute) and e.attr in MUTATORS}
        elif isinstance(node, ast.AugAssign):
            found.add(last_name(node.target))
        elif isinstance(node, (ast.Assign, ast.Delete)):
            found |= {last_name(one) for each in node.targets for one in _parts(each)}
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                aliases[node.targets[0].id] = last_name(node.value)
    return frozenset(found | {held for alias, held in aliases.items() if alias in found})


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _running(tree: ast.Module) -> list[ast.stmt]:
    """Functions but for constructors, and every statement inside of them."""
    found: list[ast.stmt] = []
    waiting: list[tuple[list[ast.stmt], bool]] = [(blocks(tree), False)]
    for statements, inner in waiting:
        for each in statements:
            inside_of_one = inner or isinstance(each, _FUNCTIONS)
            if inside_of_one and getattr(each, "name", "") != "__init__":
                found.append(each)
            if (below := blocks(each)) and getattr(each, "name", "") != "__init__":
                waiting.append((below, inside_of_one))
    return found


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    """The items and attributes that an assignment writes; a plain name is bound anew, what it held stays."""
    for each in target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,):
        if isinstance(each, (ast.Subscript, ast.Attribute)):
            yield each


def read_later(function: ast.AST | None, name: str, node: ast.AST) -> bool:
    """Whether a name is read behind a node, for more than its shape or dtype, before it is given another value."""
    if function is None:
        return False
    end = getattr(node, "end_lineno", 0)
    elsewhere = _other_sides(function, getattr(node, "lineno", 0))
    described = {owner.value for owner in of_kind(function, ast.Attribute) if owner.attr in ("shape", "ndim", "dtype")}
    later = [
        (each.lineno, isinstance(each.ctx, ast.Store))
        for each in of_kind(function, ast.Name)
        if each.id == name and each.lineno > end and each.lineno not in elsewhere and each not in described
    ]
    return bool(later) and not min(later)[1]


def _other_sides(function: ast.AST, line: int) -> set[int]:
    """The lines that do not run where this one does: the `else` of each `if` that it stands under."""
    found: set[int] = set()
    for each in of_kind(function, ast.If):
        if each.orelse and each.body[0].lineno <= line < each.orelse[0].lineno:
            found.update(range(each.orelse[0].lineno, (each.end_lineno or line) + 1))
    return found
