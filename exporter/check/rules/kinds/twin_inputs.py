"""EX131: two input specs of one name."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Facts
from exporter.check.inputs import declared_specs
from exporter.check.rules.base import Fault, Rule


class TwinInputs(Rule):
    """Two input specs carry one name.

    What:
        A list of `InputSpec` (or of dicts with `name`, `shape` and `dtype`) names two inputs alike.

    Why:
        The program is saved without a word and cannot be loaded: a predictor finds its inputs by name.

    Example:
        from paddle.static import InputSpec
        import paddle

        SPECS = [
            InputSpec([None, 8], "float32", "x"),
            InputSpec([None, 8], "float32", "x"),  # <- here
        ]

        class Net(paddle.nn.Layer):
            def forward(self, left, right):
                return left - right

    Use instead:
        from paddle.static import InputSpec
        import paddle

        SPECS = [
            InputSpec([None, 8], "float32", "left"),
            InputSpec([None, 8], "float32", "right"),
        ]

        class Net(paddle.nn.Layer):
            def forward(self, left, right):
                return left - right

    Source:
        Measured on Paddle 3.3.1 with 'paddle.inference'.
    """

    code = "EX131"
    predicts = (Fault.UNUSABLE,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for declared in declared_specs(facts.module):
            seen: set[str] = set()
            for one, node in zip(declared.inputs, declared.nodes, strict=True):
                if one.name and one.name in seen:
                    message = f"two inputs are called '{one.name}'; the saved program cannot be loaded"
                    place = (facts.module, node)
                    yield self.on(place, None, message, "name each input as the parameter of forward is called")
                seen.add(one.name)


plugin: Rule = TwinInputs()
