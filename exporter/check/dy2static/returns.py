"""Which branches return on some ways only: what dy2static's return transformer cannot bring together."""

from __future__ import annotations

import ast

from exporter.check.source.syntax import asked_once, of_kind

_SOME, _ALL, _NONE, _RAISES = "some", "all", "none", "raises"


@asked_once
def uneven(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[ast.If]:
    """The `if` statements of a function of which some ways return and others go on.

    What follows an `if` that holds a `return` is moved to its other side, so a chain of early returns is even. Not so
    directly inside a `with` or `try`, where nothing is moved, and not behind an `if` whose `return` was itself moved.
    Where no way returns anything, there is nothing to bring together.

    Source: 'jit/dy2static/transformers/early_return_transformer.py' of Paddle 3.3.1.
    """
    if not returns_something(function):
        return frozenset()
    found: set[ast.If] = set()
    _block(function.body, found, True)
    return frozenset(found)


def returns_something(function: ast.AST | None) -> bool:
    """Whether a `return` of a function gives anything but None."""
    values = [node.value for node in of_kind(function, ast.Return)] if function is not None else []
    return any(value is not None and not (isinstance(value, ast.Constant) and value.value is None) for value in values)


def _block(body: list[ast.stmt], found: set[ast.If], moving: bool) -> str:
    """Whether a block returns on all ways, on some, or on none; or raises, of which another rule tells."""
    returns = _NONE
    for at, statement in enumerate(body):
        inner = _NONE
        if isinstance(statement, ast.Return):
            return _ALL
        if isinstance(statement, ast.Raise):
            return _RAISES if returns == _NONE else returns
        if isinstance(statement, ast.If):
            moved = moving and _holds_return(statement.body)
            rest = body[at + 1 :] if moved else []
            sides = {_block(statement.body, found, True), _block([*statement.orelse, *rest], found, True)}
            sides = sides - {_RAISES} or {_RAISES}
            if len(sides) > 1 or _SOME in sides:
                found.add(statement)
            inner = sides.pop() if len(sides) == 1 else _SOME
            if moved:
                return inner
        elif isinstance(statement, (ast.With, ast.Try)):
            inner = _block(statement.body, found, False)
        if inner in (_ALL, _RAISES):
            return inner
        returns = _SOME if inner == _SOME else returns
    return returns


def _holds_return(body: list[ast.stmt]) -> bool:
    """Whether a `return` stands directly in a block after what follows an earlier one was moved away."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return True
        if isinstance(statement, ast.If) and _holds_return(statement.body):
            return False
    return False


def first_return(statement: ast.If) -> ast.Return:
    """The first `return` below a statement that holds one."""
    return min(of_kind(statement, ast.Return), key=lambda one: one.lineno)
