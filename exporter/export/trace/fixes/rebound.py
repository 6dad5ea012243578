"""Functions of 3.3 whose legacy branch stores its result in `out` and then returns an unset `ret`.

    if in_dynamic_or_pir_mode(): ret = _C_ops.solve(x, y)
    else: …; out = …                        # meant: ret
    if out is not None: paddle.assign(ret, out)
    return ret

The else-branch is compiled again with `ret` for `out`, and becomes the body of the same function object, so that
whoever holds the function has it fixed.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from exporter.export.trace.fixes.base import Fix, Refuse
from exporter.paddle.patches import Patches
from exporter.paddle.private import found


class Rebound(Fix):
    """The legacy branch stores its result under another name than the one that is returned."""

    formats = ("pdmodel",)
    seen = ("3.3.0", "3.3.1")

    def install(self, patches: Patches, refuse: Refuse) -> None:
        for function in self.functions():
            plain = inspect.unwrap(function)
            code = rebound(plain)
            if code is not None:
                patches.code(plain, code)

    def functions(self) -> list[Any]:
        """Those that may have the mistake."""
        return [function for function in map(found, self.apis) if function is not None]


@cache
def rebound(function: FunctionType) -> CodeType | None:
    """`function`'s code with `ret` for `out` in its legacy branch; None where the branch sets `ret` already."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    definition.decorator_list = []
    for statement in definition.body:
        if isinstance(statement, ast.If) and statement.orelse:
            branch = _last_else(statement)
            if "out" in _stored(branch) and "ret" in _stored(statement.body) - _stored(branch):
                for node in branch:
                    _Rename().visit(node)
                ast.increment_lineno(tree, function.__code__.co_firstlineno - definition.lineno)
                return _compiled(tree, function)
    return None


class _Rename(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name("ret", node.ctx), node) if node.id == "out" else node


def _last_else(statement: ast.If) -> list[ast.stmt]:
    branch = statement.orelse
    while len(branch) == 1 and isinstance(branch[0], ast.If):
        branch = branch[0].orelse
    return branch


def _stored(nodes: list[ast.stmt]) -> set[str]:
    names = (name for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _compiled(tree: ast.Module, function: FunctionType) -> CodeType:
    code = compile(tree, function.__code__.co_filename, "exec", flags=function.__code__.co_flags & _FUTURE)
    return next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == function.__name__)


_FUTURE = 0x1000000  # CO_FUTURE_ANNOTATIONS: Paddle's modules are compiled with it
