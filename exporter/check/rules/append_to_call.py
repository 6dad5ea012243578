"""EX138: a list is changed that no name stands for."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.check.module import ParsedModule
from exporter.check.paper.facts import Called
from exporter.check.rules.base import Rule
from exporter.diagnostics import Diagnostic


class AppendToCall(Rule):
    """`append` or `pop` of what a call gives stands under an `if` or in a loop.

    What:
        Converted code says `found.setdefault(key, []).append(x)`, or `.pop()`, somewhere below an `if`, `for` or
        `while`, whoever decides it, and even where it never runs.

    Why:
        dy2static writes an assignment to whatever stands before `.append`, as the list may become an array of the
        program. A call is nothing that can be assigned to: the export fails with a SyntaxError.

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
        Paddle 3.3.1, 'visit_Call' of 'jit/dy2static/transformers/utils.py'; measured.
    """

    code = "EX138"

    def check(self, module: ParsedModule) -> Iterator[Diagnostic]:
        for fact in module.facts:
            if isinstance(fact, Called) and fact.name == "append to no name":
                message = "dy2static writes an assignment to what stands before this: the export fails"
                yield self.at(fact.site, message, "give the list a name first")


plugin: Rule = AppendToCall()
