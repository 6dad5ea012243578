"""`def forward(self, x, cache=paddle.zeros([0, 0, 0, 0]))`: a tensor without elements that is no part of the layer."""

from __future__ import annotations

from collections.abc import Callable

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _default(self: Layer, x: Tensor) -> Tensor:
    import paddle

    cache = self.held[0]
    if cache.shape[0] > 0:
        x = paddle.concat([cache, x])
    return x * 2.0, cache


def _joined(self: Layer, x: Tensor) -> Tensor:
    import paddle

    rows = self.held[0]
    return paddle.concat([rows, x]) * 2.0


def _none(*sizes: int) -> Callable[[], list[Tensor]]:
    def make() -> list[Tensor]:
        import paddle

        return [paddle.zeros(sizes)]

    return make


class EmptyTensor(Fix):
    """A tensor that the layer does not hold becomes one that is stored, and `jit.save` looks for it in vain (KeyError).

    Most such tensors have values that the layer should hold, and tracing says so. One without elements has none: it is
    made in the program, where it is read.
    """

    apis = ("paddle.jit.save",)
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_default, (("n", 4),), {"held": _none(0, 0)}),
        Example(_joined, (("n", 4),), {"held": _none(0, 4)}),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        from exporter.paddle.private import EagerParamBase, convert_into_variable

        def converted(stock: Value, tensor: Value) -> Value:
            empty = isinstance(tensor, paddle.Tensor) and 0 in tensor.shape and not isinstance(tensor, EagerParamBase)
            if empty and not tensor.persistable:
                return paddle.zeros(tensor.shape, tensor.dtype)
            return stock(tensor)

        patches.body(convert_into_variable, converted)


plugin: Fix = EmptyTensor()
