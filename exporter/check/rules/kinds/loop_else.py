"""EX133: a loop with an `else`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Facts, Looped
from exporter.check.rules.base import Fault, Rule, Shown


class LoopElse(Rule):
    """A loop has an `else`.

    What:
        A `for` or `while` in converted code carries an `else` block.

    Why:
        dy2static leaves the block out of the code that it writes: what it does is missing in the program. Nothing
        warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                for i in range(3):
                    y = y + i
                    if i > 5:
                        break
                else:
                    y = y + 1.0  # <- here
                return y

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                for i in range(3):
                    y = y + i
                return y + 1.0

    Source:
        Measured on Paddle 3.3.1 ('jit/dy2static/transformers').
    """

    code = "EX133"
    predicts = (Fault.VALUES, Fault.FAILS)
    shown = Shown.SOME_RUNS

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Looped):
            if fact.site.converted:
                node = fact.site.node
                if isinstance(node, (ast.For, ast.While)) and node.orelse:
                    message = "the `else` of a loop is left out of the program"
                    place = (fact.site.module, node.orelse[0])
                    yield self.on(place, fact.site, message, "write it behind the loop, with a flag")


plugin: Rule = LoopElse()
