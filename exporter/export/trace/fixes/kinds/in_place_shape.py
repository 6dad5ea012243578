"""`y.reshape_([-1, 2])`, as a statement: what gives a tensor another shape in its place."""

from __future__ import annotations

import ast

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches

#: Methods that give a tensor another shape in its place.
_METHODS = ("reshape_", "squeeze_", "unsqueeze_", "flatten_", "t_", "transpose_")


def _read(self: Layer, x: Tensor) -> Tensor:
    y = x * 3.0
    y.unsqueeze_(0)
    return y.sum(0), y.shape[1] * x


class InPlaceShape(Fix):
    """The name still has the old shape: what is computed of its sizes is wrong, and so are the types behind it.

    In eager mode the method returns the tensor itself, so the statement becomes `y = y.reshape_([-1, 2])`, before
    dy2static rewrites the code (jit/dy2static/transformers/transform.py).
    """

    apis = tuple(f"paddle.Tensor.{name}" for name in _METHODS)
    formats = ("pir",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_read, (("n", 4),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from paddle.utils import gast

        from exporter.paddle.private import DygraphToStaticAst

        def rewritten(stock: Value, self: Value, root: Value) -> Value:
            for node in ast.walk(root):
                for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
                    if isinstance(body, list):
                        body[:] = [_assigned(gast, statement) for statement in body]
            return stock(self, root)

        patches.body(DygraphToStaticAst.get_static_ast, rewritten)


def _assigned(gast: Value, statement: Value) -> Value:
    """The statement, or an assignment where it is a call of such a method of a name."""
    call = getattr(statement, "value", None)
    method = getattr(call, "func", None)
    owner: Value = getattr(method, "value", None)
    plain = isinstance(statement, gast.Expr) and isinstance(call, gast.Call) and isinstance(owner, gast.Name)
    if not plain or getattr(method, "attr", "") not in _METHODS:
        return statement
    assignment = gast.parse(f"{owner.id} = 0").body[0]
    assignment.value = call
    return gast.copy_location(assignment, statement)


plugin: Fix = InPlaceShape()
