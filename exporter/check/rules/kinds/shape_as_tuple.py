"""EX142: `x.shape` is used as the tuple that a trace does not have."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.values import Sequence, Shape, Value
from exporter.check.facts import Called, Facts, Operated
from exporter.check.rules.base import Fault, Rule, Shown


class ShapeAsTuple(Rule):
    """A shape is added to a tuple, compared with one, or asked for `numel()`.

    What:
        `x.shape + (1,)`, `x.shape[:2] + (4, 8)`, `x.shape == (2, 3)`, `x.shape.numel()`.

    Why:
        Eagerly `x.shape` is a `paddle.Size`, which takes tuples and equals them. While the model is traced it is a
        list: adding a tuple or asking for `numel` ends the export, and no list equals a tuple, so the other branch is
        exported.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return y.reshape(y.shape[:1] + (2, -1))  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return y.reshape(y.shape[:1] + [2, -1])

    Source:
        Measured on Paddle 3.3.1: 'paddle.base.libpaddle.Size' is a list whose `+` and `==` take tuples.
    """

    code = "EX142"
    predicts = (Fault.FAILS, Fault.VALUES)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Operated):
            pair = (fact.left, fact.right)
            tuples = any(isinstance(side, Sequence) and side.kind == "tuple" for side in pair)
            if tuples and fact.operator == "Add" and any(map(_is_list, pair)):
                message = "a shape is a list while the model is traced: adding a tuple to it ends the export"
                yield self.at(fact.site, message, "add a list: x.shape[:1] + [2, -1]")
            elif tuples and fact.operator in ("Eq", "NotEq") and any(map(_is_size, pair)):
                message = (
                    "a shape is a list while the model is traced, and equals no tuple: the other branch is exported"
                )
                yield self.at(fact.site, message, "compare with a list, or dimension by dimension")
        for call in facts.in_forward(Called):
            if call.name == "Shape.numel" and isinstance(call.owner, Shape) and _is_size(call.owner):
                message = "a shape is a list while the model is traced, which has no `numel`"
                yield self.at(call.site, message, "use x.numel(), or math.prod of the dimensions")


def _is_size(value: Value) -> bool:
    return isinstance(value, Shape) and value.kind == "paddle.Size"


def _is_list(value: Value) -> bool:
    return _is_size(value) or (isinstance(value, (Sequence, Shape)) and value.kind == "list")


plugin: Rule = ShapeAsTuple()
