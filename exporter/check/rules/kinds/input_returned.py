"""EX105: an input is returned untouched."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic
from exporter.check.domain.values import Const, Tensor, Value
from exporter.check.facts import Facts, Returned
from exporter.check.rules.base import Fault, Rule
from exporter.check.rules.kinds.output_repeated import doubt, leaves


class InputReturned(Rule):
    """An input is returned untouched.

    What:
        `forward` of the exported layer returns one of its inputs as it is, `nn.Identity` and a cast to the dtype that
        it has counted as nothing; or an input plus a number, or times 1.

    Why:
        In stock Paddle's program it is an input and an output under one name; the predictor refuses to load or run it.
        It takes an operator that scales by 1, as `x + 1.0` becomes one, for no operator at all. Both are notes, since
        the exporter's own export puts a copy behind it.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * 2.0, x  # <- here

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                return x * 2.0, x.clone()

    Source:
        Measured on Paddle 3.3.1 with 'paddle.inference' (feed and fetch of one name).
    """

    code = "EX105"
    predicts = (Fault.UNUSABLE,)
    mended = True

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        returned = facts.of(Returned)
        for fact in returned:
            alone = sum(each.site.root is fact.site.root for each in returned) == 1  # else a branch gives it
            if fact.site.branches:
                continue  # what a branch gives is a tensor of its own
            for name in sorted({e.name for e in leaves(fact.value) if isinstance(e, Tensor) and e.origin == "input"}):
                message = f"the input `{name}` is returned untouched; the predictor cannot run such a program"
                yield self.at(
                    fact.site, message, f"leave it out (the caller has it), or return `{name}.clone()`", doubt(fact)
                )
            for name in sorted(set(map(_moved, leaves(fact.value))) - {""}) if alone else ():
                message = f"the input `{name}` plus a number is returned: the predictor takes the output for the input"
                cure = f"leave it to the caller, or copy first: `{name}.clone()`"
                yield self.at(fact.site, message, cure)


def _moved(value: Value) -> str:
    """The input of which a tensor is a copy in all but a number added: `x + 1.0`, `x * 1.0`.

    It becomes an operator 'scale' by 1, whose output the predictor takes for the input (measured on Paddle 3.3.1).
    """
    if not isinstance(value, Tensor) or len(value.value_number) != 3:
        return ""
    kind, left, right = value.value_number
    if isinstance(left, Const) and kind in ("Add", "Mult"):
        left, right = right, left
    if not isinstance(left, Tensor) or left.origin != "input" or not isinstance(right, Const):
        return ""
    number = isinstance(right.value, (int, float)) and not isinstance(right.value, bool)
    return left.name if number and (kind in ("Add", "Sub") or (kind in ("Mult", "Div") and right.value == 1)) else ""


plugin: Rule = InputReturned()
