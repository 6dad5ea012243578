"""EX135: `super()` in a method that the exported class has only inherited."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule


class InheritedSuper(Rule):
    """`super()` without arguments stands in a method that was inherited.

    What:
        `forward`, or a method that it calls, comes from a base class and itself calls `super()` without arguments: a
        chain of classes in which more than the last one does so, or a last one that overrides nothing.

    Why:
        dy2static writes `super()` anew and takes the class of the object for the class of the method. So the method
        calls itself, until Python's stack is full: the export fails.

    Example:
        import paddle

        class Base(paddle.nn.Layer):
            def forward(self, x):
                return paddle.tanh(x)

        class Scaled(Base):
            def forward(self, x):
                return super().forward(x) * 2.0  # <- here

        class Net(Scaled):
            def forward(self, x):
                return super().forward(x) * 0.5

    Use instead:
        import paddle

        class Base(paddle.nn.Layer):
            def forward(self, x):
                return paddle.tanh(x)

        class Scaled(Base):
            def forward(self, x):
                return super(Scaled, self).forward(x) * 2.0

        class Net(Scaled):
            def forward(self, x):
                return super().forward(x) * 0.5

    Source:
        Measured on Paddle 3.3.1: RecursionError.
    """

    code = "EX135"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if fact.name == "inherited super":
                message = (
                    "`super()` in an inherited method: dy2static takes the wrong class, and the method calls itself"
                )
                yield self.at(fact.site, message, "name the class: super(TheClass, self)")


plugin: Rule = InheritedSuper()
