"""A branch of the program that changes in place what is from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.paddle.in_place import followed, latest, with_writes
from exporter.paddle.values import is_variable


def _written(self: Layer, x: Tensor) -> Tensor:
    y = x * 2
    if x.mean() > 0:
        y.add_(x)
    return y - 1


def _written_twice(self: Layer, x: Tensor) -> Tensor:
    y = x * 2
    if x.mean() > 0:
        z = y + 1
        if x.max() > 1:
            y.add_(x)
            z = z * y
    else:
        z = y.scale_(3.0)
    return y - z


class Cond(Fix):
    """Behind a branch, stock reads what a tensor was before an operator in place that the branch has.

    dy2static gives a branch only the names that it assigns (jit/dy2static/convert_operators.py).
    """

    apis = ("paddle.static.nn.cond",)
    formats = ("pir",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_written, (("n", 4),)), Example(_written_twice, (("n", 4),)))

    def instead(
        self,
        stock: Value,
        pred: Value,
        true_fn: Value = None,
        false_fn: Value = None,
        name: Value = None,
        return_names: Value = None,
    ) -> Value:
        """The branch over copies of what it writes, which it gives, too."""
        if is_variable(pred):
            return stock(pred, true_fn, false_fn, name, return_names)

        def write(values: Sequence[Value]) -> tuple[Value, Sequence[Value]]:
            if not values:
                return stock(pred, _following(true_fn), _following(false_fn), name, return_names), ()
            names = None if return_names is None else [*return_names, *("written" for _ in values)]
            made = stock(pred, _giving(true_fn, values, names), _giving(false_fn, values, names), name, names)
            return (made[0], made[1]) if names is None else (made[: -len(values)], made[-len(values) :])

        return with_writes(write)


def _following(branch: Callable[[], Value] | None) -> Callable[[], Value] | None:
    """The branch, and what it gives is what that means by then."""
    return branch and (lambda: followed(branch, {}))


def _giving(branch: Callable[[], Value] | None, values: Sequence[Value], names: Value) -> Callable[[], Value]:
    """The branch over copies of the values, with what they mean then at the end of what it gives."""
    import paddle

    def both() -> Value:
        copies = [paddle.assign(value) for value in values]
        now = {value.id: copy for value, copy in zip(values, copies, strict=True)}
        given: Value = followed(branch, now) if branch else None
        written = [latest(value, now) for value in values]
        return [given, written] if names is None else [*given, *written]

    return both


plugin: Fix = Cond()
