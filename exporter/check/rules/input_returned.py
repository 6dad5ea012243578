"""EX105: an input is returned untouched."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.check.module import ParsedModule
from exporter.check.paper.facts import Returned
from exporter.check.paper.values import Tensor
from exporter.check.rules.base import Rule
from exporter.check.rules.output_repeated import doubt, leaves
from exporter.diagnostics import Diagnostic


class InputReturned(Rule):
    """An input is returned untouched.

    What:
        `forward` of the exported layer returns one of its inputs as it is, `nn.Identity` counted as nothing.

    Why:
        In the saved program it would be an input and an output under one name; the predictor refuses to load or run it.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * 2.0, x  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * 2.0, x.clone()

    Source:
        Measured on Paddle 3.3.1 with 'paddle.inference' (feed and fetch of one name).
    """

    code = "EX105"

    def check(self, module: ParsedModule) -> Iterator[Diagnostic]:
        for fact in module.facts:
            if not isinstance(fact, Returned):
                continue
            for name in sorted({e.name for e in leaves(fact.value) if isinstance(e, Tensor) and e.origin == "input"}):
                message = f"the input `{name}` is returned untouched; the predictor cannot run such a program"
                yield self.at(
                    fact.site, message, f"leave it out (the caller has it), or return `{name}.clone()`", doubt(fact)
                )


plugin: Rule = InputReturned()
