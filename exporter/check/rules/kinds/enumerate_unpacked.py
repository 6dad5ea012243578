"""EX140: a loop through `enumerate` that takes its items apart is left early."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule


class EnumerateUnpacked(Rule):
    """A loop through `enumerate` that takes its items apart is left early.

    What:
        Converted code says `for i, (a, b) in enumerate(...)`, and the loop holds a `break` of its own or a `return`,
        whoever decides it, and even where it never runs.

    Why:
        Such a loop is rewritten as a `while` that counts, and of `enumerate` that rewriting knows only plain names: the
        export fails with "'Tuple' object has no attribute 'id'".

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                for i, (scale, shift) in enumerate([(2.0, 1.0), (3.0, 2.0)]):  # <- here
                    x = x * scale + shift
                    if i == 0:
                        break
                return x

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                for i, pair in enumerate([(2.0, 1.0), (3.0, 2.0)]):
                    x = x * pair[0] + pair[1]
                    if i == 0:
                        break
                return x

    Source:
        Measured on Paddle 3.3.1 ('jit/dy2static/transformers').
    """

    code = "EX140"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Called):
            if fact.name == "unpacked enumerate":
                message = "a loop through `enumerate` that takes its items apart is left early: the export fails"
                yield self.at(fact.site, message, "take them apart in the first line of the loop")


plugin: Rule = EnumerateUnpacked()
