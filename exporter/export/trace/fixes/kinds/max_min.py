"""`max(x.shape[0], 8)`: the largest or smallest of whole numbers, some of which the program computes."""

from __future__ import annotations

from collections.abc import Callable

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches
from exporter.paddle.values import in_program


def _kept(self: Layer, x: Tensor) -> Tensor:
    return x[max(x.shape[0] - 2, 0) :] * 2.0, x[: min(x.shape[0], 1)] + 1.0


def _broadcast(self: Layer, x: Tensor) -> Tensor:
    y = x[:1]
    sizes = [max(pair) for pair in zip(x.shape, y.shape, strict=True)]
    return y.broadcast_to(sizes) * 2.0


def _in_a_loop(self: Layer, x: Tensor) -> Tensor:
    y = x * 2.0
    for row in range(x.shape[0]):
        y = y + x[: min(row + 1, 2)].sum()
    return y


class MaxMin(Fix):
    """Python compares numbers that the program computes, and asks the comparison for its truth.

    In code that dy2static converts, the largest of whole numbers is computed where one of them is: a size, or what a
    loop counts.
    """

    apis = ("max", "min")
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_kept, (("n", 4),)), Example(_broadcast, (("n", 4),)), Example(_in_a_loop, (("n", 4),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import CallTransformer, convert_call_func

        def stays(stock: Value, self: Value, node: Value) -> Value:
            return getattr(node.func, "id", "") not in ("max", "min") and stock(self, node)

        def call(stock: Value, function: Value) -> Value:
            if function is max or function is min:
                return lambda *values, **named: _chosen(function, *values, **named)
            return stock(function)

        patches.body(CallTransformer._no_need_convert_call, stays)
        patches.body(convert_call_func.convert_call, call)


def _chosen(function: Callable[..., Value], *values: Value, **named: Value) -> Value:
    import paddle

    several = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
    computed = [value for value in several if in_program(value)]
    if named or not computed or not all(in_program(value) or type(value) is int for value in several):
        return function(*values, **named)
    if not all(list(value.shape) in ([], [1]) and "int" in str(value.dtype).lower() for value in computed):
        return function(*values)
    either = paddle.maximum if function is max else paddle.minimum
    chosen, *others = (_as_number(value, computed[0]) for value in several)
    for other in others:
        chosen = either(chosen, other)
    return chosen


def _as_number(value: Value, like: Value) -> Value:
    import paddle

    return value.astype(like.dtype) if in_program(value) else paddle.full(list(like.shape), value, like.dtype)


plugin: Fix = MaxMin()
