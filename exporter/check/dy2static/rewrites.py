"""Rewrites of dy2static that make code which is no Python, or leaves a loop otherwise."""

from __future__ import annotations

import ast

from exporter.check.source.syntax import asked_once, inside_without, of_kind

#: Words without which a function holds nothing that is rewritten here.
REWRITTEN = ("append", "pop", "shape", "enumerate")


@asked_once
def assigned_calls(function: ast.AST) -> tuple[ast.expr, ...]:
    """What dy2static makes an assignment to a call of.

    That is `append` or `pop`, below an `if`, `for` or `while`, of what is no name, as in `found.get(key).append(x)`;
    and an attribute `shape` that is assigned to.
    """
    blocks = of_kind(function, ast.If, ast.For, ast.While)
    found = {call: None for block in blocks for call in of_kind(block, ast.Call) if _is_stray_append(call)}
    shapes = [each for each in of_kind(function, ast.Attribute) if each.attr == "shape"]
    return (*found, *(each for each in shapes if isinstance(each.ctx, ast.Store)))


def _is_stray_append(call: ast.Call) -> bool:
    method = call.func
    changes = isinstance(method, ast.Attribute) and method.attr in ("append", "pop")
    return changes and not isinstance(method.value, _TARGETS)  # type: ignore[attr-defined]


_TARGETS = (ast.Name, ast.Attribute, ast.Subscript)


@asked_once
def unpacked_enumerates(function: ast.AST) -> tuple[ast.For, ...]:
    """Loops through `enumerate` that take their items apart, and that a `return` or a `break` of their own leaves."""
    return tuple(loop for loop in of_kind(function, ast.For) if _takes_apart(loop) and _left_early(loop))


def _takes_apart(loop: ast.For) -> bool:
    function = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    counted = isinstance(function, ast.Name) and function.id == "enumerate"
    parts = loop.target.elts if isinstance(loop.target, (ast.Tuple, ast.List)) else []
    return counted and not all(isinstance(each, ast.Name) for each in parts)


def _left_early(loop: ast.For) -> bool:
    functions, loops = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda), (ast.For, ast.While)
    if any(isinstance(each, ast.Return) for each in inside_without(loop, functions)):
        return True
    own = [each for each in loop.body if not isinstance(each, loops)]
    return any(isinstance(each, ast.Break) for one in own for each in (one, *inside_without(one, (*loops, *functions))))
