"""EX117: Python asks a tensor whether it is true, where dy2static does not see it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const, Dim, Extent, Sequence, Shape, Value, only_tensor, options
from exporter.check.facts import Facts, Operated, Tested
from exporter.check.rules.base import Fault, Rule

_FORMS = {
    "chain": ("a chained comparison of tensors", "write `(a < x) & (x < b)`, or two comparisons joined by `and`"),
    "match": ("`match` on a tensor", "write it as `if` and `elif`"),
    "filter": (
        "a condition on a tensor that filters",
        "keep every item and weigh it: paddle.where(condition, item, 0)",
    ),
}


class HiddenTruth(Rule):
    """Python asks a tensor whether it is true, where no `if` stands.

    What:
        A chained comparison, the `if` of a comprehension, `filter`, `in`, `match` or a comparison of whole shapes has a
        tensor (or a dimension that varies) in it. Of shapes that are only checked, by an `assert` or an `if` that does
        nothing but raise, it is a note: the exporter leaves the check to eager code.

    Why:
        dy2static converts `if`, `while`, `and`, `or`, `not`, conditional expressions and `assert`. These it does not,
        so Python asks for a value that does not exist yet and the export fails.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                if -1.0 < y.mean() < 1.0:  # <- here
                    y = y * 3.0
                return y

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                if y.abs().mean() < 1.0:
                    y = y * 3.0
                return y

    Source:
        Measured on Paddle 3.3.1: "bool(Tensor) is not supported in static graph mode".
    """

    code = "EX117"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for operated in facts.in_forward(Operated):
            yield from self._operated(operated)
        for fact in facts.in_forward(Tested):
            if fact.form in _FORMS:
                what, cure = _FORMS[fact.form]
                yield self.at(fact.site, f"{what} is not converted: Python asks the tensor for its truth", cure)

    def _operated(self, fact: Operated) -> Iterator[Diagnostic]:
        if fact.operator in ("In", "NotIn") and isinstance(fact.right, Sequence) and fact.right.kind != "set":
            if only_tensor(fact.left) or any(only_tensor(each) for each in fact.right.items):
                message = "`in` compares with each item: Python asks the tensor for its truth"
                yield self.at(fact.site, message, "write the comparisons out, joined by `or`")
        elif fact.operator in ("Eq", "NotEq") and _comparable(fact.left, fact.right) and _only_raises(fact):
            message = "stock Paddle cannot trace a check of sizes that vary, which the exporter leaves out"
            cure = "compare the dimensions one by one, those that are fixed, where stock Paddle exports"
            if _shapes(fact.left, fact.right) or _may_vary(fact.left, fact.right):
                yield self.at(fact.site, message, cure, Severity.INFO)
        elif fact.operator in ("Eq", "NotEq") and _shapes(fact.left, fact.right):
            message = "whole shapes are compared, and a dimension in them varies: Python asks a tensor for its truth"
            yield self.at(fact.site, message, "compare the dimensions one by one, those that are fixed")
        elif fact.operator in ("Eq", "NotEq") and _may_vary(fact.left, fact.right):
            message = "whole shapes are compared; where a dimension in them varies, Python asks a tensor for its truth"
            cure = "compare the dimensions one by one, those that are fixed"
            yield self.at(fact.site, message, cure, Severity.WARNING)


def _shapes(left: Value, right: Value) -> bool:
    pair = (left, right)
    return _comparable(left, right) and any(_varies(each) for each in pair)


def _only_raises(fact: Operated) -> bool:
    """Return whether sizes are compared in an `assert`, or in an `if` that does nothing but raise."""
    items = [item for pair in (fact.left, fact.right) if isinstance(pair, Sequence) for item in pair.parts()]
    if not all(isinstance(value, (Dim, Const)) for item in items for value in options(item)):
        return False
    checks = (
        statement.test
        for statement in ast.walk(fact.site.module.tree)
        if isinstance(statement, ast.Assert)
        or (isinstance(statement, ast.If) and not statement.orelse and _raises(statement.body))
    )
    return any(fact.site.node is node for test in checks for node in ast.walk(test))


def _raises(body: list[ast.stmt]) -> bool:
    return all(isinstance(statement, ast.Raise) for statement in body)


def _comparable(left: Value, right: Value) -> bool:
    """Tell whether two are shapes or lists that Python compares item by item: a list and a tuple are never equal.

    Nor are two lengths: with an empty list no item is compared.
    """
    if any(isinstance(each, Sequence) and not each.items and each.rest is None for each in (left, right)):
        return False
    pair = [each.kind == "tuple" for each in (left, right) if isinstance(each, (Shape, Sequence))]
    return len(pair) == 2 and pair[0] is pair[1]


def _may_vary(left: Value, right: Value) -> bool:
    """Tell whether the shape of a tensor of the trace, of which not all sizes are known, is compared with another."""
    pair = (left, right)
    shapes = [each.tensor for each in pair if isinstance(each, Shape)]
    unknown = any(not one.guessed and not (one.closed and Extent.UNKNOWN not in one.sizes) for one in shapes)
    return unknown and _comparable(left, right)


def _varies(value: Value) -> bool:
    if isinstance(value, Shape):
        return Extent.DYNAMIC in value.tensor.sizes
    return isinstance(value, Sequence) and any(only_tensor(each) for each in (*value.items, value.rest or value))


plugin: Rule = HiddenTruth()
