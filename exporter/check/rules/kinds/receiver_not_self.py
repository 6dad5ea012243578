"""EX106: the first parameter of `forward` is not called `self`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Defined, Facts
from exporter.check.rules.base import Fault, Rule


class ReceiverNotSelf(Rule):
    """The first parameter of `forward` is not called `self`.

    What:
        A layer's `forward` calls its receiver `this`, `net`, `_` or something else.

    Why:
        dy2static recognises a method by that name; with another one it takes the layer itself for an input.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(this, x):  # <- here
                return x * 2.0

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * 2.0

    Source:
        Paddle 3.3.1, 'jit/dy2static/function_spec.py'.
    """

    code = "EX106"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Defined):
            parameters = [*fact.function.args.posonlyargs, *fact.function.args.args]
            static = any(getattr(each, "id", "") == "staticmethod" for each in fact.function.decorator_list)
            if not static and parameters and parameters[0].arg not in ("self", "ctx"):
                message = (
                    f"the first parameter of forward is called `{parameters[0].arg}`: dy2static takes it for an input"
                )
                yield self.at(fact.site, message, "call it self")


plugin: Rule = ReceiverNotSelf()
