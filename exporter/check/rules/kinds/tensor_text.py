"""EX116: a tensor is made into text."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.values import only_tensor
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule, Shown

_MAKERS = ("builtins.str", "builtins.repr", "builtins.format")


class TensorText(Rule):
    """A tensor is made into text, and the text is used.

    What:
        `str(x)`, `repr(x)`, `"{}".format(x)` or an f-string holds a tensor or a dimension that varies. Text that is
        only printed, logged or raised is not meant.

    Why:
        While the model is traced the text describes a symbol, not a number; whatever is decided by it is decided once.
        Nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                if "-" in str(x.sum()):  # <- here
                    return x * -1.0
                return x * 1.0

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                if x.sum() < 0:
                    return x * -1.0
                return x * 1.0

    Source:
        Measured on Paddle 3.3.1.
    """

    code = "EX116"
    predicts = (Fault.VALUES, Fault.FAILS)
    shown = Shown.SOME_RUNS

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if fact.site.quiet or fact.dropped:
                continue
            made = fact.name in _MAKERS or fact.name in ("Const.format", "Scalar.format")
            if made and any(only_tensor(each) for each in (*fact.arguments, *fact.keywords.values())):
                message = "a tensor is made into text; while the model is traced the text holds no number"
                yield self.at(fact.site, message, "compare the tensor itself")


plugin: Rule = TensorText()
