"""EX110: something that is no tensor is returned."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const, Dim, Extent, Scalar, Shape, Union, Value
from exporter.check.facts import Facts, Returned
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.check.rules.kinds.output_repeated import doubt, named_leaves


class OutputDropped(Rule):
    """A Python value is returned beside the tensors.

    What:
        `forward` of the exported layer returns None, a number, a bool or text.

    Why:
        Only tensors become outputs. Everything else is left out of the program, and the outputs behind it move up.
        Nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * 2.0, None  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * 2.0

    Source:
        Measured on Paddle 3.3.1.
    """

    code = "EX110"
    predicts = (Fault.STRUCTURE, Fault.VALUES)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        cure = "return tensors only: leave it out, or `paddle.to_tensor(...)` it if a consumer needs it"
        for fact in facts.of(Returned):
            named = list(named_leaves(fact.value))
            dropped = [
                f"output '{path}' is {what}" if path else f"{what} is returned"
                for path, leaf in named
                if (what := _what(leaf))
            ]
            if dropped:
                missing = f"{'it' if len(dropped) == 1 else 'they'} will be missing among the outputs"
                message = f"{', '.join(dropped)}; {missing}, and later ones move up"
                yield self.at(fact.site, message, cure, doubt(fact))
            elif any(_maybe(leaf) for _, leaf in named):
                message = "an output may be None or no tensor; then it is missing, and later ones move up"
                yield self.at(fact.site, message, cure, Severity.WARNING)


def _maybe(leaf: Value) -> bool:
    """Whether it may be no tensor: a dimension that is not known may be a number; one that varies is a tensor."""
    if isinstance(leaf, Union):
        return any(map(_what, leaf.options))
    return isinstance(leaf, Dim) and leaf.size is Extent.UNKNOWN


def _what(leaf: Value) -> str:
    if isinstance(leaf, Const):
        return "None" if leaf.value is None else f"the Python value {leaf.value!r}"
    if isinstance(leaf, Shape):
        return "a list of Python numbers (a shape)"
    return f"a Python {leaf.kind}" if isinstance(leaf, Scalar) and leaf.kind != "layer" else ""


plugin: Rule = OutputDropped()
