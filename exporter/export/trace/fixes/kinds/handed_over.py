"""`functools.partial(f, …)`, `map(f, …)` and `functools.reduce(f, …)`: a function that something else calls."""

from __future__ import annotations

import functools

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _turned(x: Tensor, limit: float = 1.0) -> Tensor:
    if x.sum() > limit:
        return x * 2.0
    return x - limit


def _flattened(x: Tensor) -> Tensor:
    return x.reshape([x.shape[0] * x.shape[1]])


def _product(left: Tensor, right: Tensor) -> Tensor:
    return left * right if left.sum() > 0 else left - right


def _partial(self: Layer, x: Tensor) -> Tensor:
    return self.turn(x) + self.turn(x, limit=-1.0)


def _within(self: Layer, x: Tensor) -> Tensor:
    turn = functools.partial(functools.partial(_turned), limit=3.0)
    return turn(x)


def _mapped(self: Layer, x: Tensor) -> Tensor:
    first, second = map(_flattened, (x, x * 2.0))
    return first + second


def _reduced(self: Layer, x: Tensor) -> Tensor:
    return functools.reduce(_product, [x, x + 1.0, x - 2.0])


class HandedOver(Fix):
    """dy2static converts what a function calls by name, and `partial`, `map` and `reduce` are not Python code.

    A condition on a tensor fails there, and a dim that varies is -1 (jit/dy2static/convert_call_func.py).
    """

    apis = ("functools.partial", "map", "functools.reduce")
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_partial, (("n", 4),), {"turn": lambda: functools.partial(_turned, limit=2.0)}),
        Example(_within, (("n", 4),)),
        Example(_mapped, (("n", "h"),)),
        Example(_reduced, (("n", 4),)),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import CallTransformer, convert_call_func

        def stays(stock: Value, self: Value, node: Value) -> Value:
            return getattr(node.func, "id", "") != "map" and stock(self, node)

        def call(stock: Value, function: Value) -> Value:
            if type(function) is functools.partial:
                converted = convert_call_func.convert_call(function.func)
                return functools.partial(converted, *function.args, **function.keywords)
            if function is map or function is functools.reduce:
                return functools.partial(_with_converted, function)
            return stock(function)

        patches.body(CallTransformer._no_need_convert_call, stays)
        patches.body(convert_call_func.convert_call, call)


def _with_converted(caller: Value, function: Value, *rest: Value) -> Value:
    from exporter.paddle.private import convert_call_func

    return caller(convert_call_func.convert_call(function), *rest)


plugin: Fix = HandedOver()
