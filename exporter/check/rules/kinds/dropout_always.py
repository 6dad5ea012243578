"""EX128: functional dropout that does not follow the mode of the layer."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.catalogue import entry
from exporter.check.domain.values import Const, Layer
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule, Shown

#: Position of `training` among the arguments, by function of paddle.nn.functional.


class DropoutAlways(Rule):
    """Functional dropout drops in evaluation too.

    What:
        `F.dropout` or a relative of it is called without `training=self.training`, or with `training=True`.

    Why:
        Its default is to drop: the eager model answers at random also after `eval()`, and so does the exported one.

    Example:
        import paddle
        import paddle.nn.functional as F

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return F.dropout(x * 2.0, p=0.3)  # <- here

    Use instead:
        import paddle
        import paddle.nn.functional as F

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return F.dropout(x * 2.0, p=0.3, training=self.training)

    Source:
        Paddle 3.3.1, 'nn/functional/common.py'.
    """

    code = "EX128"
    predicts = (Fault.VALUES, Fault.FAILS)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if not fact.name.startswith("paddle."):
                continue
            if isinstance(fact.owner, Layer) and fact.owner.training and _drops(fact.owner):
                message = f"`{_last(fact.owner.name)}` is made in forward: a new layer is in training mode, and drops"
                yield self.at(fact.site, message, "make it in __init__ and keep it on self")
                continue
            at = entry(fact.name.rpartition(".")[2]).training
            if at is None or ".nn.functional." not in fact.name:
                continue
            default: Const = Const(True)
            training = fact.keywords.get("training", fact.arguments[at] if len(fact.arguments) > at else default)
            share = fact.keywords.get("p", fact.arguments[1] if len(fact.arguments) > 1 else Const(0.5))
            if isinstance(training, Const) and training.value is True and share not in (Const(0), Const(0.0)):
                why = "its `training` is True by default" if training is default else "it is told training=True"
                message = f"`{fact.name.rpartition('.')[2]}` drops in evaluation too: {why}"
                yield self.at(fact.site, message, "pass training=self.training, or use the layer paddle.nn.Dropout")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _drops(layer: Layer) -> bool:
    share = layer.keywords.get("p", layer.arguments[0] if layer.arguments else Const(0.5))
    return (_last(layer.name).endswith(("Dropout", "Dropout2D", "Dropout3D"))) and share not in (Const(0), Const(0.0))


plugin: Rule = DropoutAlways()
