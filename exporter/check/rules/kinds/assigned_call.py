"""EX138: dy2static would have to assign to a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.facts import Called, Facts
from exporter.check.rules.base import Fault, Rule


class AssignedCall(Rule):
    """dy2static makes an assignment to a call of this, which is no Python.

    What:
        Converted code says `found.setdefault(key, []).append(x)`, or `.pop()` of what a call gives, somewhere below an
        `if`, `for` or `while`; or it assigns to an attribute called `shape`. It does not matter whether it ever runs.

    Why:
        dy2static writes an assignment to whatever stands before `.append`, as the list may become an array of the
        program; and it reads each `.shape` as a call. A call cannot be assigned to: the export fails with a
        SyntaxError.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                found = {}
                for scale in (2.0, 3.0):
                    found.setdefault("scaled", []).append(x * scale)  # <- here
                return found["scaled"]

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                found = {}
                for scale in (2.0, 3.0):
                    scaled = found.setdefault("scaled", [])
                    scaled.append(x * scale)
                return found["scaled"]

    Source:
        Paddle 3.3.1, 'visit_Call' of 'jit/dy2static/transformers/utils.py' and 'tensor_shape_transformer.py'; measured.
    """

    code = "EX138"
    predicts = (Fault.FAILS,)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Called):
            if fact.name != "assigned call":
                continue
            if isinstance(fact.site.node, ast.Attribute):
                message = "dy2static reads `.shape` as a call, which cannot be assigned to: the export fails"
                yield self.at(fact.site, message, "give the attribute another name")
            else:
                message = "dy2static writes an assignment to what stands before this: the export fails"
                yield self.at(fact.site, message, "give the list a name first")


plugin: Rule = AssignedCall()
