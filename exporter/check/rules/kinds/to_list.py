"""EX126: `.tolist()` in `forward`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule, Shown


class ToList(Rule):
    """`.tolist()` of a tensor in `forward`.

    What:
        `forward`, or something it calls, makes a Python list of a tensor's values.

    Why:
        While the model is traced there are no values: the export fails; behind a broad `except` the fallback is
        exported, and nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x, lens):
                rows = [[1.0] * n + [0.0] * (8 - n) for n in lens.tolist()]  # <- here
                return x * paddle.to_tensor(rows)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x, lens):
                mask = paddle.arange(8).unsqueeze(0) < lens.unsqueeze(1)
                return x * mask.astype(x.dtype)

    Source:
        Measured on Paddle 3.3.1: "'tolist' only can be called by `paddle.Tensor` in dynamic graph mode".
    """

    code = "EX126"
    predicts = (Fault.FAILS, Fault.VALUES)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if not fact.site.quiet and fact.name == "Tensor.tolist":
                message = "`.tolist()` needs values, and while the model is traced there are none"
                yield self.at(
                    fact.site, message, "compute with tensors; for masks: paddle.arange(n) < lens.unsqueeze(-1)"
                )


plugin: Rule = ToList()
