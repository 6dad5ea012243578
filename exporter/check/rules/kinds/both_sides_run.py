"""EX121: `and` and `or` behind a tensor run both of their sides."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.values import Array, Const, Dim, Mapping, Scalar, Sequence, Tensor, Value
from exporter.check.facts import Called, Changed, Fact, Facts, Indexed, Tested
from exporter.check.rules.base import Fault, Rule, Shown

_EFFECTS = ("append", "extend", "insert", "pop", "remove", "clear", "update", "add", "setdefault", "popleft")


class BothSidesRun(Rule):
    """`and` or `or` behind a tensor does not do what it does in Python.

    What:
        The left side of `and` or `or` is a tensor, and the right side changes something or can only be run if the left
        one allows it; or the value of `x or default` is used as a value.

    Why:
        While the model is traced both sides are run, whatever the tensor will be: the effect always happens, an error
        that the left side guards against is raised. And the result is a bool, not one of the two values.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                parts = [y]
                (y.mean() > 0) and parts.append(y * 2.0)  # <- here
                return paddle.concat(parts)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                weight = (y.mean() > 0).astype("float32")
                return paddle.concat([y, y * 2.0 * weight])

    Source:
        Measured on Paddle 3.3.1 ('convert_logical_and', 'convert_logical_or').
    """

    code = "EX121"
    predicts = (Fault.VALUES, Fault.FAILS)
    shown = Shown.SOME_RUNS

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Fact):
            site = fact.site
            if isinstance(fact, Tested) and fact.form in ("and", "or") and fact.value_used:
                if not (_is_truth(fact.value) and _is_truth(fact.right)):
                    message = f"the value of `{fact.form}` behind a tensor is a bool in the program, not one of the two"
                    yield self.at(site, message, "use paddle.where(condition, x, default)")
            elif site.guard is not None and (what := _trouble(fact)):
                message = f"a tensor stands before `and` or `or`, so the right side always runs: {what}"
                cure = "put the tensor last, or write an `if` around values: paddle.where"
                yield self.on(site.guard, site, message, cure)


def _is_truth(value: Value | None) -> bool:
    """Whether a value is True or False, as far as is known: then `and` and `or` give what they give in Python."""
    if isinstance(value, Tensor):
        return value.boolean
    if isinstance(value, Const):
        return isinstance(value.value, bool)
    return not isinstance(value, (Dim, Array, Sequence, Mapping)) and not (
        isinstance(value, Scalar) and value.kind in ("int", "float", "number", "str")
    )


def _trouble(fact: Fact) -> str:
    if isinstance(fact, Changed):
        return f"`{fact.what}` is changed"
    if isinstance(fact, Called) and fact.name.rpartition(".")[2] in _EFFECTS and not isinstance(fact.owner, Tensor):
        return f"`{fact.name.rpartition('.')[2]}` is called" if fact.owner is not None else ""
    if isinstance(fact, Indexed) and isinstance(fact.index, Const):
        at, container = fact.index.value, fact.container
        if isinstance(container, Const) and container.value is None:
            return "None has no such part"
        if isinstance(container, Mapping) and container.rest is None and at not in container.items:
            return f"there is no key {at!r}"
        if isinstance(container, Sequence) and container.rest is None and isinstance(at, int):
            return "the index is out of range" if not -len(container.items) <= at < len(container.items) else ""
    return ""


plugin: Rule = BothSidesRun()
