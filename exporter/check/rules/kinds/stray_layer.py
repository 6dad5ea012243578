"""EX134: layers or parameters in a plain list or dict."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Facts, Strayed
from exporter.check.rules.base import Fault, Rule


class StrayLayer(Rule):
    """Layers or parameters lie where the model does not find them.

    What:
        `forward` uses a layer or a parameter that lies in a list, tuple or dict of Python's on `self`, in a global or
        in a closure, and that no layer has for a sublayer or parameter.

    Why:
        Paddle does not look into plain containers: the weights are in no state dict, are not trained and not saved, and
        the export fails when it looks for them.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.parts = [paddle.nn.Linear(8, 8) for _ in range(3)]

            def forward(self, x):
                for part in self.parts:  # <- here
                    x = part(x)
                return x

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.parts = paddle.nn.LayerList([paddle.nn.Linear(8, 8) for _ in range(3)])

            def forward(self, x):
                for part in self.parts:
                    x = part(x)
                return x

    Source:
        Measured on Paddle 3.3.1: 'paddle.jit.save' raises KeyError for the parameter.
    """

    code = "EX134"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Strayed):
            what, home = ("parameter", "ParameterList") if fact.parameter else ("layer", "LayerList or LayerDict")
            message = f"a {what} in `{fact.home}` is no sublayer of the model: its weights are not exported"
            yield self.at(fact.site, message, f"keep it in a paddle.nn.{home}")


plugin: Rule = StrayLayer()
