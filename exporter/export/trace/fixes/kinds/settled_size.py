"""`any(size % 4 for size in x.shape)`: conditions on sizes that come out alike at every size that the spec declares."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.settled import branch_of, truth_of
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches
from exporter.paddle.values import in_program
from exporter.spec.inputs import Dim


def _multiples(self: Layer, x: Tensor) -> Tensor:
    y = x.t() * 2.0
    if any(size % 4 != 0 for size in y.shape):
        y = y + 1.0
    return y


def _only_in_one(self: Layer, x: Tensor) -> Tensor:
    mask = None
    if x.shape[0] > 1:
        mask = x * 2.0
    return x + mask


class SettledSize(Fix):
    """A program has both branches of a condition on a size, and Python cannot ask for its truth.

    Where the sizes that are declared leave one answer, Python gets it. A branch of the program goes by it only where
    the trace fails otherwise (:func:`exporter.export.trace.traced.trace`): so the file serves other sizes as well.
    """

    apis = ("paddle.Tensor.__bool__",)
    formats = ("pir",)
    seen = ("3.0.0", "3.3.1")
    examples = (
        Example(_multiples, (("h", 4),), dims={"h": Dim(min=4, typical=8, max=24, multiple_of=4)}),
        Example(_only_in_one, (("n", 4),), dims={"n": Dim(min=2, typical=2, max=5)}),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import Value as Traced
        from exporter.paddle.private import convert_operators

        stock = Traced.__bool__

        def truth(self: Value) -> bool:
            settled = truth_of(self)
            return bool(stock(self)) if settled is None else settled

        def branched(stock: Value, pred: Value, true_fn: Value, false_fn: Value, *rest: Value, **named: Value) -> Value:
            grows = bool(named.get("push_pop_names") or (rest[3] if len(rest) > 3 else None))
            settled = branch_of(pred, grows=grows) if in_program(pred) else None
            return stock(pred if settled is None else settled, true_fn, false_fn, *rest, **named)

        patches.attribute(Traced, "__bool__", method(truth))
        patches.body(convert_operators.convert_ifelse, branched)


plugin: Fix = SettledSize()
