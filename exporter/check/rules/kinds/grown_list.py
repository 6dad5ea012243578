"""EX132: a list that grew under a tensor condition is used as a list of Python's."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Sequence, Value
from exporter.check.facts import Called, Changed, Fact, Facts, Indexed, Iterated, Returned
from exporter.check.rules.base import Fault, Rule, Shown

_WELL = ("for",)


class GrownList(Rule):
    """A list that grew under a tensor condition is used as a list of Python's.

    What:
        Items are added to a list in a branch or loop that a tensor decides; then the list goes into `sum`, a
        comprehension, `zip`, `len`, `*`, `extend` or `pop`, or is returned.

    Why:
        Such a list becomes an array of the program, of unknown length. `paddle.stack`, `paddle.concat`, an index and
        a plain `for` take one; everything else fails or never ends.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                parts = [y]
                if y.mean() > 0.5:
                    parts.append(y * 2.0)
                return sum(parts)  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                parts = [y]
                if y.mean() > 0.5:
                    parts.append(y * 2.0)
                return paddle.stack(parts).sum(axis=0)

    Source:
        Measured on Paddle 3.3.1 (the list becomes a TensorArray).
    """

    code = "EX132"
    predicts = (Fault.VALUES, Fault.FAILS, Fault.ENDS, Fault.UNUSABLE)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Fact):
            what = _misused(fact)
            if what and not isinstance(fact, Changed):
                message = f"a list that grew under a tensor condition is an array of the program; {what}"
                mild = isinstance(fact, Called) and fact.name == "builtins.len"  # a comparison with it is right
                mild = mild or (isinstance(fact, Returned) and not fact.certain)
                cure = "use paddle.stack or paddle.concat on it, and compute on the result"
                yield self.at(fact.site, message, cure, Severity.WARNING if mild else None)


def _misused(fact: Fact) -> str:
    if isinstance(fact, Iterated) and _grown(fact.value) and fact.form not in _WELL:
        return f"Python's `{fact.form}` cannot walk through it"
    if isinstance(fact, Returned) and any(_grown(each) for each in _lists(fact.value)):
        return "it cannot be an output"
    if isinstance(fact, Called) and fact.name in ("list.pop", "list.extend") and _made_outside(fact):
        return f"`{fact.name.rpartition('.')[2]}` under a tensor condition is not converted"
    if isinstance(fact, Indexed) and _grown(fact.container) and _is_slice(fact.index):
        return "no part of it can be taken"
    if isinstance(fact, Called) and fact.name == "list.__bool__":
        return "Python cannot ask whether it is empty"
    if isinstance(fact, Called) and fact.name == "builtins.len" and any(map(_grown, fact.arguments)):
        return "its `len` is a tensor of integers"
    return ""


def _grown(value: Value) -> bool:
    return isinstance(value, Sequence) and value.grown_in_branch


def _made_outside(fact: Called) -> bool:
    """Return whether the list was there before the condition or loop began in which it is changed."""
    made = fact.owner.made if isinstance(fact.owner, Sequence) else 0
    return fact.site.branches + fact.site.loops > made


def _is_slice(index: Value) -> bool:
    return isinstance(index, Sequence) and index.kind == "slice"


def _lists(value: Value) -> Iterator[Value]:
    yield value
    if isinstance(value, Sequence):
        for each in value.items:
            yield from _lists(each)


plugin: Rule = GrownList()
