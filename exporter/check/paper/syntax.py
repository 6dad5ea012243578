"""Small questions about syntax."""

from __future__ import annotations

import ast


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
