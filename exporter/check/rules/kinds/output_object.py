"""EX111: an object is returned."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.values import Instance, Record
from exporter.check.facts import Facts, Returned
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.check.rules.kinds.output_repeated import doubt, leaves


class OutputObject(Rule):
    """Outputs lie in a dataclass or another object.

    What:
        `forward` of the exported layer returns an object of a class of yours, alone or among tensors. Tuples, named
        tuples, lists and dicts are looked into; objects are not.

    Why:
        The tensors in it are not found: alone, the export fails; beside other outputs they are missing. Nothing warns.

    Example:
        import dataclasses
        import paddle

        @dataclasses.dataclass
        class Output:
            logits: object

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return Output(x * 2.0)  # <- here

    Use instead:
        import collections
        import paddle

        Output = collections.namedtuple("Output", ["logits"])

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return Output(x * 2.0)

    Source:
        Measured on Paddle 3.3.1 ('paddle.utils.flatten' opens tuples, lists and dicts only).
    """

    code = "EX111"
    predicts = (Fault.STRUCTURE, Fault.FAILS)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Returned):
            for leaf in leaves(fact.value):
                if isinstance(leaf, (Instance, Record)):
                    kind = leaf.cls.name if isinstance(leaf, Instance) else "SimpleNamespace"
                    message = f"an object of class {kind} is returned; the tensors in it are not found"
                    yield self.at(fact.site, message, "return a tuple or a named tuple", doubt(fact))


plugin: Rule = OutputObject()
