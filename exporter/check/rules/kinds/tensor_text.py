"""EX116: a tensor is made into text."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.contents import holds
from exporter.check.domain.values import Extent, Shape, Value, only_tensor
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule, Shown

_MAKERS = ("builtins.str", "builtins.repr", "builtins.format")


class TensorText(Rule):
    """A tensor is made into text, and the text is used.

    What:
        `str(x)`, `repr(x)`, `"{}".format(x)` or an f-string holds a tensor or a dimension that varies, or a list or
        shape with one. Text that is only printed, logged or raised is not meant.

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
            texts = (*fact.arguments, *fact.keywords.values()) if made else ()
            if any(map(only_tensor, texts)):
                message = "a tensor is made into text; while the model is traced the text holds no number"
                yield self.at(fact.site, message, "compare the tensor itself")
            elif any(holds(each, _varies) for each in texts):
                message = "sizes that vary are made into text; while the model is traced the text holds no number"
                yield self.at(fact.site, message, "compare the sizes themselves: `x.shape[0] == 3`")


def _varies(value: Value) -> bool:
    if isinstance(value, Shape):
        return Extent.DYNAMIC in value.tensor.sizes and not value.tensor.guessed
    return only_tensor(value)


plugin: Rule = TensorText()
