"""EX102: a layer or parameter is created in `forward`."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Called, Facts
from exporter.check.models.paddle import is_layer_class, is_weightless
from exporter.check.rules.base import Fault, Rule

#: Layers that have no weights but those of the cells that they are given.
_AROUND = ("RNN", "BiRNN")


class LayerInForward(Rule):
    """A layer with parameters is created in `forward`.

    What:
        `forward`, or something it calls, makes a layer that has weights, or calls `create_parameter`.

    Why:
        Each call gets new weights in eager mode, and none of them belongs to the exported layer: export fails, or the
        program holds weights that were never trained.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                head = paddle.nn.Linear(8, 2)  # <- here
                return head(x)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.head = paddle.nn.Linear(8, 2)

            def forward(self, x):
                return self.head(x)

    Source:
        Measured on Paddle 3.3.1: 'paddle.jit.save' fails on parameters that the saved layer does not own.
    """

    code = "EX102"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            name = fact.name.rpartition(".")[2]
            made = is_layer_class(fact.name) and not is_weightless(fact.name, fact.keywords) and name not in _AROUND
            if made or fact.name == "new layer" or name == "create_parameter":
                what = f"`{name}`" if made else "a parameter" if name == "create_parameter" else "a layer"
                cure = "create it in __init__ and keep it on self"
                yield self.at(
                    fact.site, f"{what} is created in forward: its weights are not the exported layer's", cure
                )
            elif fact.name == "maybe new layer":
                message = "a layer is created in forward: weights that it may have are not the exported layer's"
                yield self.at(fact.site, message, "create it in __init__ and keep it on self", Severity.WARNING)


plugin: Rule = LayerInForward()
