"""EX124: a function calls itself under a condition that a tensor decides."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Facts, Recursed
from exporter.check.rules.base import Fault, Rule


class TensorRecursion(Rule):
    """A function calls itself until a tensor says stop.

    What:
        A recursion whose end is decided by a tensor or by a dimension that varies.

    Why:
        Both sides of the condition are traced, so the function calls itself without end: RecursionError. A recursion
        that ends on a fixed dimension or a Python number is fine.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def shrink(self, h):
                if h.abs().max() > 1.0:
                    return self.shrink(h * 0.5)  # <- here
                return h

            def forward(self, x):
                return self.shrink(x * 2.0)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                h = x * 2.0
                while h.abs().max() > 1.0:
                    h = h * 0.5
                return h

    Source:
        Measured on Paddle 3.3.1.
    """

    code = "EX124"
    predicts = (Fault.FAILS, Fault.ENDS)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Recursed):
            message = f"`{fact.function}` calls itself under a condition that a tensor decides: the trace has no end"
            mild = Severity.WARNING if fact.counted else None  # a number may end it in any case
            yield self.at(fact.site, message, "write it as a `while` loop", mild)


plugin: Rule = TensorRecursion()
