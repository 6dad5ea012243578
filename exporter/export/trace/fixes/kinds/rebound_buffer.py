"""`if self.table.shape[0] < x.shape[0]: self.table = …`: a buffer that a branch binds anew."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _grown(self: Layer, x: Tensor) -> Tensor:
    import paddle

    if self.table.shape[0] < x.shape[0]:
        self.table = paddle.arange(x.shape[0], dtype="float32").unsqueeze(1)
    return x + self.table[: x.shape[0]]


def _always(self: Layer, x: Tensor) -> Tensor:
    self.table = self.linear(x)
    return x - self.table


def _table() -> Value:
    import paddle

    return paddle.arange(2, dtype="float32").unsqueeze(1)


def _linear() -> Value:
    import paddle

    return paddle.nn.Linear(4, 4)


class ReboundBuffer(Fix):
    """Stock takes a buffer that it puts back before each branch for a parameter, which nothing else may replace.

    Without a branch it writes into the buffer, which then keeps the sizes that it had (`Layer.__setattr__`).
    While a layer is traced, a buffer is what was last assigned to it; afterwards the layer has its own again.
    """

    apis = ("paddle.nn.Layer.__setattr__",)
    formats = ("pir",)
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_grown, (("n", 4),), {"table": _table}),
        Example(_always, (("n", 4),), {"table": _table, "linear": _linear}),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        from exporter.paddle.private import ConcreteProgram
        from exporter.paddle.private import Value as Traced

        bound = Patches()

        def assign(stock: Value, layer: Layer, name: str, value: Value) -> None:
            buffers = vars(layer).get("_buffers") or {}
            if isinstance(value, Traced) and name in buffers:
                bound.item(buffers, name, value)
            else:
                stock(layer, name, value)

        def trace(stock: Value, *args: Value, **kwargs: Value) -> Value:
            try:
                return stock(*args, **kwargs)
            finally:
                bound.undo()

        patches.body(paddle.nn.Layer.__setattr__, assign)
        patches.body(ConcreteProgram.pir_from_func_spec, trace)


plugin: Fix = ReboundBuffer()
