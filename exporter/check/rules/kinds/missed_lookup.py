"""EX143: a table is asked for a tensor or a dimension that varies, and goes on without it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const, Container, Extent, Mapping, Sequence, Shape, Value, only_tensor
from exporter.check.facts import Called, Fact, Facts, Indexed, Operated
from exporter.check.rules.base import Fault, Rule, Shown

_METHODS = frozenset({"dict.get", "dict.pop", "dict.setdefault"})


class MissedLookup(Rule):
    """A table is asked for a tensor or a dimension that varies, and goes on without it.

    What:
        `get`, `pop` or `setdefault` of a dict, an index of a `defaultdict`, `in` of a dict or set, or an index behind
        `try` or `suppress`, with a tensor or a dimension that varies. Tables that the code fills are not meant.

    Why:
        A dict or set finds what has the hash of a number, and while the model is traced there is no number: nothing is
        found. The default is exported for every size, and nothing warns: also the sizes for which the table has an
        entry get it, though a comparison at other sizes agrees.

    Example:
        import paddle

        SCALES = {48: 3.0, 37: 0.1}

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * SCALES.get(x.shape[0], 1.0)  # <- here

    Use instead:
        import paddle

        SCALES = {48: 3.0, 37: 0.1}

        class Net(paddle.nn.Layer):
            def forward(self, x):
                n, scale = paddle.shape(x)[0], paddle.ones([])
                for size, value in SCALES.items():
                    scale = paddle.where(n == size, paddle.full([], value), scale)
                return x * scale

    Source:
        Measured on Paddle 3.3.1: `hash(x.shape[0])` is that of a 'paddle.base.libpaddle.pir.Value'.
    """

    code = "EX143"
    predicts = (Fault.VALUES, Fault.STRUCTURE)
    shown = Shown.SOME_RUNS

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        cure = "compare with each key, `paddle.where(n == key, value, other)`, or give one spec per size"
        for fact in facts.in_forward(Fact):
            if isinstance(fact, Called) and fact.name in _METHODS and fact.owner is not None:
                table, key = fact.owner, next(iter(fact.arguments), None)
                what = f"`{fact.name[5:]}` of a dict is given a tensor: the program always takes the default"
            elif isinstance(fact, Indexed):
                table, key = fact.container, fact.index
                if not fact.forgiven and not (isinstance(table, Mapping) and table.factory):
                    continue
                what = "a table is indexed by a tensor: the program always has what follows where it finds nothing"
            elif isinstance(fact, Operated) and fact.operator in ("In", "NotIn") and _is_hashed(fact):
                table, key = fact.right, fact.left
                what = "`in` of a dict or set asks for a tensor: the program has the answer that it is not there"
            else:
                continue
            if key is not None and isinstance(table, Container) and _may_hold(table, key):
                yield self.at(fact.site, what, cure, None if _is_whole(table, fact) else Severity.WARNING)


def _is_hashed(fact: Operated) -> bool:
    """Whether `in` looks for a hash, as dicts, their keys and sets do; a list compares, and EX117 tells of it."""
    node = fact.site.node
    right = node.comparators[0] if isinstance(node, ast.Compare) else node
    keys = isinstance(right, ast.Call) and isinstance(right.func, ast.Attribute) and right.func.attr == "keys"
    return keys or isinstance(fact.right, Mapping) or (isinstance(fact.right, Sequence) and fact.right.kind == "set")


def _may_hold(table: Container, key: Value) -> bool:
    """Whether an eager call may find in a table what a trace cannot: a number, or a tuple with one."""
    shape = isinstance(key, Shape) and key.kind == "tuple" and Extent.DYNAMIC in key.tensor.sizes
    pair = shape or (isinstance(key, Sequence) and key.kind == "tuple" and any(map(only_tensor, key.items)))
    if (not pair and not only_tensor(key)) or (table.home and not table.fixed):  # a call before may have put it there
        return False
    keys = [Const(each) for each in table.items] if isinstance(table, Mapping) else list(table.known)
    if any(map(only_tensor, keys)) or (table.rest is not None and only_tensor(table.rest)):
        return False
    numbers = any(isinstance(each, Const) and isinstance(each.value, (int, float)) for each in keys)
    return table.rest is not None or (any(isinstance(each, Sequence) for each in keys) if pair else numbers)


def _is_whole(table: Container, fact: Fact) -> bool:
    """Whether all that is in a table is known to be no tensor: not where code of this call may have filled it."""
    parts = [each for each in ast.walk(fact.site.node) if isinstance(each, (ast.Dict, ast.DictComp, ast.SetComp))]
    return bool(table.home) or table.rest is None or bool(parts)


plugin: Rule = MissedLookup()
