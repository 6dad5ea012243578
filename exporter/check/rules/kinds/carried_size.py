"""EX141: the size of a tensor that grows in a loop of the program."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.values import Const, Extent, Shape, Value
from exporter.check.facts import Fact, Facts, Indexed, Iterated
from exporter.check.rules.base import Fault, Rule, Shown


class CarriedSize(Rule):
    """A loop that a tensor decides asks for a size that is another in each turn.

    What:
        In a `for` or `while` whose length or condition is a tensor, a tensor grows (`paddle.concat`), and its `.shape`
        gives the size along the axis in which it does.

    Why:
        The body is traced once. A size that is a number at the first turn stays that number in the program, in every
        turn: masks and reshapes keep the size of the first, and the values are wrong or the program fails when it runs.
        That the tensor grows is no fault.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                steps = (x.mean() > 0.0).astype("int64") + 2
                y = paddle.full([2, 1], 1.0) * x.mean()
                total = x.sum() * 0.0
                for _ in range(steps):
                    total = total + y.sum() / y.shape[1]  # <- here
                    y = paddle.concat([y, y[:, -1:] * 2.0], axis=1)
                return total

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                steps = (x.mean() > 0.0).astype("int64") + 2
                y = paddle.full([2, 1], 1.0) * x.mean()
                total = x.sum() * 0.0
                for _ in range(steps):
                    total = total + y.sum() / paddle.shape(y)[1].astype("float32")
                    y = paddle.concat([y, y[:, -1:] * 2.0], axis=1)
                return total

    Source:
        Measured on Paddle 3.3.1: the value of `.shape[1]` in a 'pd_op.while' is that of its first operand.
    """

    code = "EX141"
    predicts = (Fault.VALUES, Fault.UNUSABLE)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        cure = "ask `paddle.shape(x)` for it, or make the tensor as long as it will ever be before the loop"
        asked: list[tuple[Fact, Value, Value]] = [
            *((fact, fact.container, fact.index) for fact in facts.in_forward(Indexed)),
            *((fact, fact.value, Const(None)) for fact in facts.in_forward(Iterated)),
        ]
        for fact, value, index in asked:
            if isinstance(value, Shape) and _grows(value, index) and not fact.site.quiet:
                yield self.at(fact.site, _MESSAGE, cure)


_MESSAGE = "the tensor grows in a loop of the program, which takes its size in the first turn for that of every turn"


def _grows(shape: Shape, index: Value) -> bool:
    """Whether a size that is asked for grows: the one at an index, or any if all are walked through."""
    if isinstance(index, Const) and type(index.value) is int:
        return shape.tensor.size(index.value) is Extent.CARRIED
    return index == Const(None) and Extent.CARRIED in shape.tensor.sizes


plugin: Rule = CarriedSize()
