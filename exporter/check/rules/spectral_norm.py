"""EX130: spectral norm, whose state moves at each eager call."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.check.facts import Called, Fact, Facts, Phase
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.diagnostics import Diagnostic


class SpectralNorm(Rule):
    """A layer is wrapped in `spectral_norm`.

    What:
        The model uses `paddle.nn.utils.spectral_norm`.

    Why:
        Its power iteration moves two vectors at every eager call, in evaluation too; the program keeps those of the
        export. Eager and exported model drift apart. Nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.fc = paddle.nn.utils.spectral_norm(paddle.nn.Linear(8, 8))  # <- here

            def forward(self, x):
                return self.fc(x)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.fc = paddle.nn.utils.weight_norm(paddle.nn.Linear(8, 8))

            def forward(self, x):
                return self.fc(x)

    Source:
        Measured on Paddle 3.3.1 ('nn/utils/spectral_norm_hook.py').
    """

    code = "EX130"
    predicts = (Fault.VALUES, Fault.FAILS)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Fact):
            if (
                isinstance(fact, Called)
                and fact.site.phase is not Phase.MODULE
                and fact.name.endswith(".spectral_norm")
            ):
                message = "spectral_norm moves its vectors at each eager call; the program keeps those of the export"
                yield self.at(
                    fact.site, message, "fold it into the weight before export: layer.weight = normalised weight"
                )


plugin: Rule = SpectralNorm()
