"""`max(x.shape[0], 8)`: the largest or smallest of sizes, some of which vary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.export.trace.fixes.sizes import is_of_sizes
from exporter.paddle.patches import Patches
from exporter.paddle.values import in_program


def _kept(self: Layer, x: Tensor) -> Tensor:
    return x[max(x.shape[0] - 2, 0) :] * 2.0, x[: min(x.shape[0], 1)] + 1.0


def _broadcast(self: Layer, x: Tensor) -> Tensor:
    y = x[:1]
    sizes = [max(pair) for pair in zip(x.shape, y.shape, strict=True)]
    return y.broadcast_to(sizes) * 2.0


class MaxMin(Fix):
    """Python compares sizes that the program computes, and asks the comparison for its truth.

    In code that dy2static converts, the largest of such sizes and of whole numbers is one that the program computes.
    """

    apis = ("max", "min")
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_kept, (("n", 4),)), Example(_broadcast, (("n", 4),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import CallTransformer, convert_call_func

        def stays(stock: Any, self: Any, node: Any) -> Any:
            return getattr(node.func, "id", "") not in ("max", "min") and stock(self, node)

        def call(stock: Any, function: Any) -> Any:
            if function is max or function is min:
                return lambda *values, **named: _chosen(function, *values, **named)
            return stock(function)

        patches.body(CallTransformer._no_need_convert_call, stays)
        patches.body(convert_call_func.convert_call, call)


def _chosen(function: Callable[..., Any], *values: Any, **named: Any) -> Any:
    import paddle

    several = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
    computed = [value for value in several if in_program(value)]
    if named or not computed or not all(in_program(value) or type(value) is int for value in several):
        return function(*values, **named)
    if not all(map(is_of_sizes, computed)):
        return function(*values)
    either = paddle.maximum if function is max else paddle.minimum
    chosen, *others = (_as_size(value, computed[0]) for value in several)
    for other in others:
        chosen = either(chosen, other)
    return chosen


def _as_size(value: Any, like: Any) -> Any:
    import paddle

    return value.astype(like.dtype) if in_program(value) else paddle.full(list(like.shape), value, like.dtype)


plugin: Fix = MaxMin()
