"""The two ways that a question chooses between, by the text of its function: whether they surely give something else.

Both may well give the same where either is code of the project's own, which nobody has compared, or only turns a tensor
into what it is already.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from exporter.check.source.project import ParsedModule
from exporter.check.source.reach import does_something
from exporter.check.source.syntax import definition_around, if_around, inside, last_name, of_kind, surely_leaves

#: What gives a tensor of the same values, or a number or an array of them.
_KEEPING = frozenset(
    "to_tensor as_tensor tensor numpy astype cast cpu cuda detach clone contiguous item tolist to float int".split()
)

_LIBRARIES = ("paddle.", "numpy.", "math.", "builtins.super")


class Sides(NamedTuple):
    """What runs for each answer, yes and no: statements, or the value that is chosen."""

    yes: tuple[ast.AST, ...]
    no: tuple[ast.AST, ...]


def sides(tree: ast.AST, question: ast.AST) -> Sides | None:
    """Return what a question chooses between, if it stands in the condition of an `if` or of `one if … else other`."""
    for choice in of_kind(definition_around(tree, question), ast.IfExp):
        if question in (choice.test, *inside(choice.test)):
            return _turned(choice.test, question, (choice.body,), (choice.orelse,))
    statement = if_around(tree, question)
    if statement is None:
        return None
    no = tuple(statement.orelse)
    if not no and surely_leaves(statement.body):
        no = _behind(tree, statement)
    return _turned(statement.test, question, tuple(statement.body), no)


def _turned(test: ast.expr, question: ast.AST, body: tuple[ast.AST, ...], other: tuple[ast.AST, ...]) -> Sides:
    turns = (node for node in (test, *inside(test)) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
    is_turned = sum(question in inside(turn) for turn in turns) % 2 == 1
    return Sides(other, body) if is_turned else Sides(body, other)


def _behind(tree: ast.AST, statement: ast.stmt) -> tuple[ast.stmt, ...]:
    """The statements behind one in its block."""
    around = definition_around(tree, statement)
    for node in (around, *inside(around)):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and statement in block:
                return tuple(block[block.index(statement) + 1 :])
    return ()


def refuses(side: Sequence[ast.AST]) -> bool:
    """Return whether a way ends in an exception."""
    return any(isinstance(node, ast.Raise) for node in side)


def surely_differ(module: ParsedModule, both: Sides) -> bool:
    """Return whether the two ways surely give something else, as far as their text says."""
    kept = [{_kept(node) for node in side} for side in both]
    own = [[node for node in side if not _kept(node)] for side in both]
    if not any(own):  # with an empty side, `x = x.numpy()` leaves what is there
        return len(kept[0] | kept[1]) > 1 if all(kept) else any(_target(node) != _kept(node) for node in sum(both, ()))
    if any(_is_own(module, call) for side in own for call in _calls(side)):
        return False
    if [*map(_text, own[0])] == [*map(_text, own[1])]:
        return False
    surely = [node for side in own for node in side if not isinstance(node, (ast.If, ast.Assert))]
    statements = [node for node in surely if isinstance(node, ast.stmt)]
    return any(isinstance(node, ast.expr) for node in surely) or does_something(module.tree, statements)


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _calls(side: Sequence[ast.AST]) -> Iterator[ast.Call]:
    for node in side:
        yield from (part for part in (node, *inside(node)) if isinstance(part, ast.Call))


def _is_own(module: ParsedModule, call: ast.Call) -> bool:
    """Return whether a call goes to code of the project's, or to what is not known: no method of a tensor's."""
    function = call.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
        return any(function.attr in info.methods for info in module.classes.values())  # else a layer that it has
    known = module.resolve(function)
    if isinstance(known, str):
        space, _, name = known.rpartition(".")
        return not (space == "builtins" and hasattr(builtins, name)) and not known.startswith(_LIBRARIES)
    return isinstance(function, ast.Name)


def _target(node: ast.AST) -> str:
    return ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""


def _kept(node: ast.AST) -> str:
    """Name what a statement or value gives as it is, or made a number, an array or a tensor; else nothing."""
    if isinstance(node, (ast.Assign, ast.Return)):
        return _kept(node.value) if node.value is not None else ""
    if isinstance(node, ast.Call) and last_name(node.func) in _KEEPING:
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        if of is not None and not (node.args and isinstance(of, ast.Name) and of.id in ("paddle", "torch", "np")):
            return _kept(of)
        return _kept(node.args[0]) if node.args else ""
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
