"""EX108: `forward` takes its inputs as `*args`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Defined, Facts
from exporter.check.rules.base import Fault, Rule


class StarInputs(Rule):
    """`forward` takes its inputs as `*args`.

    What:
        The exported layer's `forward` has a parameter with a star.

    Why:
        Input specs are matched to parameters one by one; with `*args` there are more specs than parameters and the
        export fails.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, *feats):  # <- here
                return paddle.concat(feats, axis=-1)

        def build():
            return Net()

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, near, far):
                return paddle.concat([near, far], axis=-1)

        def build():
            return Net()

    Source:
        Paddle 3.3.1, 'jit/dy2static/function_spec.py'.
    """

    code = "EX108"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Defined):
            if fact.site.root is not None and fact.function.args.vararg is not None:
                severity = None if fact.site.root.complete else Severity.WARNING
                name = fact.function.args.vararg.arg
                yield self.at(fact.site, f"forward takes `*{name}`: input specs have nothing to match", _CURE, severity)


_CURE = "name each input, or take one list: `def forward(self, feats)`"

plugin: Rule = StarInputs()
