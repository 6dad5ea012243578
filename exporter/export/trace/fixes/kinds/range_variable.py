"""`for i in range(n)` whose body gives `i` another value, and leaves by `break`."""

from __future__ import annotations

import ast

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches

_OWN = "range_variable_"


def _pair(x: Tensor) -> tuple[Tensor, Tensor]:
    return x * 1.5, x.sum()


def _doubled(self: Layer, x: Tensor) -> Tensor:
    total = x
    for i in range(6):
        i = i * 2
        total = total + i
        if total.mean() > 12.0:
            break
    return total


def _left(self: Layer, x: Tensor) -> Tensor:
    seen = []
    for _ in range(5):
        x, _ = _pair(x)
        seen.append(x)
        if x.abs().mean() > 2.0:
            break
    return x


class RangeVariable(Fix):
    """With a `break` stock counts the turns in that very variable, and goes on from what the body has left in it.

    So `x, _ = cell(x)` ends the loop early or never, or a tensor of any shape is asked whether it goes on
    (jit/dy2static/transformers/base.py, 3.3.1). The turns are counted in a name of their own.
    """

    apis = ("paddle.jit.to_static",)
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_left, (("n", 4),)),
        Example(_doubled, (("n", 4),)),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from paddle.utils import gast

        from exporter.paddle.private import ForNodeVisitor

        def build(stock: Value, self: Value, node: Value) -> None:
            target = node.target
            if isinstance(target, gast.Name) and _is_range(node.iter) and _sets(node.body, target.id):
                node.body.insert(0, gast.parse(f"{target.id} = {_OWN}{target.id}").body[0])
                node.target = gast.Name(f"{_OWN}{target.id}", gast.Store(), None, None)
            stock(self, node)

        patches.body(ForNodeVisitor.__init__, build)


def _is_range(walked: Value) -> bool:
    return getattr(getattr(walked, "func", None), "id", "") == "range"


def _sets(body: list[Value], name: str) -> bool:
    """Return whether a statement of the loop's body gives the name a value."""
    names = (node for statement in body for node in ast.walk(statement) if getattr(node, "id", "") == name)
    return any(type(getattr(node, "ctx", None)).__name__ == "Store" for node in names)


plugin: Fix = RangeVariable()
