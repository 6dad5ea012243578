"""`isinstance(x, paddle.Tensor)` of a tensor of the program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.sizes import is_of_sizes
from exporter.paddle.patches import Patches
from exporter.paddle.values import in_program


def _mask(self: Layer, x: Tensor) -> Tensor:
    import paddle

    length = x.shape[-1] if isinstance(x, paddle.Tensor) else 0
    return x + paddle.arange(length, dtype="float32")


def _several(self: Layer, x: Tensor) -> Tensor:
    import paddle

    y = x * 2.0
    return y if isinstance(y, (float, paddle.Tensor)) else y + 1.0


def _size(self: Layer, x: Tensor) -> Tensor:
    import paddle

    y = x.sum(axis=0)
    rows = x.shape[0]
    return y * (2.0 if isinstance(rows, paddle.Tensor) else 1.0) + (1.0 if isinstance(y, paddle.Tensor) else 0.0)


def _filled(self: Layer, x: Tensor) -> Tensor:
    import paddle

    mask, row = paddle.ones(x.shape[:1]), paddle.ones([1])
    x = x + 1.0 if isinstance(row, paddle.Tensor) else x
    return x * 2.0 if isinstance(mask.astype("int64"), paddle.Tensor) else x


class IsInstance(Fix):
    """While a layer is traced its tensors are Values, which are no `paddle.Tensor`: the other branch is written.

    Code that dy2static converts is answered as eagerly: True of tensors, False of sizes, which are numbers there.
    """

    apis = ("isinstance",)
    seen = ("3.0.0", "3.3.1")
    examples = tuple(Example(forward, (("n", 4),)) for forward in (_mask, _several, _size, _filled))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import CallTransformer, convert_call_func

        def stays(stock: Value, self: Value, node: Value) -> Value:
            return getattr(node.func, "id", "") != "isinstance" and stock(self, node)

        def call(stock: Value, function: Value) -> Value:
            return _asked if function is isinstance else stock(function)

        patches.body(CallTransformer._no_need_convert_call, stays)
        patches.body(convert_call_func.convert_call, call)


def _asked(value: Value, kinds: Value) -> bool:
    import paddle

    if isinstance(value, kinds):
        return True
    several = kinds if isinstance(kinds, tuple) else getattr(kinds, "__args__", (kinds,))
    return paddle.Tensor in several and in_program(value) and not is_of_sizes(value)


plugin: Fix = IsInstance()
