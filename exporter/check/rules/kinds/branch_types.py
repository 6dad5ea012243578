"""EX120: a tensor branch or loop leaves a name in a state that no program can hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Clashed, Facts
from exporter.check.rules.base import Fault, Place, Rule
from exporter.check.source.project import ParsedModule
from exporter.check.source.syntax import inside, of_kind

_REASONS = {
    "undefined": "is bound on one side only of a branch that a tensor decides, and read afterwards",
    "none": "is None on one side of a branch or loop that a tensor decides, and a tensor on the other",
    "number": "is an int on one side of a branch that a tensor decides, and a float on the other",
    "python": "is another Python value on each side of a branch that a tensor decides",
    "dict": "gets a key on one side only of a branch that a tensor decides",
    "rank": "has another number of dimensions on each side of a branch that a tensor decides",
    "dtype": "has another dtype on each side of a branch that a tensor decides",
    "length": "is a list of another length on each side of a branch that a tensor decides",
    "attribute": "is an attribute of a layer that a loop of the program carries from turn to turn",
    "born": "is an attribute that does not exist before a branch that a tensor decides sets it",
    "structure": "has another number of parts on each side of a branch that a tensor decides",
    "global": "is declared global and set under a condition that a tensor decides",
}
_CURES = {
    "undefined": "give it a value of the same type before the `if`",
    "none": "start it as a tensor, e.g. paddle.zeros_like(...)",
    "number": "write both as float, or as tensors",
    "python": "make it a number or a tensor",
    "dict": "give the key a tensor before the `if`",
    "rank": "give it the same dimensions on both sides: unsqueeze or sum(keepdim=True)",
    "dtype": "cast it to one dtype on both sides: y.astype(...)",
    "length": "make the lists of one length, or choose with paddle.where",
    "attribute": "use a local name in the loop, and set the attribute behind it",
    "born": "set it to a tensor before the `if`",
    "structure": "return the same number of tensors on both sides",
    "global": "return the value instead",
}


class BranchTypes(Rule):
    """A tensor branch or loop gives a name two types.

    What:
        Under a condition or in a loop that a tensor decides, a name is bound on one side only, is None on one side
        and a tensor on the other, is an int and a float, is text, a layer or a function, is a list of two lengths, a
        tensor of two dtypes or ranks, or an attribute that does not exist before, or the two sides return different
        structures. Or such a loop reads and writes an attribute of a layer.

    Why:
        Both sides become parts of one program, and each name one value of one type in it. The export fails, and with
        None in front of a loop it may crash.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                bonus = None
                if y.mean() > 0:
                    bonus = y + 1.0  # <- here
                return y if bonus is None else y + bonus  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                bonus = paddle.zeros_like(y)
                if y.mean() > 0:
                    bonus = y + 1.0
                return y + bonus

    Source:
        Measured on Paddle 3.3.1 ('jit/dy2static/convert_operators.py').
    """

    code = "EX120"
    predicts = (Fault.FAILS, Fault.ENDS)

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        used = set[int]()
        for fact in facts.in_forward(Clashed):
            broken = fact.broken
            if broken.reason == "dict" and _made_of_itself(broken.module, broken.node):
                continue
            name = "the result" if broken.name == "the result" else f"`{broken.name}`"
            message, cure = f"{name} {_REASONS[broken.reason]}", _CURES[broken.reason]
            start, end = (broken.module, broken.node), (fact.site.module, fact.site.node)
            if fact.form == "while":  # Paddle blames the first value of what a while loop carries ...
                yield self.on(start, fact.site, message, cure)
                yield self.on(end, fact.site, f"{name} becomes a tensor here", cure, Severity.WARNING)
            elif fact.form == "for":  # ... and the second of what a for loop does
                yield self.on(end, fact.site, message, cure)
                yield self.on(start, fact.site, f"{name} starts as None here", cure, Severity.WARNING)
            else:
                yield self.on(start, fact.site, message, cure)
                if broken.other is not None:
                    told = f"{name} is given another value here"
                    yield self.on((broken.module, broken.other), fact.site, told, cure, Severity.WARNING)
                if broken.reason == "none" and id(broken) not in used and not _same_line(start, end):
                    used.add(id(broken))  # where Paddle ends the export
                    yield self.on(end, fact.site, f"{name} is used here, and may be None", cure, Severity.WARNING)


def _made_of_itself(module: ParsedModule, item: ast.AST) -> bool:
    """Return whether an item is made from what it was: `kept["rows"] = kept["rows"][:n]` fails where there is none."""
    text = ast.unparse(item) if isinstance(item, ast.Subscript) else ""
    values = (assign.value for assign in of_kind(module.tree, ast.Assign) if item in assign.targets)
    items = (part for value in values for part in (value, *inside(value)) if isinstance(part, ast.Subscript))
    return any(ast.unparse(part) == text for part in items)


def _same_line(one: Place, other: Place) -> bool:
    return one[0] is other[0] and getattr(one[1], "lineno", 0) == getattr(other[1], "lineno", 0)


plugin: Rule = BranchTypes()
