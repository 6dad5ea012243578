"""EX127: `backward()` or an optimizer step in `forward`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule

_NAMES = ("Tensor.backward", "paddle.autograd.backward", "Tensor.register_hook")


class BackwardInForward(Rule):
    """Gradients are computed by `backward()` in `forward`.

    What:
        `forward` calls `.backward()`, `paddle.autograd.backward` or registers a hook on a tensor.

    Why:
        `backward` belongs to the eager mode; in a trace it does not exist and the export fails. `paddle.grad` becomes
        operators of the program and works.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                energy = paddle.tanh(x * 2.0).sum()
                energy.backward()  # <- here
                return energy, x.grad

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                x.stop_gradient = False
                energy = paddle.tanh(x * 2.0).sum()
                return energy, paddle.grad(energy, x)[0]

    Source:
        Measured on Paddle 3.3.1.
    """

    code = "EX127"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if fact.name in _NAMES:
                message = f"`{fact.name.rpartition('.')[2]}` belongs to eager training; a trace does not have it"
                yield self.at(fact.site, message, "use paddle.grad(outputs, inputs)")


plugin: Rule = BackwardInForward()
