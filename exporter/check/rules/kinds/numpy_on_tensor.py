"""EX113: NumPy is given a traced tensor."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.domain.contents import holds
from exporter.check.domain.values import Array, Dim, Extent, Sequence, Shape, Tensor, Value, only_tensor
from exporter.check.facts import Called, Facts, Operated
from exporter.check.models.numpy import handed_on
from exporter.check.rules.base import Fault, Rule, Shown

_MISSING = ("Tensor.copy", "Tensor.ravel", "Tensor.tobytes")


class NumpyOnTensor(Rule):
    """NumPy is given a tensor of the trace.

    What:
        `forward` passes a tensor, or a dimension that varies, to a NumPy function, or computes with a tensor and a
        NumPy array.

    Why:
        NumPy cannot read a value that does not exist yet: it makes a constant of it, fails, or walks into it for ever
        until the process crashes. NumPy's single numbers are harmless, and so is `x.numpy()` alone.

    Example:
        import numpy as np
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                order = np.argsort(y.sum(axis=0).numpy())  # <- here
                return y, paddle.to_tensor(order)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def forward(self, x):
                y = x * 2.0
                return y, paddle.argsort(y.sum(axis=0))

    Source:
        Measured on Paddle 3.3.1: 'x * np.array(...)' ends in SIGSEGV, 'np.argsort(x.numpy())' becomes a constant.
    """

    code = "EX113"
    predicts = (Fault.VALUES, Fault.FAILS, Fault.ENDS)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.in_forward(Called):
            if fact.site.quiet:
                continue
            if fact.name.startswith("numpy."):
                given = (*fact.arguments, *fact.keywords.values())
                if fact.name == "numpy.prod" and not any(isinstance(each, Tensor) for each in given):
                    continue  # it only multiplies, and gives a dimension back
                if any(holds(each, _traced) for each in given):
                    message = f"`{fact.name}` is given a value of the trace, which NumPy cannot read"
                    cure = f"use paddle's own operator in place of `{fact.name}`"
                    mild = handed_on(fact.name) or _of_dimensions(fact)
                    yield self.at(fact.site, message, cure, Severity.WARNING if mild else None)
            elif fact.name in _MISSING:
                message = "`.numpy()` gives a tensor while the model is traced, and that has no such method"
                yield self.at(fact.site, message, "leave out `.numpy()` and use the tensor's own methods")
        for operated in facts.in_forward(Operated):
            pair = (operated.left, operated.right)
            if operated.site.quiet or operated.operator in ("Is", "IsNot", "In", "NotIn"):
                continue
            if any(isinstance(each, Tensor) for each in pair) and any(_array(each) for each in pair):
                message = "a tensor of the trace meets a NumPy array: the export crashes or fails"
                cure = "make the array a buffer in __init__: self.register_buffer(name, paddle.to_tensor(array))"
                yield self.at(operated.site, message, cure)


def _of_dimensions(fact: Called) -> bool:
    """Whether an array is made of dimensions: one of objects, which can be computed with and taken apart again."""
    given = fact.arguments[0] if fact.arguments else None
    listed = isinstance(given, (Shape, Sequence)) and not holds(given, lambda one: isinstance(one, Tensor))
    return listed and fact.name in ("numpy.array", "numpy.asarray")


def _traced(value: Value) -> bool:
    if isinstance(value, Shape):
        return Extent.DYNAMIC in value.tensor.sizes
    return only_tensor(value) or isinstance(value, Tensor) or (isinstance(value, Dim) and value.dynamic)


def _array(value: Value) -> bool:
    return isinstance(value, Array) and not value.scalar


plugin: Rule = NumpyOnTensor()
