"""EX129: a layer is put into training mode in `forward`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule, Shown


class TrainMode(Rule):
    """A layer is put into training mode in `forward`.

    What:
        `forward` calls `.train()` on a layer that holds a batch norm, a dropout or code that asks for the mode, or a
        functional batch norm with `training=True`. It is a warning where it is not known what the layer holds.

    Why:
        A batch norm in training mode changes its statistics at each call; the program does not. Eager and exported
        model drift apart with every call. Nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.bn = paddle.nn.BatchNorm1D(8)

            def forward(self, x):
                self.bn.train()  # <- here
                return self.bn(x)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.bn = paddle.nn.BatchNorm1D(8)

            def forward(self, x):
                return self.bn(x)

    Source:
        Measured on Paddle 3.3.1.
    """

    code = "EX129"
    predicts = (Fault.VALUES,)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if fact.name.endswith((".train", ".maybe train")) and fact.name.startswith(("Layer.", "paddle.nn.")):
                message = "a layer is put into training mode in forward: its statistics move at each eager call"
                mild = Severity.WARNING if fact.name.endswith("maybe train") else None
                yield self.at(fact.site, message, "leave the mode to the caller", mild)
            elif fact.name.endswith("functional.batch_norm") and fact.keywords.get("training") == Const(True):
                if fact.keywords.get("running_mean", fact.arguments[1] if len(fact.arguments) > 1 else None) == Const(
                    None
                ):
                    continue  # it keeps no statistics
                message = "batch norm with training=True: its statistics move at each eager call"
                yield self.at(fact.site, message, "pass training=self.training")


plugin: Rule = TrainMode()
