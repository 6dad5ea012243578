"""EX107: an input that no output depends on."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Facts, Ignored
from exporter.check.rules.base import Fault, Rule


class InputIgnored(Rule):
    """No output depends on an input.

    What:
        The exported layer's `forward` takes an input and computes nothing from it; asking only for its shape does not
        count.

    Why:
        The input is cut out of the program: saving fails, or a consumer feeds a name that the program does not have.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x, mask):  # <- here
                return x * 2.0

        def build():
            return Net()

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x, mask):
                return x * mask

        def build():
            return Net()

    Source:
        Measured on Paddle 3.3.1: 'paddle.jit.save' prunes the program to what its outputs need.
    """

    code = "EX107"
    predicts = (Fault.FAILS, Fault.UNUSABLE)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Ignored):
            root = fact.site.root
            known = root is not None and root.complete
            message = f"no output depends on the input `{fact.name}`; the program will not have it"
            cure = "use it, drop the parameter, or give it a default and leave it out of the inputs"
            yield self.at(fact.site, message, cure, None if known else Severity.WARNING)


plugin: Rule = InputIgnored()
