"""EX139: `zip` or `enumerate` is given an argument by its name."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule

_CURES = {
    "builtins.zip": "leave `strict` out, and compare the lengths in `__init__`",
    "builtins.enumerate": "give the start by position: `enumerate(layers, 1)`",
}


class BuiltinKeywords(Rule):
    """`zip` or `enumerate` is given an argument by its name.

    What:
        `forward`, or what it calls, says `enumerate(layers, start=1)` or `zip(a, b, strict=True)`.

    Why:
        While the model is traced, functions of Paddle's own stand in the place of these two, and they take arguments
        by position only: the export fails with a TypeError. `exporter convert` puts ones there that take them; other
        ways of exporting do not.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.steps = paddle.nn.LayerList([paddle.nn.Linear(8, 8) for _ in range(2)])

            def forward(self, x):
                for number, step in enumerate(self.steps, start=1):  # <- here
                    x = step(x) * number
                return x

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.steps = paddle.nn.LayerList([paddle.nn.Linear(8, 8) for _ in range(2)])

            def forward(self, x):
                for number, step in enumerate(self.steps, 1):
                    x = step(x) * number
                return x

    Source:
        Paddle 3.3.1, 'jit/dy2static/convert_operators.py': 'convert_zip', 'convert_enumerate'.
    """

    code = "EX139"
    severity = Severity.INFO
    predicts = (Fault.FAILS,)
    mended = True

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if fact.keywords and fact.name in _CURES:
                named, plain = ", ".join(fact.keywords), fact.name.rpartition(".")[2]
                message = f"`{plain}` is given `{named}` by name, which Paddle's own does not take: the export fails"
                yield self.at(fact.site, message, _CURES[fact.name])


plugin: Rule = BuiltinKeywords()
