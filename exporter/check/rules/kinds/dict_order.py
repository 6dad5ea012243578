"""EX109: outputs in a dict whose keys are not sorted."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Mapping, Sequence, Value
from exporter.check.facts import Facts, Returned
from exporter.check.rules.base import Fault, Rule, Shown
from exporter.check.rules.kinds.output_repeated import doubt


def _dicts(value: Value) -> Iterator[Mapping]:
    if isinstance(value, Mapping):
        yield value
    if isinstance(value, (Mapping, Sequence)):
        for each in value.items.values() if isinstance(value, Mapping) else value.items:
            yield from _dicts(each)


class DictOrder(Rule):
    """Outputs lie in a dict whose keys are not in sorted order.

    What:
        `forward` of the exported layer returns a dict, alone or inside a list, whose keys were not inserted in
        alphabetical order.

    Why:
        The program's outputs come in the order of the sorted keys, and have no keys. Who takes them by position, in the
        order in which the code was written, takes the wrong ones. Nothing warns.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return {"score": x * 2.0, "box": paddle.tanh(x)}  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return {"box": paddle.tanh(x), "score": x * 2.0}

    Source:
        Measured on Paddle 3.3.1 ('paddle.utils.flatten' sorts the keys).
    """

    code = "EX109"
    severity = Severity.INFO
    predicts = (Fault.VALUES, Fault.STRUCTURE)
    shown = Shown.EVERY_RUN
    mended = True

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Returned):
            for found in _dicts(fact.value):
                keys = [str(key) for key in found.items]
                if keys != sorted(keys):
                    message = f"the outputs come in the order {', '.join(sorted(keys))}, not as the dict was written"
                    yield self.at(fact.site, message, "return a tuple, or write the keys in sorted order", doubt(fact))


plugin: Rule = DictOrder()
