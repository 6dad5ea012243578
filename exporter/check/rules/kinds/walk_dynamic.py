"""EX115: Python walks along a dimension that varies."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const, Extent, Sequence, Tensor, Value, only_tensor
from exporter.check.facts import Called, Facts, Iterated
from exporter.check.rules.base import Fault, Rule

#: A plain `for` is converted to a loop of the program; `next(iter(x))` takes one row only.
_CONVERTED = ("for", "next")


class WalkDynamic(Rule):
    """Python walks along a dimension that varies.

    What:
        A comprehension, `list`, `tuple`, `sum`, `zip`, `enumerate`, `map`, `*` or unpacking goes through the rows of a
        tensor whose first dimension varies from call to call, or through `range` of such a dimension; `unbind` takes
        such a dimension apart, or `split` is told a number of parts that varies.

    Why:
        Python asks for one row after the other and is never told that there are no more: the export does not end, or it
        fails. A plain `for` statement over the tensor, or over `range(x.shape[0])`, is converted and works.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return paddle.stack([row / row.sum() for row in y])  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return y / y.sum(axis=-1, keepdim=True)

    Source:
        Measured on Paddle 3.3.1: no end after 60 s.
    """

    code = "EX115"
    predicts = (Fault.FAILS, Fault.ENDS)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for call in facts.in_forward(Called):
            if message := _taken_apart(call):
                yield self.at(call.site, message, "compute on the whole tensor, or use a plain `for` statement over it")
        for fact in facts.in_forward(Iterated):
            if fact.form == "unpack" and not (isinstance(fact.value, Tensor) and fact.value.closed):
                continue  # most likely a call with several results that nothing is known of
            if fact.form == "enumerate" and isinstance(fact.value, Sequence):
                continue  # `enumerate(range(n))` is converted
            if _varies(fact.value) and fact.form not in _CONVERTED:
                form = fact.form.partition(" ")[0]
                message = f"Python walks along a dimension that varies ({form}): the export fails or never ends"
                cure = "compute on the whole tensor, or use a plain `for` statement over it"
                if isinstance(fact.value, Tensor) and fact.value.origin == "input":
                    message += f"; the input `{fact.value.name}` is one tensor"
                    cure += ", or pass a list from a layer whose `forward` takes each of its tensors by a name"
                mild = fact.form in (
                    "unpack",
                    "enumerate in for",
                )  # eager fails too, mostly; now and then it works
                severity = Severity.WARNING if mild else None
                yield self.at(fact.site, message, cure, severity)


def _taken_apart(fact: Called) -> str:
    """Return why an operator cannot return a list of parts; empty if it can."""
    name = fact.name.rpartition(".")[2]
    mine = (fact.owner,) if isinstance(fact.owner, Tensor) else ()
    every: tuple[Value, ...] = (*mine, *fact.arguments)
    first = every[0] if every else None
    if not fact.name.startswith(("paddle.", "Tensor.")) or not isinstance(first, Tensor):
        return ""
    if name in ("unbind", "unstack"):
        axis = fact.keywords.get("axis", every[1] if len(every) > 1 else Const(0))
        at = axis.value if isinstance(axis, Const) else None
        if isinstance(at, int) and first.size(at) is Extent.DYNAMIC and not first.guessed:
            return f"`{name}` gives one part for each index of a dimension that varies: the export crashes"
    if name in ("split", "chunk") and len(every) > 1 and only_tensor(every[1]):
        return f"`{name}` into a number of parts that varies: it must be known while the model is traced"
    return ""


def _varies(value: Value) -> bool:
    if isinstance(value, Tensor):
        return value.size(0) is Extent.DYNAMIC and not value.guessed
    return isinstance(value, Sequence) and value.kind == "range" and any(only_tensor(each) for each in value.items)


plugin: Rule = WalkDynamic()
