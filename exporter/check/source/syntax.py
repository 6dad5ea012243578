"""Small questions about syntax."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

A = TypeVar("A")
N = TypeVar("N", bound=ast.AST)


def none_test(test: ast.expr) -> tuple[str, bool]:
    """The name that a test compares with None, and whether it asks for None."""
    match test:
        case ast.Compare(ast.Name(name), [ast.Is() | ast.IsNot() as asks, *_], [ast.Constant(None), *_]):
            return name, isinstance(asks, ast.Is)
        case _:
            return "", False


def last_name(node: ast.AST) -> str:
    """The name or attribute that an expression begins from: `parts` of `self.parts[0]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


#: What fields hold besides nodes, and operators and contexts.
_PLAIN = frozenset("boolop cmpop constant expr_context identifier int operator string unaryop".split())
_FIELD = re.compile(r"(\w+)(\??)(\*?)\?? (\w+)")


def _fields(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a class of syntax that hold a node or None, and those that hold a list of them.

    Its docstring says so: `For(expr target, expr iter, stmt* body, stmt* orelse, string? type_comment)`.
    """
    found = [(name, bool(many)) for held, _, many, name in _FIELD.findall(kind.__doc__ or "") if held not in _PLAIN]
    return tuple(name for name, many in found if not many), tuple(name for name, many in found if many)


_FIELDS = {kind: _fields(kind) for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)}
#: The fields of each compound statement that hold statements, handlers or cases.
_BLOCKS = {
    kind: tuple(name for name in many if name in ("body", "orelse", "finalbody", "handlers", "cases"))
    for kind, (_, many) in _FIELDS.items()
}
_PARTS = (ast.ExceptHandler, ast.match_case)
_DEFINITIONS = frozenset((ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))


def asked_once(question: Callable[[Any], A]) -> Callable[[Any], A]:
    """A question about a node whose answer is kept at the node, to live as long as it does."""
    name = f"{question.__module__}.{question.__name__}"

    def answer(node: ast.AST) -> A:
        kept: dict[str, A] = node.__dict__
        if name not in kept:
            kept[name] = question(node)
        return kept[name]

    return answer


def inside(node: ast.AST) -> list[ast.AST]:
    """The nodes below a node without operators and contexts: outer ones first, those in definitions last."""
    found = _own(node)
    return found + [each for one in found if one.__class__ in _DEFINITIONS for each in inside(one)]


def blocks(node: ast.AST) -> list[ast.stmt]:
    """The statements right below a node, those of handlers and cases too."""
    found: list[ast.stmt] = []
    for field in _BLOCKS[node.__class__]:
        for each in getattr(node, field):
            found += each.body if each.__class__ in _PARTS else (each,)
    return found


def definition_around(tree: ast.AST, node: ast.AST) -> ast.AST:
    """The innermost definition whose lines hold a node; the tree where there is none."""
    line, around, below = getattr(node, "lineno", 0), tree, blocks(tree)
    while statement := next((each for each in below if each.lineno <= line <= (each.end_lineno or line)), None):
        around = statement if statement.__class__ in _DEFINITIONS else around
        below = blocks(statement)
    return around


def of_kind(node: ast.AST, *kinds: type[N]) -> list[N]:
    """The nodes below a node that are of one of the classes, class by class."""
    if node.__class__ not in _DEFINITIONS:
        return [each for each in inside(node) if each.__class__ in kinds]
    own, definitions = _by_kind(node)
    found = [each for kind in kinds for each in own.get(kind, ())]
    for definition in definitions:
        found += of_kind(definition, *kinds)
    return found


@asked_once
def _by_kind(node: ast.AST) -> tuple[dict[type, list[Any]], list[ast.AST]]:
    """The nodes of a definition by their class, without those in definitions below it; and these definitions."""
    found: dict[type, list[Any]] = {}
    for each in _own(node):
        found.setdefault(each.__class__, []).append(each)
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return found, [each for kind in inner for each in found.get(kind, ())]


def _own(node: ast.AST) -> list[ast.AST]:
    """The nodes below a node, but not those below a definition below it."""
    found = [node]
    for parent in found:
        kind = parent.__class__
        if kind in _DEFINITIONS and parent is not node:
            continue
        single, many = _FIELDS[kind]
        for field in single:
            value = getattr(parent, field)
            if value is not None:
                found.append(value)
        for field in many:
            found += filter(None, getattr(parent, field))
    return found[1:]


def inside_without(node: ast.AST, kinds: tuple[type, ...]) -> Iterator[ast.AST]:
    """The nodes below a node; those of some kinds and what is below them are left out."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, kinds):
            yield child
            yield from inside_without(child, kinds)


def if_around(tree: ast.AST, node: ast.AST) -> ast.If | None:
    """The `if` statement whose condition holds an expression."""
    tree = definition_around(tree, node)
    found = (each for each in of_kind(tree, ast.If) if node in (each.test, *inside(each.test)))
    return next(found, None)


def chooses_a_value(tree: ast.AST, node: ast.AST) -> bool:
    """Whether an expression is in the condition of `one if … else other`, or one of several that do."""
    tree = definition_around(tree, node)
    either = [each for each in of_kind(tree, ast.BoolOp) if isinstance(each.op, ast.Or)]
    return any(node in (each, *inside(each)) for each in (*(one.test for one in of_kind(tree, ast.IfExp)), *either))


def surely_leaves(body: list[ast.stmt]) -> bool:
    """Whether a block surely ends in a `return` or a `raise`."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return surely_leaves(last.body) and surely_leaves(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


def without_effect(statement: ast.stmt) -> bool:
    """Whether a statement only checks, refuses or tells something, or names dimensions: `n = x.shape[0]`."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return statement.value is not None and _of_shape(statement.value)
    if isinstance(statement, ast.Expr):
        value = statement.value
        name = ast.unparse(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
        return name in _TELLING or name.startswith(("check_", "validate_")) or isinstance(value, ast.Constant)
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


def exceptions(kind: ast.expr | None) -> set[str]:
    """The names of the exceptions that `except kind` catches; "" of a bare `except`."""
    every = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return {last_name(each) if each is not None else "" for each in every}


@asked_once
def is_generator(node: ast.AST) -> bool:
    """Whether a function yields, nested functions left out."""
    if not isinstance(node, ast.FunctionDef) or not of_kind(node, ast.Yield, ast.YieldFrom):
        return False
    own = inside_without(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef))
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in own)
