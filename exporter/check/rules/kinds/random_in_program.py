"""EX136: the model draws random numbers in evaluation."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.catalogue import entry
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule, Shown


class RandomInProgram(Rule):
    """The model draws random numbers in evaluation.

    What:
        `forward` calls a random operator of Paddle (`paddle.rand`, `paddle.bernoulli`, `F.gumbel_softmax`, a
        distribution's `sample`) where `self.training` does not guard it.

    Why:
        The program draws anew in each run, from a seed of its own: it gives other numbers than the eager model from the
        same seed, so nobody can tell a right artifact from a wrong one by comparing them. It is a warning, because the
        draw may be meant.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x + 0.1 * paddle.randn([8])  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x, noise):
                return x + 0.1 * noise

    Source:
        Measured on Paddle 3.3.1: under one 'paddle.seed' the eager layer and the predictor give different numbers.
    """

    code = "EX136"
    predicts = (Fault.VALUES,)
    shown = Shown.SOME_RUNS
    severity = Severity.WARNING

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        cure = "make the noise an input of forward, or guard it with self.training"
        for fact in facts.in_forward(Called):
            if fact.site.quiet:
                continue
            name = fact.name.rpartition(".")[2]
            if entry(name.removesuffix("_")).has("random") and fact.name.startswith(("paddle.", "Tensor.")):
                yield self.at(fact.site, f"`{name}` draws in evaluation too, and not what the eager model draws", cure)


plugin: Rule = RandomInProgram()
