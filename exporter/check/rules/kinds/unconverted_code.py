"""EX118: a tensor decides inside code that dy2static does not convert."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.values import Const, Dim, Extent, Sequence, Shape, Tensor, Value, only_tensor
from exporter.check.facts import Called, Fact, Facts, Indexed, Iterated, Operated, Site, Tested
from exporter.check.rules.base import Fault, Place, Rule, Shown

_CURE = "make it a plain function or method that forward calls by name"
_FAILS = "the export fails"
_MINUS_ONE = "it is -1, or the export fails"


class UnconvertedCode(Rule):
    """A tensor decides inside code that dy2static does not convert.

    What:
        A condition or loop on a tensor, or on a dimension that varies, stands in a generator, in a hook, in a function
        made in `__init__`, or in one marked `not_to_static`. A lambda or function that stands inside `forward` is
        converted with it. In a lambda made in `__init__`, behind `functools.partial` and `functools.reduce`, and in a
        method given to `map`, it is a note: the exporter has Paddle convert it.

    Why:
        dy2static rewrites functions that `forward` calls by name. These are run by Python as they are: a condition on a
        tensor fails, and a dimension that varies reads as -1, which is exported. The latter nothing warns of.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.gate = lambda t: t * 2.0 if t.mean() > 0 else t * 0.0  # <- here

            def forward(self, x):
                return self.gate(x * 2.0)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def gate(self, t):
                return t * 2.0 if t.mean() > 0 else t * 0.0

            def forward(self, x):
                return self.gate(x * 2.0)

    Source:
        Measured on Paddle 3.3.1; 'jit/dy2static/convert_call_func.py' says which functions are converted.
    """

    code = "EX118"
    predicts = (Fault.VALUES, Fault.FAILS, Fault.STRUCTURE)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Fact):
            if fact.site.converted and not fact.site.handed_over:
                continue
            if isinstance(fact, Tested) and fact.form not in ("chain", "filter", "match"):
                if not (isinstance(fact.value, Tensor) and fact.value.shaped):
                    yield self._told((fact.site.module, fact.site.node), fact.site, "a tensor decides here", _FAILS)
                else:
                    yield from self._call(fact)
            elif _reads_dimension(fact) or _reckons_with_one(fact):
                yield from self._call(fact)

    def _call(self, fact: Fact) -> Iterator[Diagnostic]:
        """What a dimension does in there is told where it is handed over."""
        place = fact.site.called_from or fact.site.handed_over or (fact.site.module, fact.site.node)
        yield self._told(place, fact.site, "a dimension that varies is used here", _MINUS_ONE)

    def _told(self, place: Place, site: Site, what: str, consequence: str) -> Diagnostic:
        if site.converted:
            message = f"{what}, in code that stock Paddle does not convert and exporter's own export does"
            return self.on(place, site, message, _CURE, Severity.INFO)
        return self.on(place, site, f"{what}, but this code is not converted: {consequence}", _CURE)


def _reads_dimension(fact: Fact) -> bool:
    if isinstance(fact, Iterated):
        source = fact.value
        ranges = isinstance(source, Sequence) and source.kind == "range" and any(map(only_tensor, source.items))
        return ranges or (isinstance(source, Tensor) and fact.form == "for" and source.size(0) is Extent.DYNAMIC)
    if isinstance(fact, Indexed) and isinstance(fact.container, Shape) and isinstance(fact.index, Const):
        at = fact.index.value
        return isinstance(at, int) and fact.container.tensor.size(at) is Extent.DYNAMIC
    return False


def _reckons_with_one(fact: Fact) -> bool:
    """Whether a dimension that varies is multiplied, or stands beside another -1 in a new shape: alone it may be -1."""
    if isinstance(fact, Operated):
        written = isinstance(fact.site.node, (ast.BinOp, ast.AugAssign))  # no function of the library, as operator.mul
        return written and fact.operator == "Mult" and any(map(_varies, (fact.left, fact.right)))
    if isinstance(fact, Called) and fact.name in ("Tensor.reshape", "paddle.reshape"):
        shape = next((each for each in fact.arguments if isinstance(each, Sequence)), None)
        parts = shape.items if shape is not None else fact.arguments
        varying = [*map(_varies, parts)]
        return any(varying) and sum(varying) + sum(each == Const(-1) for each in parts) > 1
    return False


def _varies(value: Value) -> bool:
    return isinstance(value, Dim) and value.dynamic


plugin: Rule = UnconvertedCode()
